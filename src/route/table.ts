/** Which paths does v1 have below each domain, and with which methods? */
import type { Routed } from "../model/match.ts";
import type { NativeDomain, Operation, Resource } from "../model/resource.ts";
import { bySpecificity, parseTemplate, respelled, shapeOf, type Template } from "./template.ts";

type TranslatedOperation = Exclude<Operation, { kind: "native" }>;
/** Operations whose path is written in the catalogue. */
type OwnPathOperation = Extract<Operation, { path: string }>;
/** What serves one method of one path. */
export type Served =
  | { readonly kind: "translated"; readonly resource: Resource; readonly operation: TranslatedOperation }
  | Extract<Routed, { kind: "native" }>;

/** One form of path, and what its methods do. */
export interface Route {
  readonly template: Template;
  readonly methods: Map<string, Served>;
}

/** All forms that begin with one segment, most specific first; `tail` is `{collection}/{**}`, where there is one. */
export interface Collection {
  readonly routes: readonly Route[];
  readonly tail: Route | undefined;
}

/** Collections by first segment, case sensitive. */
export type DomainTable = ReadonlyMap<string, Collection>;

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

interface Entry {
  readonly domain: string;
  readonly method: string;
  readonly template: Template;
  readonly served: Served;
}

function pathOf(resource: Resource, operation: Operation): Pick<OwnPathOperation, "method" | "path"> {
  if ("path" in operation) return operation;
  const path = operation.kind === "list" ? resource.v1 : `${resource.v1}/{uid=**}`;
  return { method: METHODS[operation.kind], path };
}

function* entriesOf(resource: Resource): Generator<Entry> {
  const spellings = new Set([resource.v1, resource.v2]);
  for (const operation of resource.operations) {
    const { method, path } = pathOf(resource, operation);
    const template = parseTemplate(path);
    const served: Served =
      operation.kind === "native"
        ? { kind: "native", resource: resource.name, operation: operation.name }
        : { kind: "translated", resource, operation };
    const own = template.collection === resource.v1;
    for (const spelling of own ? spellings : [template.collection]) {
      yield { domain: resource.domain, method, template: respelled(template, spelling), served };
    }
  }
}

function* nativeEntries({ domain, operations }: NativeDomain): Generator<Entry> {
  for (const { resource, name, method, path } of operations) {
    yield { domain, method, template: parseTemplate(path), served: { kind: "native", resource, operation: name } };
  }
}

/** A map of maps: the inner one of `key`, made when it is not there. */
function inner<K, V>(outer: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const found = outer.get(key) ?? new Map<K, V>();
  outer.set(key, found);
  return found;
}

/**
 * `**` also stands for no segment at all, so what `{collection}/{**}` serves is served on the bare collection too
 * unless the collection has an operation of its own there: `POST groups` creates a root group.
 */
function lendToBare(collection: string, shapes: Map<string, Route>): void {
  const tail = shapes.get(`${collection}/**`);
  const bare = shapes.get(collection);
  if (tail === undefined || bare === undefined) return;
  for (const [method, served] of tail.methods) {
    if (!bare.methods.has(method)) bare.methods.set(method, served);
  }
}

function collectionOf(name: string, shapes: Map<string, Route>): Collection {
  lendToBare(name, shapes);
  const routes = [...shapes.values()].sort((a, b) => bySpecificity(a.template, b.template));
  return { routes, tail: shapes.get(`${name}/**`) };
}

/**
 * Every path of v1, by domain and first segment. Throws `Error` when a template is malformed or two operations claim
 * one method of one path: mistakes in the catalogue, found when the process starts.
 */
export function buildTable(
  resources: readonly Resource[],
  natives: readonly NativeDomain[],
): ReadonlyMap<string, DomainTable> {
  const domains = new Map<string, Map<string, Map<string, Route>>>();
  for (const { domain, method, template, served } of [
    ...resources.flatMap((resource) => [...entriesOf(resource)]),
    ...natives.flatMap((native) => [...nativeEntries(native)]),
  ]) {
    const shapes = inner(inner(domains, domain), template.collection);
    const shape = shapeOf(template);
    const route = shapes.get(shape) ?? { template, methods: new Map<string, Served>() };
    shapes.set(shape, route);
    if (route.methods.has(method)) throw new Error(`two operations for ${method} /${domain}/v1/${shape}`);
    route.methods.set(method, served);
  }
  return new Map(
    [...domains].map(([domain, collections]) => [
      domain,
      new Map([...collections].map(([name, shapes]) => [name, collectionOf(name, shapes)])),
    ]),
  );
}
