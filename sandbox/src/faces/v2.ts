/** Serves a resource in v2: list, get, create, patch, delete. */
import { type Caller, type Context, needWrite } from "../context.ts";
import type { Action, Call, Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { gatewayRefusal, invalid, RpcCode } from "../refusal.ts";
import { createRecord, type Resource, readable, removeRecord, updateRecord, visible } from "../resources/resource.ts";
import { parseOrder, type StoredRecord } from "../store/collection.ts";
import { placeFilter, type RecordTest } from "../store/select.ts";
import { decodeMessage, decodeQuery, type QueryPairs } from "../wire/decode.ts";
import { encodeMessage } from "../wire/encode.ts";
import { applyMask, deriveMask, type MaskPath, parseMask } from "../wire/mask.ts";
import { bodyText, type JsonNode, parseFirst } from "../wire/parse.ts";
import { type Message, type Schema, V2 } from "../wire/schema.ts";
import { cutPage, type Page, pageRequest } from "./paging.ts";

export type V2Operation = "list" | "get" | "create" | "update" | "delete";

/** What is special about one resource in v2. */
export interface V2Face {
  readonly resource: Resource;
  readonly domain: string;
  /** The collection in paths, and the key of the records in a list. */
  readonly collection: string;
  readonly operations: readonly V2Operation[];
  /** The message of list parameters. */
  readonly listRequest: string;
  /** The default order in the words of `order_by`. */
  readonly order: string;
  /** Filters other than by place. */
  readonly tests: (request: JsonObject, context: Context) => readonly RecordTest[];
  /** What v2 demands beyond the rules of both faces; throws. `before` is undefined for a new record. */
  readonly demand?: (next: JsonObject, before: StoredRecord | undefined, context: Context, caller: Caller) => void;
  /** True when a create replaces the record of the same name. */
  readonly upserts?: boolean;
  /** The stored value as a PATCH sees it, when that is more than what is shown. */
  readonly editable?: (record: StoredRecord) => JsonObject;
  /** What a created record shows once. */
  readonly revealed?: (record: StoredRecord) => JsonObject;
  /** What a list shows of a record, when that is less than the record. */
  readonly listed?: (value: JsonObject) => JsonObject;
}

/** The decoded message in a body; an empty body is an empty message. */
export function decodeBody(
  message: Message,
  body: Uint8Array,
  schema: Schema = V2,
): { given: JsonObject; node: JsonNode | undefined } {
  const node = parseFirst(bodyText(body));
  return { given: node === undefined ? {} : decodeMessage(schema, message, node), node };
}

/** `given` without what only the server sets. */
export function writableOnly(message: Message, given: JsonObject): JsonObject {
  const kept = message.fields.filter((field) => !field.readonly && member(given, field.json) !== undefined);
  return Object.fromEntries(kept.map((field) => [field.json, member(given, field.json) ?? null]));
}

/** The v2 JSON of a record, made once per version of what it depends on. */
export function recordText(context: Context, face: V2Face, record: StoredRecord, inList: boolean): string {
  const message = V2.message(face.resource.type);
  const epoch = face.resource.joined === undefined ? 0 : context.store.epoch();
  const cacheable = inList || face.listed === undefined;
  const cached = record.cached.v2;
  if (cacheable && cached?.epoch === epoch) return cached.text;
  const whole = face.resource.joined?.(context, record) ?? record.value;
  const shown = inList ? (face.listed?.(whole) ?? whole) : whole;
  const text = encodeMessage(context.v2, message, shown, { omitZeros: context.settings.omitZeros });
  if (cacheable) record.cached.v2 = { epoch, text };
  return text;
}

/** The routes of one resource. */
export function v2Routes(context: Context, face: V2Face): readonly Route[] {
  const at = { domain: face.domain, version: context.settings.version, collection: face.collection };
  const tail = { ...at, shape: "tail" as const };
  const all: readonly (readonly [V2Operation, Route])[] = [
    ["list", { ...at, shape: "collection", method: "GET", prepare: (call) => list(context, face, call) }],
    ["get", { ...tail, method: "GET", prepare: (call) => get(context, face, call) }],
    ["create", { ...tail, method: "POST", prepare: (call) => create(context, face, call) }],
    ["update", { ...tail, method: "PATCH", prepare: (call) => update(context, face, call) }],
    ["delete", { ...tail, method: "DELETE", prepare: (call) => remove(context, face, call) }],
  ];
  return all.filter(([operation]) => face.operations.includes(operation)).map(([, route]) => route);
}

function list(context: Context, face: V2Face, call: Call): Action {
  const request = decodeQuery(context.v2, V2.message(face.listRequest), call.query);
  return (caller) => {
    const asked = String(member(request, "orderBy") ?? "");
    const order = parseOrder(asked === "" ? (context.settings.order ?? face.order) : asked);
    const paging = pageRequest(request, order, context.settings.largePages);
    const tests = face.tests(request, context);
    const selection = visible(context, face.resource, caller, placeFilter(request), tests);
    const page = cutPage(context, context.store.collection(face.resource.name), selection, paging);
    return listText(context, face, page);
  };
}

function listText(context: Context, face: V2Face, page: Page): string {
  const { omitZeros, omitTotalCount } = context.settings;
  const records = page.records.map((record) => recordText(context, face, record, true)).join(",");
  const parts: string[] = [];
  if (!omitZeros || records !== "") parts.push(`"${face.collection}":[${records}]`);
  if (!omitZeros || page.nextToken !== "") parts.push(`"nextPageToken":${JSON.stringify(page.nextToken)}`);
  if (!omitTotalCount) parts.push(`"totalCount":"${page.total}"`);
  if (!omitZeros || page.skipped !== 0) parts.push(`"skipped":${page.skipped}`);
  return `{${parts.join(",")}}`;
}

function get(context: Context, face: V2Face, call: Call): Action {
  return (caller) => recordText(context, face, readable(context, face.resource, caller, call.tail), false);
}

function create(context: Context, face: V2Face, call: Call): Action {
  const message = V2.message(face.resource.type);
  const { given } = decodeBody(message, call.body, context.v2);
  return (caller) => {
    const value = writableOnly(message, given);
    needWrite(caller, call.tail);
    face.demand?.(value, undefined, context, caller);
    const twin = face.upserts === true ? face.resource.twin?.(context, call.tail, value) : undefined;
    const record =
      twin === undefined
        ? createRecord(context, face.resource, caller, call.tail, { value, extra: {} })
        : updateRecord(context, face.resource, caller, twin.uid, (before) => ({ value, extra: before.extra }));
    if (face.revealed === undefined) return recordText(context, face, record, false);
    const whole = face.resource.joined?.(context, record) ?? record.value;
    const shown = { ...whole, ...face.revealed(record) };
    return encodeMessage(context.v2, message, shown, { omitZeros: context.settings.omitZeros });
  };
}

function update(context: Context, face: V2Face, call: Call): Action {
  const message = V2.message(face.resource.type);
  const { given, node } = decodeBody(message, call.body, context.v2);
  const paths = patchPaths(context, message, node, call.query);
  return (caller) => {
    const record = updateRecord(context, face.resource, caller, call.tail, (before) => {
      const value = applyMask(V2, message, face.editable?.(before) ?? before.value, given, paths());
      face.demand?.(value, before, context, caller);
      return { value, extra: before.extra };
    });
    return recordText(context, face, record, false);
  };
}

/**
 * The paths that a PATCH may change: those of `updateMask`, else those that the keys of the body stand for.
 * Decoding faults are thrown at once; faults of the mask itself when the result is called, after authentication.
 */
export function patchPaths(
  context: Context,
  message: Message,
  body: JsonNode | undefined,
  query: QueryPairs,
): () => readonly MaskPath[] {
  const text = maskParameter(query);
  const derived = () => deriveMask(V2, message, body);
  // An unknown key is refused here even when a mask is named: the gateway derives one before it reads the query.
  const keyed = body?.kind === "object" && body.members.length > 0 ? derived() : undefined;
  return () => {
    const paths = text === undefined ? (keyed ?? derived()) : named(context, message, text);
    return paths.filter((path) => !path.some((field) => field.readonly));
  };
}

function maskParameter(query: QueryPairs): string | undefined {
  const found = query.filter(([name]) => name === "updateMask" || name === "update_mask");
  if (found.length > 1) throw gatewayRefusal(RpcCode.INVALID_ARGUMENT, "update_mask is given more than once");
  return found[0]?.[1];
}

function named(context: Context, message: Message, text: string): readonly MaskPath[] {
  const paths = parseMask(V2, message, text, context.settings.maskSpelling);
  const path = paths.find((one) => one.some((field) => field.readonly));
  if (path !== undefined) {
    throw invalid("update_mask", `${path.map((field) => field.proto).join(".")} is set by the server`);
  }
  return paths;
}

function remove(context: Context, face: V2Face, call: Call): Action {
  return (caller) => {
    removeRecord(context, face.resource, caller, call.tail);
    return context.settings.emptyDeletes ? "" : "{}";
  };
}
