/** Which operation does a request ask for, by its method and target alone? */

import { Problem } from "../model/problem.ts";
import { type OperationMatch, type RouteResult, v2PathOf } from "../model/request.ts";
import type { NativeDomain, Resource } from "../model/resource.ts";
import { checkSegments, decodePath, invalidPath, segmentForPath, uidForPath } from "./path.ts";
import {
  buildRouteTable,
  type DomainTable,
  matches,
  type PathTemplate,
  type PathVariables,
  type Route,
  type RouteTarget,
  variablesOf,
} from "./route-table.ts";

export interface RouterOptions {
  readonly resources: readonly Resource[];
  readonly natives: readonly NativeDomain[];
  /** v2's version segment as configured, e.g. `v2beta1`. */
  readonly version: string;
  /** Further path prefixes that pass to v2 (`listen.extraPrefixes`), with or without a slash at the end. */
  readonly extraPrefixes: readonly string[];
}

/** Says what `target` (origin form, raw, base path taken off) stands for. Throws `Problem` for what must be refused. */
export type Router = (method: string, target: string) => RouteResult;

const DOMAINS = ["iam", "registry", "vulnerabilities", "events", "advisory", "libraries", "ping"] as const;
const UNKNOWN: RouteResult = { kind: "native", resource: "unknown", operation: "unknown" };
const V2: RouteResult = { kind: "v2", resource: "unknown" };
const STS_METHODS: ReadonlySet<string> = new Set(["GET", "POST", "OPTIONS"]);

/**
 * A router for the API's prefixes (design: paths). v1 targets are checked strictly and matched against the catalogue;
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
  const extra = options.extraPrefixes.map((prefix) => (prefix.endsWith("/") ? prefix.slice(0, -1) : prefix));

  return (method, raw) => {
    const target = splitTarget(raw);
    const { path, domain, version } = target;
    const collections = domains.get(domain);
    if (collections !== undefined) {
      if (version === "v1") return routeV1(collections, options.version, method, target);
      if (v2Versions.has(version)) return v2Kinds.get(`${domain}/${collectionSegment(target)}`) ?? V2;
    }
    if (path === "/sts/exchange") {
      if (!STS_METHODS.has(method)) throw notAllowed();
      return { kind: "sts", query: target.query };
    }
    if (extra.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return V2;
    throw unknownPath(target);
  };
}

/** A request target cut apart, nothing decoded. */
interface SplitTarget {
  readonly path: string;
  /** The first two segments of the path. */
  readonly domain: string;
  readonly version: string;
  /** Where the path goes on behind them. */
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

/** The segment behind the version, as it is: without what a verb or a uid adds. */
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
  return new Problem("UNKNOWN_PATH", "unknown path: it begins with none of the API's prefixes");
}

function notAllowed(): Problem {
  return new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed");
}

function routeV1(collections: DomainTable, version: string, method: string, target: SplitTarget): RouteResult {
  const decoded = decodePath(target.path);
  checkSegments(decoded);
  // The prefix holds no escape, so it ends at the same place in the decoded path.
  const rest = decoded.slice(target.end + 1);
  const { first, route } = findRoute(collections, rest, method);
  if (first === undefined) return UNKNOWN;
  if (method === "OPTIONS") return { kind: "options", v2Target: mappedTarget(first, version, rest) };
  const served = route?.methods.get(method);
  if (route === undefined || served === undefined) throw notAllowed();
  if (served.kind === "native") return served;
  // v1 has no Get here, and where it has a literal, or a verb that nobody knows, carryover's own Get has no record either.
  const isExtension = served.operation.kind === "get" && served.operation.extension;
  if (isExtension && (route !== first || rest.includes(":"))) throw notAllowed();
  return { kind: "match", match: matchOf(served, readVariables(route.template, rest), target.query) };
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
