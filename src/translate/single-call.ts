/** How are one record's Get, Create and Delete served? (Design: v1 as clients see it.) */

import { parseTree } from "../json/tree.ts";
import type { ApiRequest, ApiResponse } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { v2PathOf } from "../model/request.ts";
import type { Operation } from "../model/resource.ts";
import { bodyText } from "./body.ts";
import { errorResponse } from "./error.ts";
import { bodilessHeaders, readHeaders, respondWith, writeHeaders } from "./headers.ts";
import { type ResourceContext, readRequestBody, type Tools, type Translation, type V1Request } from "./operation.ts";
import { invalidResponse, readUpstream } from "./pages.ts";
import { readListQuery } from "./query.ts";
import { createRecordRewriter } from "./record-rewriter.ts";

/** A write that v2 carried out, but whose answer cannot be shown: the client must know that. */
export const STATE_UNKNOWN = { state: "unknown" } as const;

/** One record by its uid. */
export function createGet(operation: Operation & { readonly kind: "get" }, parts: ResourceContext): Translation {
  const show = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const target = v2PathOf(request.match, parts.options.version);
    const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
    if (response.status !== 200) return errorResponse(response, parts.names);
    const shown = await show.rewriteOne(response.body, request.match.uid, request, tools);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    return respondWith(response, 200, shown.bytes);
  };
}

/** Parent in the path, body renamed, server-set members dropped. */
export function createCreate(operation: Operation & { readonly kind: "create" }, parts: ResourceContext): Translation {
  const show = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const body = readRequestBody(request.body, operation.body.rows, parts.options.unknownRequest, tools);
    const response = await tools.send({
      method: "POST",
      target: v2PathOf(request.match, parts.options.version),
      headers: writeHeaders(request.headers, "one"),
      body: Buffer.from(bodyText(body)),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    const shown = await show.rewriteOne(response.body, undefined, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    return respondWith(response, 200, shown.bytes);
  };
}

/** v1 answers `{}`; v2 may answer nothing at all. A body of the request is not read, as v1 did not. */
export function createDelete(parts: ResourceContext): Translation {
  return async (request, tools) => {
    const response = await tools.send({
      method: "DELETE",
      target: v2PathOf(request.match, parts.options.version),
      headers: bodilessHeaders(request.headers, "one"),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    return respondWith(response, 200, Buffer.from("{}"));
  };
}

/** Throws `Problem` for an answer that is neither success nor error. */
export function isSuccess(response: ApiResponse): boolean {
  if (response.status >= 200 && response.status < 300) return true;
  if (response.status >= 400) return false;
  throw new Problem(
    "UPSTREAM_INVALID",
    `the platform answered ${response.status}, which is neither success nor error`,
    {
      metadata: STATE_UNKNOWN,
    },
  );
}

/** How is a custom verb served, whose v2 counterpart is one call? (Design: words, operation; custom verbs.) */

type CallOperation = Operation & { readonly kind: "call" };

/** One call: the path's uid, the query and the body in v2's words, the answer in v1's. Never repeated once it was sent. */
export function createCall(operation: CallOperation, parts: ResourceContext): Translation {
  const show = createRecordRewriter(operation.answer, [], parts);
  const isRead = operation.v2.method === "GET";
  const believe = createRecordCheck(operation);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, operation.filters ?? []);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const path = v2PathOf(request.match, parts.options.version);
    const target = query.params.length === 0 ? path : `${path}?${query.params.join("&")}`;
    const response = await tools.send(
      isRead ? readOf(target, request) : writeOf(target, operation, request, parts, tools),
    );
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    const metadata = isRead ? undefined : STATE_UNKNOWN;
    believe(bodyOrEmpty(response), request.match.uid, metadata);
    const shown = await show.rewriteOne(bodyOrEmpty(response), undefined, request, tools, metadata);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    return respondWith(response, 200, shown.bytes);
  };
}

function readOf(target: string, { headers }: V1Request): ApiRequest {
  return { method: "GET", target, headers: readHeaders(headers) };
}

function writeOf(
  target: string,
  { v2, body: shape }: CallOperation,
  request: V1Request,
  parts: ResourceContext,
  tools: Tools,
): ApiRequest {
  const body = readRequestBody(request.body, shape?.rows ?? [], parts.options.unknownRequest, tools);
  return {
    method: v2.method,
    target,
    headers: writeHeaders(request.headers, "one"),
    body: Buffer.from(bodyText(body)),
  };
}

/**
 * Where the answer names the record of the path: throws `Problem` UPSTREAM_INVALID, with `metadata`, for one that names another,
 * and for one that says nothing at all. Its zeros would be made up: a token that is empty, a switch that is off.
 */
function createRecordCheck({ body, answer }: CallOperation) {
  const known = new Set(answer.rows.map(({ v2 }) => v2));
  // In a body it counts for nothing, because the path says which record is meant; so the answer must say the same.
  const own = new Set(body?.rows.flatMap(({ v2, access }) => (access === "output" && v2 !== null ? [v2] : [])));
  const named = answer.rows.flatMap(({ v2 }) => (v2 !== null && own.has(v2) ? [v2] : []));
  return (bytes: Uint8Array, uid: string, metadata?: Readonly<Record<string, string>>): void => {
    if (named.length === 0) return;
    const said = readUpstream(() => membersOf(bytes), metadata);
    if (![...said.keys()].some((name) => known.has(name))) throw invalidResponse("nothing in it is known", metadata);
    if (named.some((name) => said.has(name) && said.get(name) !== uid)) {
      throw invalidResponse("it is about another record", metadata);
    }
  };
}

/** Members of the answer by name, with their text where they are one. */
function membersOf(bytes: Uint8Array): ReadonlyMap<string, string | undefined> {
  const node = parseTree(bytes, { surrogates: "pass" });
  const members = node.kind === "object" ? node.members : [];
  return new Map(members.map(({ key, value }) => [key, value.kind === "string" ? value.value : undefined]));
}

/** An empty message may come as nothing at all (specification section 4). */
function bodyOrEmpty(response: ApiResponse): Uint8Array {
  return response.body.length === 0 ? Buffer.from("{}") : response.body;
}
