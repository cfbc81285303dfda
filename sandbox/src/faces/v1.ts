/** Serves a resource in native v1: whole lists, create, full replace, delete. */
import { type Caller, type Context, needWrite } from "../context.ts";
import type { Action, Call, Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { createRecord, type Draft, type Resource, removeRecord, updateRecord, visible } from "../resources/resource.ts";
import type { StoredRecord } from "../store/collection.ts";
import { placeFilter, type RecordTest, type Selection } from "../store/select.ts";
import { decodeMessage, decodeQuery, type QueryPairs } from "../wire/decode.ts";
import { encodeMessage } from "../wire/encode.ts";
import { bodyText, parseFirst } from "../wire/parse.ts";

export type V1Operation = "list" | "create" | "update" | "delete";

/** How v1 writes a resource. */
export interface V1Write {
  /** The message of a request body. */
  readonly message: string;
  /** What a body means in stored terms; a full replace: what it leaves out is zero, what v1 cannot know stays. */
  readonly read: (given: JsonObject, before: StoredRecord | undefined, context: Context, caller: Caller) => Draft;
  /** The message and the content of an answer to a create or an update. */
  readonly answer: string;
  readonly view: (record: StoredRecord, context: Context) => JsonObject;
  /** True when a create replaces the record of the same name. `refuse` names a flag in the query that forbids it. */
  readonly upserts?: { readonly request?: string; readonly refuse?: string };
}

/** What is special about one resource in native v1. */
export interface V1Face {
  readonly resource: Resource;
  readonly domain: string;
  readonly collection: string;
  readonly operations: readonly V1Operation[];
  /** The message of list parameters. */
  readonly filter: string;
  /** The message of one item, and its content. */
  readonly item: string;
  readonly view: (record: StoredRecord, context: Context) => JsonObject;
  /** True when an item depends on other records. */
  readonly joins?: boolean;
  /** Filters other than by place. */
  readonly tests: (request: JsonObject, context: Context) => readonly RecordTest[];
  /** A list filter that names one record: its parameter. */
  readonly key: string;
  readonly write?: V1Write;
  /** What v1 calls fields that rules name in v2's words; for errors. */
  readonly names?: ReadonlyMap<string, string>;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map([["uid", "id"]]);

/** The routes of one resource. */
export function v1Routes(context: Context, face: V1Face): readonly Route[] {
  const at = { domain: face.domain, version: "v1", collection: face.collection, names: face.names ?? NO_NAMES };
  const tail = { ...at, shape: "tail" as const };
  const all: readonly (readonly [V1Operation, Route])[] = [
    ["list", { ...at, shape: "collection", method: "GET", prepare: (call) => list(context, face, call) }],
    ["create", { ...tail, method: "POST", prepare: (call) => create(context, face, call) }],
    ["update", { ...tail, method: "PUT", prepare: (call) => update(context, face, call) }],
    ["delete", { ...tail, method: "DELETE", prepare: (call) => remove(context, face, call) }],
  ];
  return all.filter(([operation]) => face.operations.includes(operation)).map(([, route]) => route);
}

/** The v1 JSON of a list item, made once per version of what it depends on. */
export function itemText(context: Context, face: V1Face, record: StoredRecord): string {
  const epoch = face.joins === true ? context.store.epoch() : 0;
  const cached = record.cached.v1;
  if (cached?.epoch === epoch) return cached.text;
  const text = textV1(context, face.item, face.view(record, context));
  record.cached.v1 = { epoch, text };
  return text;
}

/** The records that a v1 list request means. An id that is missing or out of sight means none. */
export function v1Selection(context: Context, face: V1Face, caller: Caller, request: JsonObject): Selection {
  const key = String(member(request, face.key) ?? "");
  const tests = [...face.tests(request, context)];
  if (key !== "") tests.push((record) => record.uid === key);
  const place = placeFilter(request);
  const narrowed = key !== "" && place.ids.length === 0 ? { ...place, ids: [key] } : place;
  return visible(context, face.resource, caller, narrowed, tests);
}

/** The records of a selection, in ascending order of uid. */
export function selected(context: Context, face: V1Face, selection: Selection): readonly StoredRecord[] {
  const collection = context.store.collection(face.resource.name);
  const { uids, from, to, test } = selection;
  const records = uids.slice(from, to).flatMap((uid) => collection.get(uid) ?? []);
  return test === undefined ? records : records.filter(test);
}

function list(context: Context, face: V1Face, call: Call): Action {
  const request = queryV1(context, face.filter, call.query);
  return (caller) => {
    const records = selected(context, face, v1Selection(context, face, caller, request));
    return `{"items":[${records.map((record) => itemText(context, face, record)).join(",")}]}`;
  };
}

/** The decoded message in a v1 body; an empty body is an empty message. */
export function decodeV1({ v1 }: Context, message: string, body: Uint8Array): JsonObject {
  const node = parseFirst(bodyText(body));
  return node === undefined ? {} : decodeMessage(v1, v1.message(message), node);
}

/** The message that the parameters of a v1 call fill. */
export function queryV1({ v1 }: Context, message: string, query: QueryPairs): JsonObject {
  return decodeQuery(v1, v1.message(message), query);
}

/** The JSON text of a v1 message; v1 never leaves zeros out. */
export function textV1({ v1 }: Context, message: string, value: JsonObject): string {
  return encodeMessage(v1, v1.message(message), value, { omitZeros: false });
}

function writeOf(face: V1Face): V1Write {
  if (face.write === undefined) throw new Error(`v1 ${face.collection} declares no write`);
  return face.write;
}

function answer(context: Context, write: V1Write, record: StoredRecord): string {
  return textV1(context, write.answer, write.view(record, context));
}

function create(context: Context, face: V1Face, call: Call): Action {
  const write = writeOf(face);
  const given = decodeV1(context, write.message, call.body);
  const { request, refuse = "" } = write.upserts ?? {};
  const flags = request === undefined ? {} : queryV1(context, request, call.query);
  const replaces = write.upserts !== undefined && member(flags, refuse) !== true;
  return (caller) => {
    needWrite(caller, call.tail);
    const draft = write.read(given, undefined, context, caller);
    const twin = replaces ? face.resource.twin?.(context, call.tail, draft.value) : undefined;
    if (twin === undefined)
      return answer(context, write, createRecord(context, face.resource, caller, call.tail, draft));
    const replace = (before: StoredRecord) => write.read(given, before, context, caller);
    return answer(context, write, updateRecord(context, face.resource, caller, twin.uid, replace));
  };
}

function update(context: Context, face: V1Face, call: Call): Action {
  const write = writeOf(face);
  const given = decodeV1(context, write.message, call.body);
  return (caller) => {
    const replace = (before: StoredRecord) => write.read(given, before, context, caller);
    return answer(context, write, updateRecord(context, face.resource, caller, call.tail, replace));
  };
}

function remove(context: Context, face: V1Face, call: Call): Action {
  return (caller) => {
    removeRecord(context, face.resource, caller, call.tail);
    return "{}";
  };
}

// Members on their way between the v1 shape and the stored shape of a record.

/** Members under new names: `[from, to]`; what is absent stays absent. */
export function pick(source: Json | undefined, names: readonly (readonly [from: string, to: string])[]): JsonObject {
  const out: JsonObject = {};
  for (const [from, to] of names) {
    const value = member(source, from);
    if (value !== undefined && value !== null) out[to] = value;
  }
  return out;
}

/** When a record was made and last changed, as v1 named it. What is shown of it, the schema says. */
export function times(source: Json | undefined): JsonObject {
  return pick(source, [
    ["createTime", "createdAt"],
    ["updateTime", "updatedAt"],
  ]);
}

/** Members under their own names. */
export function keep(source: Json | undefined, names: readonly string[]): JsonObject {
  return pick(
    source,
    names.map((name) => [name, name] as const),
  );
}
