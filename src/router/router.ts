/** Which operation a request asks for, by its method and target alone. */
import { isSafe } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { type OperationMatch, type RouteResult, v1PathOf, v2PathOf } from "../model/request.ts";
import type { NativeDomain, Operation, Resource } from "../model/resource.ts";
import { checkSegments, decodePath, invalidPath, segmentForPath, uidForPath } from "./path.ts";
import {
  bySpecificity,
  matches,
  type PathTemplate,
  type PathVariables,
  parseTemplate,
  respelled,
  shapeOf,
  variablesOf,
} from "./template.ts";

interface RouterOptions {
  readonly resources: readonly Resource[];
  readonly natives: readonly NativeDomain[];
  /** v2's version segment as configured, e.g. `v2beta1`. */
  readonly version: string;
  /** Further path prefixes (`listen.extraPrefixes`), with or without a slash at the end: `/a` passes to v2, `v1:/a` to native v1. */
  readonly extraPrefixes: readonly string[];
}

/** Says what `target` (origin form, raw, base path taken off) stands for. Throws `Problem` for what must be refused. */
export type Router = (method: string, target: string) => RouteResult;

/** The API's paths begin with one of these. */
export const DOMAINS = ["iam", "registry", "vulnerabilities", "events", "advisory", "libraries", "ping"] as const;
const UNKNOWN = { kind: "native", resource: "unknown", operation: "unknown" } as const;
/** A domain that carryover does not know, as domains are written. */
const DOMAIN = /^[a-z][a-z0-9-]{0,62}$/;
/** Before an extra prefix: it is native v1's. */
const OF_V1 = "v1:";
const V2: RouteResult = { kind: "v2", resource: "unknown" };
const TOKEN_EXCHANGE: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["/sts/exchange", new Set(["GET", "POST", "OPTIONS"])],
  ["/sts/exchange_refresh_token", new Set(["POST", "OPTIONS"])],
]);

/**
 * A router for the API's prefixes. v1 targets are checked strictly and matched against the catalogue;
 * v2 targets are known by their prefix and not judged. Throws `Error` for a catalogue that contradicts itself.
 */
export function createRouter(options: RouterOptions): Router {
  const table = buildRouteTable(options.resources, options.natives);
  const domains = new Map<string, DomainTable>(DOMAINS.map((name) => [name, table.get(name) ?? new Map()]));
  for (const name of table.keys()) if (!domains.has(name)) throw new Error(`"${name}" is no domain of the API`);
  const v2Versions: ReadonlySet<string> = new Set(["v2beta1", "v2", options.version]);
  const v2Kinds: ReadonlyMap<string, RouteResult> = new Map(
    options.resources.map(({ domain, v2, name }) => [`${domain}/${v2}`, { kind: "v2", resource: name }]),
  );
  const extra = options.extraPrefixes.map(readPrefix);
  const respelledDomains = new Set(DOMAINS.map(folded));

  return (method, raw) => {
    const target = splitTarget(raw);
    const { path, domain, version } = target;
    const collections = domains.get(domain);
    if (collections !== undefined) {
      if (version === "v1") return routeV1(collections, options.version, method, target);
      if (v2Versions.has(version)) return v2Kinds.get(`${domain}/${collectionSegment(target)}`) ?? V2;
    }
    const methods = TOKEN_EXCHANGE.get(path);
    if (methods !== undefined) {
      if (!methods.has(method)) throw notAllowed();
      return { kind: "sts", query: target.query };
    }
    const named = extra.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (named?.isV1 === false) return V2;
    const isNew = version === "v1" && DOMAIN.test(domain) && !respelledDomains.has(folded(domain));
    if (named === undefined && !isNew) throw unknownPath(target);
    checkSegments(decodePath(path));
    return { ...UNKNOWN, otherwise: unknownPath(target), named: named !== undefined };
  };
}

function readPrefix(text: string): { readonly prefix: string; readonly isV1: boolean } {
  const isV1 = text.startsWith(OF_V1);
  return { prefix: (isV1 ? text.slice(OF_V1.length) : text).replace(/\/$/, ""), isV1 };
}

/** Equal for names that differ in case, hyphens and underscores alone. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll(/[-_]/g, "");
}

/** A request target cut apart, nothing decoded. */
interface SplitTarget {
  readonly path: string;
  /** The first two segments of the path. */
  readonly domain: string;
  readonly version: string;
  /** Where the path goes on after them. */
  readonly end: number;
  readonly query: string;
}

function splitTarget(target: string): SplitTarget {
  if (!target.startsWith("/"))
    throw invalidPath("a target without a path", "at offset 0", 'a path that begins with "/"');
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? "" : target.slice(mark + 1);
  const first = path.indexOf("/", 1);
  if (first === -1) return { path, domain: path.slice(1), version: "", end: path.length, query };
  const second = path.indexOf("/", first + 1);
  const end = second === -1 ? path.length : second;
  return { path, domain: path.slice(1, first), version: path.slice(first + 1, end), end, query };
}

/** True when the second segment of `target` is v1. */
export function isV1(target: string): boolean {
  const slash = target.indexOf("/", 1);
  return slash > 0 && /^\/v1(?:[/?:]|$)/.test(target.slice(slash, slash + 4));
}

/** The segment after the version, as it is: without what a verb or a uid adds. */
function collectionSegment({ path, end }: SplitTarget): string {
  for (let at = end + 1; at < path.length; at++) {
    const sign = path[at];
    if (sign === "/" || sign === ":") return path.slice(end + 1, at);
  }
  return path.slice(end + 1);
}

function unknownPath({ domain, version }: SplitTarget): Problem {
  // A prefix is compared raw: what was judged and what is forwarded are the same bytes.
  if (domain.includes("%") || version.includes("%"))
    return invalidPath("percent escape", "in the first two segments", "a prefix written as itself");
  return new Problem("UNKNOWN_PATH", "unknown path: it begins with none of the API's prefixes", {
    options: ["listen.extraPrefixes"],
  });
}

function notAllowed(): Problem {
  return new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed");
}

/**
 * What the catalogue does not know goes to native v1, but for a write that is spelled almost like a known one: v1's gateway says 404 to
 * it, and a front that is not as strict would have it pass by the rules.
 */
function routeV1(collections: DomainTable, version: string, method: string, target: SplitTarget): RouteResult {
  const decoded = decodePath(target.path);
  checkSegments(decoded);
  // The prefix holds no escape, so it ends at the same place in the decoded path.
  const rest = decoded.slice(target.end + 1);
  const { first, route } = findRoute(collections, rest, method);
  if (first === undefined) {
    if (isRespelledWrite(collections, rest, method, first)) throw notFound();
    return UNKNOWN;
  }
  const served = route?.methods.get(method);
  if (served?.kind !== "native" && endsInUnknownVerb(first.template, rest)) {
    if (isRespelledWrite(collections, rest, method, first)) throw notFound();
    return { ...UNKNOWN, otherwise: served === undefined || isExtension(served) ? notAllowed() : refusedUid(rest) };
  }
  if (method === "OPTIONS") return { kind: "options", v2Target: mappedTarget(first, version, rest) };
  if (route === undefined || served === undefined) throw notAllowed();
  if (served.kind === "native") return served;
  // v1 has no Get here, and where it has a literal, or an odd verb, carryover's own Get has no record either.
  if (isExtension(served) && (route !== first || rest.includes(":"))) throw notAllowed();
  return { kind: "match", match: matchOf(served, readVariables(route.template, rest), target.query) };
}

function notFound(): Problem {
  return new Problem("NOT_FOUND", "Not Found", { options: [] });
}

/** True for a Get that v1 does not have. */
function isExtension(served: RouteTarget): boolean {
  return served.kind === "translated" && served.operation.kind === "get" && served.operation.extension === true;
}

/** One verb, after a uid without any. */
const ONE_VERB = /^[^:]*:[A-Za-z][A-Za-z0-9_]*$/;

/** True where `rest` has the form of `template` only because a verb that nobody knows would be the end of a uid. */
function endsInUnknownVerb({ spans, after, verb }: PathTemplate, rest: string): boolean {
  return spans && after.length === 0 && verb === "" && ONE_VERB.test(rest);
}

/** Why the end of `rest`, taken for a uid, is none. */
function refusedUid(rest: string): Problem | undefined {
  try {
    uidForPath(rest.slice(rest.indexOf("/") + 1));
    return undefined;
  } catch (error) {
    return Problem.from(error);
  }
}

/** True for a write that would be another, translated one if case, hyphens, underscores and a slash at the end did not count. */
function isRespelledWrite(collections: DomainTable, rest: string, method: string, found: Route | undefined): boolean {
  if (isSafe(method)) return false;
  const segments = folded(rest).replace(/\/$/, "").split("/");
  const own = found && shapeOf(foldedTemplate(found.template));
  for (const { routes } of collections.values()) {
    for (const route of routes) {
      if (route.methods.get(method)?.kind !== "translated") continue;
      const template = foldedTemplate(route.template);
      if (shapeOf(template) !== own && matches(template, segments)) return true;
    }
  }
  return false;
}

function foldedTemplate({ before, spans, after, verb }: PathTemplate): PathTemplate {
  const fold = (token: string | undefined) => token && folded(token);
  const words = before.map(fold);
  return { collection: words[0] ?? "", before: words, spans, after: after.map(fold), verb: folded(verb) };
}

/** A path that says nothing but its collection. */
const NO_VARIABLES: PathVariables = { uid: "", segment: "" };

/** `rest`: the path below `/{domain}/v1/`, decoded. Most paths are a collection and a uid: those are cut once. */
function readVariables(template: PathTemplate, rest: string): PathVariables {
  const { before, after, verb } = template;
  const slash = rest.indexOf("/");
  if (slash === -1) return NO_VARIABLES;
  if (before.length > 1 || after.length > 0 || verb !== "") return variablesOf(template, rest.split("/"));
  return { uid: rest.slice(slash + 1), segment: "" };
}

/** The most specific route that has the form of a path, and the most specific of those that have its method too. */
interface FoundRoute {
  readonly first: Route | undefined;
  readonly route: Route | undefined;
}

/**
 * The routes for `rest` (decoded, below `/{domain}/v1/`). A method that the first one does not have is looked for in the next,
 * as in v1's gateway: `DELETE identities/lookup` is about a record of that uid.
 */
function findRoute(collections: DomainTable, rest: string, method: string): FoundRoute {
  const segments = rest.split("/");
  const word = segments[0] ?? "";
  const colon = segments.length === 1 ? word.lastIndexOf(":") : -1;
  const collection = collections.get(colon === -1 ? word : word.slice(0, colon));
  if (rest.endsWith("/")) {
    if (collection !== undefined && segments.length > 2)
      throw invalidPath("slash", "at the end", "no slash after the last segment");
    return { first: collection?.tail, route: collection?.tail };
  }
  let first: Route | undefined;
  for (const route of collection?.routes ?? []) {
    if (!matches(route.template, segments)) continue;
    first ??= route;
    if (route.methods.has(method)) return { first, route };
  }
  return { first, route: undefined };
}

type TranslatedTarget = Extract<RouteTarget, { kind: "translated" }>;

function matchOf(
  { resource, operation }: TranslatedTarget,
  { uid, segment: raw }: PathVariables,
  query: string,
): OperationMatch {
  const segment = raw === "" ? "" : segmentForPath(raw);
  if (uid !== "") return { resource, operation, uid, uidPath: uidForPath(uid), segment, query };
  // `GET groups/`: v1 has no such path (its gateway answers 501), and a Get needs a uid.
  if (operation.kind === "get") throw notAllowed();
  if (!needsUid(operation)) return { resource, operation, uid: "", uidPath: "", segment, query };
  const what = operation.kind === "create" ? "the uid of the parent" : `the uid of the ${resource.name}`;
  throw invalidPath("no uid", "after the collection", `${what} (\`${resource.key}\`) there`);
}

function needsUid(operation: TranslatedTarget["operation"]): boolean {
  if (operation.kind === "create") return operation.emptyParent !== true;
  return "path" in operation ? operation.path.includes("=**}") : operation.kind !== "list";
}

/** The v2 path of a translated route for OPTIONS; the query is left out, its v1 names mean nothing to v2. */
function mappedTarget(route: Route, version: string, rest: string): string | undefined {
  const { uid, segment: raw } = readVariables(route.template, rest);
  for (const served of route.methods.values()) {
    if (served.kind === "translated") {
      const uidPath = uid === "" ? "" : uidForPath(uid);
      return v2PathOf({ ...served, uidPath, segment: raw === "" ? "" : segmentForPath(raw) }, version);
    }
  }
  return undefined;
}

type TranslatedOperation = Exclude<Operation, { kind: "native" }>;
/** What serves one method of one path. */
type RouteTarget =
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
type DomainTable = ReadonlyMap<string, Collection>;

interface RouteEntry {
  readonly domain: string;
  readonly method: string;
  readonly template: PathTemplate;
  readonly served: RouteTarget;
}

function* entriesOf(resource: Resource): Generator<RouteEntry> {
  const spellings = new Set([resource.v1, resource.v2]);
  for (const operation of resource.operations) {
    const { method, path } = v1PathOf(resource, operation);
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
function buildRouteTable(
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
