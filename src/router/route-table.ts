/** Which paths does v1 have below each domain, and with which methods? */
import type { RouteResult } from "../model/request.ts";
import type { NativeDomain, Operation, Resource } from "../model/resource.ts";

type TranslatedOperation = Exclude<Operation, { kind: "native" }>;
/** Operations whose path is written in the catalogue. */
type OwnPathOperation = Extract<Operation, { path: string }>;
/** What serves one method of one path. */
export type RouteTarget =
  | { readonly kind: "translated"; readonly resource: Resource; readonly operation: TranslatedOperation }
  | Extract<RouteResult, { kind: "native" }>;

/** One form of path, and what its methods do. */
export interface Route {
  readonly template: PathTemplate;
  readonly methods: Map<string, RouteTarget>;
}

/** All forms that begin with one segment, most specific first; `tail` is `{collection}/{**}`, where there is one. */
export interface Collection {
  readonly routes: readonly Route[];
  readonly tail: Route | undefined;
}

/** Collections by first segment, case sensitive. */
export type DomainTable = ReadonlyMap<string, Collection>;

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

interface RouteEntry {
  readonly domain: string;
  readonly method: string;
  readonly template: PathTemplate;
  readonly served: RouteTarget;
}

function pathOf(resource: Resource, operation: Operation): Pick<OwnPathOperation, "method" | "path"> {
  if ("path" in operation) return operation;
  const path = operation.kind === "list" ? resource.v1 : `${resource.v1}/{uid=**}`;
  return { method: METHODS[operation.kind], path };
}

function* entriesOf(resource: Resource): Generator<RouteEntry> {
  const spellings = new Set([resource.v1, resource.v2]);
  for (const operation of resource.operations) {
    const { method, path } = pathOf(resource, operation);
    const template = parseTemplate(path);
    const served: RouteTarget =
      operation.kind === "native"
        ? { kind: "native", resource: resource.name, operation: operation.name }
        : { kind: "translated", resource, operation };
    const own = template.collection === resource.v1;
    for (const spelling of own ? spellings : [template.collection]) {
      yield { domain: resource.domain, method, template: respelled(template, spelling), served };
    }
  }
}

function* nativeEntries({ domain, operations }: NativeDomain): Generator<RouteEntry> {
  for (const { resource, name, method, path } of operations) {
    yield { domain, method, template: parseTemplate(path), served: { kind: "native", resource, operation: name } };
  }
}

/** A map of maps: the inner one of `key`, made when it is not there. */
function innerMap<K, V>(outer: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const found = outer.get(key) ?? new Map<K, V>();
  outer.set(key, found);
  return found;
}

/**
 * `**` also stands for no segment at all, so what `{collection}/{**}` serves is served on the bare collection too
 * unless the collection has an operation of its own there: `POST groups` creates a root group.
 */
function addTailMethods(collection: string, shapes: Map<string, Route>): void {
  const tail = shapes.get(`${collection}/**`);
  const bare = shapes.get(collection);
  if (tail === undefined || bare === undefined) return;
  for (const [method, served] of tail.methods) {
    if (!bare.methods.has(method)) bare.methods.set(method, served);
  }
}

function collectionOf(name: string, shapes: Map<string, Route>): Collection {
  addTailMethods(name, shapes);
  const routes = [...shapes.values()].sort((a, b) => bySpecificity(a.template, b.template));
  return { routes, tail: shapes.get(`${name}/**`) };
}

/**
 * Every path of v1, by domain and first segment. Throws `Error` when a template is malformed or two operations claim
 * one method of one path: mistakes in the catalogue, found when the process starts.
 */
export function buildRouteTable(
  resources: readonly Resource[],
  natives: readonly NativeDomain[],
): ReadonlyMap<string, DomainTable> {
  const domains = new Map<string, Map<string, Map<string, Route>>>();
  for (const { domain, method, template, served } of [
    ...resources.flatMap((resource) => [...entriesOf(resource)]),
    ...natives.flatMap((native) => [...nativeEntries(native)]),
  ]) {
    const shapes = innerMap(innerMap(domains, domain), template.collection);
    const shape = shapeOf(template);
    const route = shapes.get(shape) ?? { template, methods: new Map<string, RouteTarget>() };
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

/** Does a path have the form of a template such as `repos/{id=**}/digests/{digest=*}/sbom` or `groups/{id=**}:check`? */

/** One segment: a literal, or (undefined) any single one. */
type TemplateSegment = string | undefined;

/** A parsed template. */
export interface PathTemplate {
  /** The first segment, always a literal. */
  readonly collection: string;
  /** Segments left of `**`; all of them when there is none. The first is `collection`. */
  readonly before: readonly TemplateSegment[];
  /** True when a `**` (any number of segments, none included) stands between `before` and `after`. */
  readonly spans: boolean;
  readonly after: readonly TemplateSegment[];
  /** The verb with its colon, or empty. */
  readonly verb: string;
}

const LITERAL = /^[A-Za-z0-9\-_.]+$/;
const ONE = /^\{[^{}=/]+(?:=\*)?\}$/;
const SPAN = /^\{[^{}=/]+=\*\*\}$/;
const VERB = /:[A-Za-z]+$/;

/** The template written as `text`, below `/{domain}/v1/`. Throws `Error` (a mistake in a catalogue file) for anything else. */
export function parseTemplate(text: string): PathTemplate {
  const verb = VERB.exec(text)?.[0] ?? "";
  const segments = text.slice(0, text.length - verb.length).split("/");
  const span = segments.findIndex((segment) => SPAN.test(segment));
  const read = (segment: string): TemplateSegment => {
    if (ONE.test(segment)) return undefined;
    if (!LITERAL.test(segment)) throw new Error(`path template "${text}": "${segment}" is no segment`);
    return segment;
  };
  const before = (span === -1 ? segments : segments.slice(0, span)).map(read);
  const after = span === -1 ? [] : segments.slice(span + 1).map(read);
  const collection = before[0];
  if (collection === undefined) throw new Error(`path template "${text}" does not begin with a literal`);
  return { collection, before, spans: span !== -1, after, verb };
}

/** The same template with another first segment: the second spelling of a collection. */
export function respelled(template: PathTemplate, collection: string): PathTemplate {
  return { ...template, collection, before: [collection, ...template.before.slice(1)] };
}

/** Equal for templates that match the same paths. */
export function shapeOf({ before, spans, after, verb }: PathTemplate): string {
  const words = [...before, ...(spans ? ["**"] : []), ...after].map((token) => token ?? "*");
  return words.join("/") + verb;
}

/** Orders templates so that the first one that matches is the right one: literals, then verbs, then `*`, then `**`. */
export function bySpecificity(a: PathTemplate, b: PathTemplate): number {
  const rank = ({ before, spans, after, verb }: PathTemplate): readonly number[] => {
    const tokens = [...before, ...after];
    const literals = tokens.filter((token) => token !== undefined).length;
    return [literals, verb === "" ? 0 : 1, spans ? 0 : 1, tokens.length];
  };
  const right = rank(b);
  for (const [at, own] of rank(a).entries()) {
    const difference = (right[at] ?? 0) - own;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** True when the path of `segments` has the form of `template`. A verb counts only at the very end. */
export function matches(template: PathTemplate, segments: readonly string[]): boolean {
  const { before, spans, after, verb } = template;
  const count = segments.length;
  const fixed = before.length + after.length;
  if (spans ? count < fixed : count !== fixed) return false;
  const last = segments[count - 1] ?? "";
  if (!last.endsWith(verb)) return false;
  const fits = (token: TemplateSegment, at: number): boolean => {
    const segment = at === count - 1 ? last.slice(0, last.length - verb.length) : segments[at];
    return token === undefined ? segment !== "" : token === segment;
  };
  const start = count - after.length;
  return after.every((token, at) => fits(token, start + at)) && before.every((token, at) => fits(token, at));
}

/** What the variables of a path say: the uid that `**` spans (empty for no segment at all), and the single segment. */
export interface PathVariables {
  readonly uid: string;
  readonly segment: string;
}

/** The variables of a path that has the form of `template`. */
export function variablesOf(template: PathTemplate, segments: readonly string[]): PathVariables {
  const { before, spans, after, verb } = template;
  const plain = segments.map((segment, at) =>
    at === segments.length - 1 ? segment.slice(0, segment.length - verb.length) : segment,
  );
  const end = plain.length - after.length;
  const fixed = [...before, ...after];
  const values = [...plain.slice(0, before.length), ...plain.slice(end)];
  return {
    uid: spans ? plain.slice(before.length, end).join("/") : "",
    segment: values.find((_, at) => fixed[at] === undefined) ?? "",
  };
}
