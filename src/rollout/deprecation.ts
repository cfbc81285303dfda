/** Headers that announce the end of v1 to a client, with the v2 URL that replaces its request. */
import { deprecationHeaders } from "../model/deprecation.ts";
import type { HeaderList } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { collectionPath, type OperationMatch, type RequestContext, v2PathOf } from "../model/request.ts";
import type { CompositeName, Filter } from "../model/resource.ts";
import type { Rule } from "../rules/rule.ts";
import { readListQuery } from "../translate/query.ts";

export interface DeprecationOptions {
  /** v2's version segment. */
  readonly version: string;
  /** What clients call carryover, with or without the base path at its end; without it successors are paths. */
  readonly publicUrl?: string | undefined;
  /** Stands before every path that clients ask for; empty or beginning with a slash. */
  readonly basePath: string;
  /** A rule that is in force, by its name. */
  readonly rule: (name: string) => Rule | undefined;
}

/** The longest successor link, since proxies limit the size of headers. */
const MAX_SUCCESSOR_LENGTH = 2000;

/** Composites that one call to the record (or the parent) in the path replaces; verbs of their own say so in the catalogue. */
const ONE_CALL: ReadonlySet<CompositeName> = new Set(["create-or-replace", "replace-with-sub", "list-member"]);

/**
 * The deprecation headers of a v1 request's rule, added to every response, errors of the platform included.
 * Carryover's own errors (a thrown `Problem`) get nothing: no plan makes them.
 */
export function createDeprecationNotice(options: DeprecationOptions): (request: RequestContext) => HeaderList {
  const { version, rule } = options;
  const base = publicBase(options);
  return ({ exchange, route }) => {
    const name = exchange.apiVersion === "v1" ? exchange.rule : undefined;
    const headers = name === undefined ? undefined : rule(name)?.headers;
    if (headers === undefined) return [];
    const path = headers.successor && route?.kind === "match" ? successorOf(route.match, version) : undefined;
    return deprecationHeaders(headers, path === undefined ? undefined : base + path);
  };
}

/** What stands before a path in the URLs that clients use. The base path does so once, wherever the operator wrote it. */
function publicBase({ publicUrl, basePath }: DeprecationOptions): string {
  if (publicUrl === undefined) return basePath;
  const url = publicUrl.replace(/\/+$/, "");
  return new URL(url).pathname.endsWith(basePath) ? url : url + basePath;
}

/** Path and query in v2 of what `match` asks for; undefined where v2 has nothing that one call could ask. */
function successorOf(match: OperationMatch, version: string): string | undefined {
  try {
    const successor = successorPath(match, version);
    return successor === undefined || successor.length > MAX_SUCCESSOR_LENGTH ? undefined : successor;
  } catch (error) {
    // A query that cannot be read cannot be mapped; native v1 may still know what to do with it.
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function successorPath(match: OperationMatch, version: string): string | undefined {
  const { resource, operation } = match;
  switch (operation.kind) {
    case "list":
      return withFilters(collectionPath(resource, version), match.query, operation.filters);
    case "call":
      return withFilters(v2PathOf(match, version), match.query, operation.filters ?? []);
    case "composite":
      if (operation.v2 !== undefined && operation.by !== "look-up")
        return `/${resource.domain}/${version}/${operation.v2}`;
      return ONE_CALL.has(operation.by) ? v2PathOf(match, version) : undefined;
    case "create":
    case "update":
      return operation.by === undefined || ONE_CALL.has(operation.by) ? v2PathOf(match, version) : undefined;
    case "get":
    case "delete":
      return v2PathOf(match, version);
    case "native":
      return undefined;
    default:
      return operation satisfies never;
  }
}

/**
 * The list (or verb) at `path` with the filters that v2 applies, paging left out: that is the client's to choose. A filter
 * for one record is that record. Undefined when no record can match: nothing in v2 asks for that.
 */
function withFilters(path: string, query: string, filters: readonly Filter[]): string | undefined {
  const { get, empty, params } = readListQuery(query, filters);
  if (empty) return undefined;
  if (get !== undefined) return `${path}/${get}`;
  return params.length === 0 ? path : `${path}?${params.join("&")}`;
}
