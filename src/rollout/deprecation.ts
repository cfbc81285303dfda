/** How does an answer tell its client that v1 ends, and which v2 URL takes this very request's place? (Design section 8.) */
import { deprecationHeaders, missingHeaders } from "../model/deprecation.ts";
import type { Exchange } from "../model/exchange.ts";
import type { HeaderList } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import {
  collectionPath,
  type Decide,
  type OperationMatch,
  type Plan,
  type RequestHead,
  v2PathOf,
} from "../model/request.ts";
import type { CompositeName, Filter } from "../model/resource.ts";
import type { Rule } from "../model/rules.ts";
import type { Router } from "../router/router.ts";
import { readListQuery } from "../translate/query.ts";

export interface DeprecationOptions {
  readonly route: Router;
  /** v2's version segment. */
  readonly version: string;
  /** What clients call carryover, with or without the base path at its end; without it successors are paths. */
  readonly publicUrl: string | undefined;
  /** Stands before every path that clients ask for; empty or beginning with a slash. */
  readonly basePath: string;
  /** A rule that is in force, by its name. */
  readonly rule: (name: string) => Rule | undefined;
}

/** Longest successor that is told: it is as long as the request's own target, and what stands in front takes short heads only. */
const MAX_SUCCESSOR_LENGTH = 2000;

/** Composites that one call to the record (or the parent) in the path replaces; verbs of their own say so in the catalogue. */
const ONE_CALL: ReadonlySet<CompositeName> = new Set(["create-or-replace", "replace-with-sub", "list-member"]);

/**
 * Puts what the request's rule says of v1's end behind answers to v1 requests, those with the platform's errors included.
 * Carryover's own errors (a thrown `Problem`) get nothing: they are made behind every plan. It belongs outside of list
 * sharing: what was made for one client must not tell another what a rule says of the first.
 */
export function createDeprecationLayer(options: DeprecationOptions): (next: Decide) => Decide {
  const base = publicBase(options);
  return (next) => (head, exchange) => {
    const plan = next(head, exchange);
    const headers = headersOf(exchange, options);
    if (headers === undefined) return plan;
    const path = headers.successor ? successorOf(head, options) : undefined;
    // The listener puts the base path into links of answers, as into those of v2; what passes gets ours as they are.
    const ownBase = plan.kind === "pass" ? options.basePath : "";
    const fields = deprecationHeaders(headers, path === undefined ? undefined : (base ?? ownBase) + path);
    return fields.length === 0 ? plan : withFields(plan, fields);
  };
}

/** What stands before a path in the URLs that clients use. The base path does so once, wherever the operator wrote it. */
function publicBase({ publicUrl, basePath }: DeprecationOptions): string | undefined {
  if (publicUrl === undefined) return undefined;
  const url = publicUrl.replace(/\/+$/, "");
  return new URL(url).pathname.endsWith(basePath) ? url : url + basePath;
}

function headersOf({ apiVersion, rule }: Exchange, options: DeprecationOptions): Rule["headers"] {
  return rule === undefined || apiVersion !== "v1" ? undefined : options.rule(rule)?.headers;
}

function withFields(plan: Plan, fields: HeaderList): Plan {
  if (plan.kind === "pass") return { ...plan, headers: [...(plan.headers ?? []), ...fields] };
  return {
    kind: "answer",
    respond: async (body, signal) => {
      const answer = await plan.respond(body, signal);
      return { ...answer, headers: [...answer.headers, ...missingHeaders(answer.headers, fields)] };
    },
  };
}

/** Path and query in v2 of what `head` asks for; undefined where v2 has nothing that one call could ask. */
function successorOf({ method, target }: RequestHead, { route, version }: DeprecationOptions): string | undefined {
  try {
    const routed = route(method, target);
    const successor = routed.kind === "match" ? successorPath(routed.match, version) : undefined;
    return successor === undefined || successor.length > MAX_SUCCESSOR_LENGTH ? undefined : successor;
  } catch (error) {
    // What cannot be read cannot be mapped; native v1 may still know what to do with it.
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
