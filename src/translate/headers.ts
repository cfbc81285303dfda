/** Which headers go to v2 with a translated call, and which come back with its response. */

import {
  type ApiRequest,
  type ApiResponse,
  type ClientResponse,
  CONDITIONS,
  type HeaderField,
  type HeaderList,
  HOP_BY_HOP,
  METHOD_OVERRIDES,
  withoutHeaders,
  withValue,
} from "../model/http.ts";
import { Problem } from "../model/problem.ts";

/** Not sent to v2: they describe the v1 body or representation, which v2 does not see, or would change the method. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...CONDITIONS,
  ...METHOD_OVERRIDES,
  "accept",
  "accept-encoding",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-md5",
  "content-type",
  "digest",
  "host",
  "range",
  "repr-digest",
]);

/** Conditions without which a write must not be sent. */
const WRITE_CONDITIONS: readonly string[] = ["if-match", "if-unmodified-since"];

/** Not returned: they describe v2's bytes instead of the rewritten ones, or are set again. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  "accept-ranges",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "content-type",
  "digest",
  "etag",
  "last-modified",
  "repr-digest",
  "signature",
  "signature-input",
]);

/** Fields in which a platform counts or links its pages. */
const PAGE_FIELD =
  /^(?:grpc-metadata-)?(?:x-)?(?:total(?:-count|-pages|-results)?|(?:next|prev|previous|current)-page(?:-token)?|page(?:-size|-count|-token)?|per-page|pagination(?:-.*)?|skipped)$/;
/** Relations of a `Link` (RFC 8288) that lead from page to page. */
const PAGE_RELATIONS: ReadonlySet<string> = new Set(["first", "last", "next", "prev", "previous"]);

const JSON_TYPE: readonly [string, string] = ["content-type", "application/json"];
const JSON_WANTED: readonly [string, string] = ["accept", "application/json"];

/** Headers for a read of v2. Conditions and ranges are left out: a rewritten response has other bytes. */
export function readHeaders(client: HeaderList): HeaderList {
  const sent = withoutHeaders(client, NOT_SENT);
  sent.push(JSON_WANTED);
  return sent;
}

/**
 * Headers for a write to v2 without a body. `calls`: how many calls the request takes; a condition holds for one only.
 * Throws `Problem` CONDITION_UNSUPPORTED.
 */
export function bodilessHeaders(client: HeaderList, calls: "one" | "several"): HeaderList {
  const conditions = client.filter(([name]) => WRITE_CONDITIONS.includes(name));
  const [condition] = conditions;
  if (condition !== undefined && calls === "several") {
    const message = `${condition[0]} cannot be kept: this request takes several calls to v2`;
    throw new Problem("CONDITION_UNSUPPORTED", message);
  }
  return [...readHeaders(client), ...conditions];
}

/** Headers for a write with a JSON body. */
export function writeHeaders(client: HeaderList, calls: "one" | "several"): HeaderList {
  return [...bodilessHeaders(client, calls), JSON_TYPE];
}

/** A rewritten response with v2's own headers, except those that describe its bytes. */
export function respondWith<Body extends ClientResponse["body"]>(
  from: Pick<ApiResponse, "headers">,
  status: number,
  body: Body,
  extra: HeaderList = [],
): { readonly status: number; readonly headers: HeaderList; readonly body: Body } {
  const headers = withoutHeaders(from.headers, NOT_RETURNED);
  headers.push(JSON_TYPE, ...extra);
  return { status, headers, body };
}

/** A page's headers without those that lead to other pages, or count pages: a v1 list has none of v2's pages. */
export function withoutPaging({ headers }: { readonly headers: HeaderList }): { readonly headers: HeaderList } {
  return { headers: headers.some(isOfPages) ? headers.flatMap(withoutPageLinks) : headers };
}

function isOfPages([name]: HeaderField): boolean {
  return name === "link" || PAGE_FIELD.test(name);
}

function withoutPageLinks(field: HeaderField): HeaderField[] {
  if (!isOfPages(field)) return [field];
  const [name, value] = field;
  const links = name === "link" ? linksIn(value).filter((link) => !leadsToPage(link)) : [];
  return links.length === 0 ? [] : [withValue(field, links.join(", "))];
}

/** The links of one `Link` field; none when it is not well formed. */
function linksIn(value: string): readonly string[] {
  if (value.lastIndexOf("<") > value.lastIndexOf(">")) return [];
  return (value.match(/(?:<[^>]*>|"[^"]*"|[^,<"])+/g) ?? []).map((link) => link.trim()).filter((link) => link !== "");
}

function leadsToPage(link: string): boolean {
  const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(link) ?? [];
  return (quoted ?? plain)
    .toLowerCase()
    .split(/\s+/)
    .some((relation) => PAGE_RELATIONS.has(relation));
}

const METHOD_LISTS: ReadonlySet<string> = new Set(["allow", "access-control-allow-methods"]);

/** OPTIONS for v2's path. What a v1 client would do with PUT is asked for as PATCH (the preflight of a browser). */
export function optionsRequest(target: string, client: HeaderList): ApiRequest {
  const headers = client.map(([name, value]) =>
    name === "access-control-request-method" && value === "PUT" ? ([name, "PATCH"] as const) : ([name, value] as const),
  );
  return { method: "OPTIONS", target, headers };
}

/** v2's response to OPTIONS: where it allows PATCH, a v1 client may use PUT. */
export function optionsResponse(response: ApiResponse): ApiResponse {
  const headers = response.headers.map(([name, value]) =>
    METHOD_LISTS.has(name) ? ([name, value.replace(/\bPATCH\b/g, "PUT")] as const) : ([name, value] as const),
  );
  return { ...response, headers };
}
