/** Operations that are one call to v2: Get, Create, Delete and custom verbs. */

import { parseTree } from "../json/tree.ts";
import type { ApiRequest } from "../model/http.ts";
import { v2PathOf } from "../model/request.ts";
import type { Operation } from "../model/resource.ts";
import { bodyText } from "./body.ts";
import { errorResponse, isSuccess, STATE_UNKNOWN } from "./error.ts";
import { bodilessHeaders, readHeaders, respondWith, writeHeaders } from "./headers.ts";
import {
  type ResourceContext,
  readRequestBody,
  readRequestQuery,
  type Tools,
  type Translation,
  type V1Request,
} from "./operation.ts";
import { invalidResponse, type Metadata, readUpstream, targetWith } from "./pages.ts";
import { createRecordRewriter } from "./record-rewriter.ts";
import { mismatchHeader, verifyCreated } from "./replace.ts";

/** One record by its uid. */
export function createGet(operation: Operation & { readonly kind: "get" }, parts: ResourceContext): Translation {
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const target = v2PathOf(request.match, parts.options.version);
    const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
    if (response.status !== 200) return errorResponse(response, parts.names);
    return rewriter.respond(response, request.match.uid, request, tools);
  };
}

/** The parent is in the path; members that v2 sets itself are dropped from the body. */
export function createCreate(operation: Operation & { readonly kind: "create" }, parts: ResourceContext): Translation {
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const body = readRequestBody(request.body, operation.body.rows, parts.options.unknownRequest, tools);
    const response = await tools.send({
      method: "POST",
      target: v2PathOf(request.match, parts.options.version),
      headers: writeHeaders(request.headers, "one"),
      body: Buffer.from(bodyText(body)),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    return rewriter.respond(response, undefined, request, tools, STATE_UNKNOWN, () =>
      mismatchHeader(verifyCreated(body, operation.answer, response, parts, tools)),
    );
  };
}

/** v1 responds with `{}`, v2 may send no body. A body of the request is ignored, as in v1. */
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

type CallOperation = Operation & { readonly kind: "call" };

/** A custom verb: uid, query and body in v2's spelling, the response in v1's. Never repeated once it was sent. */
export function createCall(operation: CallOperation, parts: ResourceContext): Translation {
  const rewriter = createRecordRewriter(operation.answer, [], parts);
  const isRead = operation.v2.method === "GET";
  const metadata = isRead ? undefined : STATE_UNKNOWN;
  const checkRecord = createRecordCheck(operation);
  return async (request, tools) => {
    const query = readRequestQuery(request, operation.filters ?? [], tools);
    const target = targetWith(v2PathOf(request.match, parts.options.version), query.params);
    const call: ApiRequest = isRead
      ? { method: "GET", target, headers: readHeaders(request.headers) }
      : writeRequest(target, operation, request, parts, tools);
    const response = await tools.send(call);
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    // An empty message may come as no body at all.
    const body = response.body.length === 0 ? Buffer.from("{}") : response.body;
    checkRecord(body, request.match.uid, metadata);
    return rewriter.respond({ ...response, body }, undefined, request, tools, metadata);
  };
}

function writeRequest(
  target: string,
  { v2, body: shape }: CallOperation,
  request: V1Request,
  parts: ResourceContext,
  tools: Tools,
): ApiRequest {
  const body = readRequestBody(request.body, shape?.rows ?? [], parts.options.unknownRequest, tools);
  const headers = writeHeaders(request.headers, "one");
  return { method: v2.method, target, headers, body: Buffer.from(bodyText(body)) };
}

/**
 * Where the response names the record of the path, the check throws `Problem` UPSTREAM_INVALID for another record, and for
 * a response without any known member: its zeros would be made up, such as an empty token.
 */
function createRecordCheck({ body, answer }: CallOperation) {
  const known = new Set(answer.rows.map(({ v2 }) => v2));
  // Members that name the record are output only in the body, because the path names it already.
  const own = new Set(body?.rows.flatMap(({ v2, access }) => (access === "output" && v2 !== null ? [v2] : [])));
  const named = answer.rows.flatMap(({ v2 }) => (v2 !== null && own.has(v2) ? [v2] : []));
  return (bytes: Uint8Array, uid: string, metadata: Metadata | undefined): void => {
    if (named.length === 0) return;
    const node = readUpstream(() => parseTree(bytes, { surrogates: "pass" }), metadata);
    const members = new Map(node.kind === "object" ? node.members.map(({ key, value }) => [key, value]) : []);
    if (![...members.keys()].some((name) => known.has(name))) {
      throw invalidResponse("nothing in it is known", metadata);
    }
    for (const name of named) {
      const value = members.get(name);
      if (value !== undefined && !(value.kind === "string" && value.value === uid)) {
        throw invalidResponse("it is about another record", metadata);
      }
    }
  };
}
