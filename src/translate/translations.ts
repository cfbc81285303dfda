/** Builds the translation of every operation: which calls to v2 serve it, and how their responses become v1's. */

import { parseTree } from "../json/tree.ts";
import type { ApiRequest } from "../model/http.ts";
import { v2PathOf } from "../model/request.ts";
import { type CompositeName, type Operation, publishedResource, type Resource } from "../model/resource.ts";
import { bodyText } from "./body.ts";
import { createCreateOrReplace, createReplaceWithSub } from "./composites/sub-resource-writes.ts";
import { createListMember, createLookUp, createSummarise } from "./composites/summarise.ts";
import { createBatch, createUpdateWrapped } from "./composites/update-wrapped.ts";
import { errorResponse, fieldNames, isSuccess, STATE_UNKNOWN } from "./error.ts";
import { bodilessHeaders, readHeaders, respondWith, writeHeaders } from "./headers.ts";
import { createList } from "./list.ts";
import {
  type Composite,
  type ResourceContext,
  readRequestBody,
  readRequestQuery,
  type Tools,
  type TranslateOptions,
  type Translation,
  type V1Request,
} from "./operation.ts";
import { invalidResponse, type Metadata, readUpstream, targetWith } from "./pages.ts";
import { createRecordRewriter } from "./record-rewriter.ts";
import { createReplace, createReplaceByCreate, mismatchHeader, verifyCreated } from "./replace.ts";

export type Translate = typeof createTranslations;

/**
 * The translation of every operation that has one. `resources`: all of the catalogue, for joins. Throws `Error` for a catalogue that
 * contradicts itself.
 */
export function createTranslations(
  resources: readonly Resource[],
  options: TranslateOptions,
): ReadonlyMap<Operation, Translation> {
  return translationsBy(translationOf, resources, options);
}

/** The same, each compiled by its first request: most processes are asked for a few operations only, and start sooner. */
export const createTranslationsOnUse: Translate = (resources, options) => {
  const onUse: typeof translationOf = (operation, parts) => {
    if (operation.kind === "native") return undefined;
    let made: Translation | undefined;
    return (request, tools) => {
      made ??= translationOf(operation, parts);
      if (made === undefined) throw new Error(`${parts.resource.name} ${operation.name}: it has no translation`);
      return made(request, tools);
    };
  };
  return translationsBy(onUse, resources, options);
};

function translationsBy(
  translate: typeof translationOf,
  resources: readonly Resource[],
  options: TranslateOptions,
): ReadonlyMap<Operation, Translation> {
  const shown = options.recordTimes === "published" ? resources.map(publishedResource) : resources;
  const byName = new Map(shown.map((resource) => [resource.name, resource]));
  const translations = new Map<Operation, Translation>();
  for (const [i, resource] of shown.entries()) {
    const parts: ResourceContext = { resource, resources: byName, options, names: fieldNames(resource) };
    for (const [j, operation] of resource.operations.entries()) {
      const translation = translate(operation, parts);
      const known = resources[i]?.operations[j];
      if (translation !== undefined && known !== undefined) translations.set(known, translation);
    }
  }
  return translations;
}

function translationOf(operation: Operation, parts: ResourceContext): Translation | undefined {
  if ("by" in operation && operation.by !== undefined) return COMPOSITES[operation.by](operation, parts);
  switch (operation.kind) {
    case "list":
      return createList(operation, parts);
    case "get":
      return createGet(operation, parts);
    case "create":
      return createCreate(operation, parts);
    case "update":
      return createReplace(operation, parts);
    case "delete":
      return createDelete(parts);
    case "call":
      return createCall(operation, parts);
    default:
      return undefined;
  }
}

/** Operations that take several calls to v2, or a body that rows alone cannot describe; the catalogue names them. */
const COMPOSITES: Readonly<Record<CompositeName, Composite>> = {
  "create-batch": createBatch,
  "create-or-replace": createCreateOrReplace,
  "list-member": createListMember,
  "look-up": createLookUp,
  "replace-by-create": createReplaceByCreate,
  "replace-with-sub": createReplaceWithSub,
  summarise: createSummarise,
  "update-wrapped": createUpdateWrapped,
};

/** One record by its uid. */
function createGet(operation: Operation & { readonly kind: "get" }, parts: ResourceContext): Translation {
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const target = v2PathOf(request.match, parts.options.version);
    const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
    if (response.status !== 200) return errorResponse(response, parts.names);
    return rewriter.respond(response, request.match.uid, request, tools);
  };
}

/** The parent is in the path; members that v2 sets itself are dropped from the body. */
function createCreate(operation: Operation & { readonly kind: "create" }, parts: ResourceContext): Translation {
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
function createDelete(parts: ResourceContext): Translation {
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
function createCall(operation: CallOperation, parts: ResourceContext): Translation {
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
