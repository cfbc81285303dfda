/** Reads a v1 request body by rows and writes it in v2's spelling. */

import { JsonError } from "../json/error.ts";
import { hasMoreValues, type JsonNode, parseTree } from "../json/tree.ts";
import { Problem } from "../model/problem.ts";
import { type EnumTable, isUnpublished, type Row, type Value } from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";
import { type EnumLookup, enumLookup } from "./enums.ts";
import { checkScalar, describe, invalidBody, readInt64, textOf } from "./scalars.ts";

/** What happens to members in no row. */
export type UnknownPolicy = "drop" | "pass" | "refuse";

/** One member that the client sent. */
export interface SentField {
  readonly row: Row;
  /** JSON text of the value in v2's spelling. */
  readonly raw: string;
  /** The members of a message, for masks that name them one by one. */
  readonly nested: V2Body | undefined;
}

/** A v1 body in v2's spelling. Members that are null, server-set or an unknown enum name are not in `fields`: they count as left out. */
export interface V2Body {
  /** By v1 name. */
  readonly fields: ReadonlyMap<string, SentField>;
  /** Members in no row that are passed on as they came (policy `pass`). */
  readonly passed: readonly { readonly key: string; readonly raw: string }[];
}

/** What was found while reading. */
export interface BodyNotes {
  /** Dotted v1 paths of members in no row. */
  readonly unknown: string[];
  /** Dotted v1 paths of unknown enum names, which v1's decoder dropped as well. */
  readonly droppedEnums: string[];
  /** Dotted v1 paths of enum values that v1 does not know and v2 may. */
  readonly sentOn: string[];
  /** Dotted v1 paths of dropped members that v2 sets itself (mask class `never`). */
  readonly serverSet: string[];
}

interface BodyContext {
  readonly bytes: Uint8Array;
  readonly unknown: UnknownPolicy;
  readonly notes: BodyNotes;
  /** Lookup tables, built once: a list may hold many thousand messages. */
  readonly names: Map<readonly Row[], ReadonlyMap<string, Row>>;
  readonly v2Names: Map<readonly Row[], ReadonlySet<string>>;
  readonly enums: Map<EnumTable, EnumLookup>;
}

/**
 * Reads a v1 body by `rows`. An empty body is an empty message, as in v1's gateway.
 * Throws `Problem` INVALID_BODY for invalid JSON, a wrong type, a member given twice (in either spelling), or two members of one oneof.
 */
export function readBody(bytes: Uint8Array, rows: readonly Row[], unknown: UnknownPolicy, notes: BodyNotes): V2Body {
  if (isBlank(bytes)) return { fields: new Map(), passed: [] };
  const context = { bytes, unknown, notes, names: new Map(), v2Names: new Map(), enums: new Map() };
  return readMessage(parseBody(bytes), rows, "", context);
}

export function createBodyNotes(): BodyNotes {
  return { unknown: [], droppedEnums: [], sentOn: [], serverSet: [] };
}

/** JSON text in v2's spelling; `nested` for a single message. */
interface V2Value {
  readonly raw: string;
  readonly nested: V2Body | undefined;
}

/** `path`: the dotted v1 path of the message, empty at the top. */
function readMessage(node: JsonNode, rows: readonly Row[], path: string, context: BodyContext): V2Body {
  if (node.kind !== "object") throw invalidBody(path, `expected an object, found ${describe(node)}`);
  const byName = getOrCreate(context.names, rows, namesOf);
  const fields = new Map<string, SentField>();
  const seen = new Set<Row>();
  const oneofs = new Map<string, string>();
  const passed: { key: string; raw: string }[] = [];
  for (const { key, value } of node.members) {
    const at = path === "" ? key : `${path}.${key}`;
    const row = byName.get(key);
    if (row === undefined) {
      context.notes.unknown.push(at);
      if (context.unknown === "refuse") {
        throw invalidBody(at, "is not a field of this resource in v1 (unknownFields.request is set to refuse)", [
          "unknownFields.request",
        ]);
      }
      if (context.unknown === "pass" && !getOrCreate(context.v2Names, rows, v2NamesOf).has(key)) {
        passed.push({ key, raw: textOf(context.bytes, value) });
      }
      continue;
    }
    // Unknown to v1's decoder, which ignored whatever it was.
    if (isUnpublished(row)) continue;
    if (seen.has(row)) throw invalidBody(at, "is given twice (perhaps in both spellings)");
    seen.add(row);
    if (value.kind === "null") continue;
    const other = row.oneof === undefined ? undefined : oneofs.get(row.oneof);
    if (other !== undefined) throw invalidBody(at, `cannot be set together with ${other}`);
    if (row.oneof !== undefined) oneofs.set(row.oneof, row.v1);
    const sent = readField(row, value, at, context);
    if (sent !== undefined) fields.set(row.v1, sent);
  }
  return { fields, passed };
}

function readField(row: Row, value: JsonNode, at: string, context: BodyContext): SentField | undefined {
  // The type is checked even when the value is dropped, as v1's decoder did.
  const written = writeValue(row, value, at, context);
  if (row.access === "output" || row.v2 === null) return undefined;
  if (row.mask === "never") {
    context.notes.serverSet.push(at);
    return undefined;
  }
  return written === undefined ? undefined : { row, ...written };
}

/** Undefined for an enum name that is to be dropped. Throws `Problem` INVALID_BODY. */
function writeValue(value: Row | Value, node: JsonNode, at: string, context: BodyContext): V2Value | undefined {
  if (value.kind !== "map" && value.list === true) {
    if (node.kind !== "array") throw invalidBody(at, `expected an array, found ${describe(node)}`);
    const items = node.items.map((item, index) => {
      if (item.kind === "null") throw invalidBody(`${at}[${index}]`, "null is no element");
      return writeOne(value, item, `${at}[${index}]`, context);
    });
    return { raw: `[${items.flatMap((item) => (item === undefined ? [] : [item.raw])).join(",")}]`, nested: undefined };
  }
  return writeOne(value, node, at, context);
}

function writeOne(value: Row | Value, node: JsonNode, at: string, context: BodyContext): V2Value | undefined {
  switch (value.kind) {
    case "enum": {
      const raw = writeEnum(value.values, node, at, context);
      return raw === undefined ? undefined : { raw, nested: undefined };
    }
    case "message": {
      const nested = readMessage(node, value.rows, at, context);
      return { raw: bodyText(nested), nested };
    }
    case "map":
      return { raw: writeMap(value, node, at, context), nested: undefined };
    default:
      checkScalar(value.kind, node, at, context.bytes);
      return { raw: textOf(context.bytes, node), nested: undefined };
  }
}

/**
 * The JSON text of an enum value. A value that v1 knows, by name or number, becomes the v2 name: numbers differ between the versions.
 * One that only v2 can know is sent on. Undefined for another unknown name, which v1's decoder dropped as well.
 */
function writeEnum(table: EnumTable, node: JsonNode, at: string, context: BodyContext): string | undefined {
  const given =
    node.kind === "string" ? node.value : node.kind === "number" ? Number(textOf(context.bytes, node)) : undefined;
  if (given === undefined) throw invalidBody(at, `expected a name of ${table.name}, found ${describe(node)}`);
  const lookup = getOrCreate(context.enums, table, enumLookup);
  const entry = lookup.known(given);
  if (entry?.[2] === null) throw invalidBody(at, `${entry[0]} cannot be expressed in v2`);
  if (entry !== undefined) return JSON.stringify(entry[2]);
  const onlyInV2 = newValue(given, lookup);
  if (onlyInV2 !== undefined && (table.unknown === "drop" || typeof onlyInV2 === "string")) {
    context.notes.sentOn.push(at);
    return JSON.stringify(onlyInV2);
  }
  if (table.unknown === "refuse" || typeof given === "number") {
    throw invalidBody(at, `is not a ${table.name} that v1 knows`);
  }
  context.notes.droppedEnums.push(at);
  return undefined;
}

/** `given` in the form that v2 takes, if it is a value that v1 never had. Reads show some numbers as texts. */
function newValue(given: string | number, lookup: EnumLookup): string | number | undefined {
  if (typeof given === "string" && lookup.isNewName(given)) return given;
  const number = typeof given === "string" && /^\d{1,10}$/.test(given) ? Number(given) : given;
  return typeof number === "number" && lookup.isNewNumber(number) ? number : undefined;
}

/** Keys are the user's data. Scalar values are checked and copied, messages rewritten. */
function writeMap(
  { of, keys: kind }: Value & { kind: "map" },
  node: JsonNode,
  at: string,
  context: BodyContext,
): string {
  if (node.kind !== "object") throw invalidBody(at, `expected an object, found ${describe(node)}`);
  const keys = new Set<string | bigint>();
  const parts = node.members.map(({ key, value }) => {
    const meant = kind === "int64" ? readInt64(key) : key;
    if (meant === undefined) throw invalidBody(at, "has a key that is no whole number of 64 bits");
    if (keys.has(meant)) throw invalidBody(`${at}.${key}`, "is given twice");
    keys.add(meant);
    if (typeof of === "string") {
      checkScalar(of, value, `${at}.${key}`, context.bytes);
      return `${JSON.stringify(key)}:${textOf(context.bytes, value)}`;
    }
    const entry = `${at}.${key}`;
    const notes = createBodyNotes();
    const body = readMessage(value, of.rows, entry, { ...context, notes });
    addWithoutKey(notes, at, entry, context.notes);
    return `${JSON.stringify(key)}:${bodyText(body)}`;
  });
  return typeof of === "string" ? textOf(context.bytes, node) : `{${parts.join(",")}}`;
}

/** Adds paths without the key of the map, which is the user's data. */
function addWithoutKey(from: BodyNotes, at: string, entry: string, to: BodyNotes): void {
  for (const kind of ["unknown", "droppedEnums", "sentOn", "serverSet"] as const) {
    for (const path of from[kind]) to[kind].push(`${at}${path.slice(entry.length)}`);
  }
}

/** Names under which v2 would take an unknown member for a known one. */
function v2NamesOf(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ v2, v2Proto }) => (v2 === null ? [] : [v2, v2Proto ?? snakeCase(v2)])));
}

/** Rows by both accepted spellings. */
export function namesOf(rows: readonly Row[]): Map<string, Row> {
  const byName = new Map<string, Row>();
  for (const row of rows) {
    byName.set(row.v1, row);
    byName.set(row.v1Proto ?? snakeCase(row.v1), row);
  }
  return byName;
}

/** The JSON text of the body for v2. */
export function bodyText(body: V2Body): string {
  const parts: string[] = [];
  for (const { row, raw } of body.fields.values()) parts.push(`${JSON.stringify(row.v2)}:${raw}`);
  for (const { key, raw } of body.passed) parts.push(`${JSON.stringify(key)}:${raw}`);
  return `{${parts.join(",")}}`;
}

/** More than any record has, and few enough to be read in one turn of the event loop. */
export const MOST_VALUES = 20_000;

/** Throws `Problem` INVALID_BODY for invalid JSON, BODY_TOO_LARGE for too many values. */
export function parseBody(bytes: Uint8Array): JsonNode {
  if (hasMoreValues(bytes, MOST_VALUES)) throw tooManyValues("JSON values");
  try {
    return parseTree(bytes);
  } catch (error) {
    if (error instanceof JsonError)
      throw new Problem("INVALID_BODY", `invalid body: ${error.message}`, { options: [] });
    throw error;
  }
}

/** For a body, or a message, of more than `MOST_VALUES`. */
export function tooManyValues(what: "JSON values" | "fields"): Problem {
  return new Problem("BODY_TOO_LARGE", `the request body has more than ${MOST_VALUES} ${what}`, {
    metadata: { limit: String(MOST_VALUES), unit: "values" },
    options: [],
  });
}

/** v1's gateway took a missing or blank body for an empty message. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

function getOrCreate<Key, T>(map: Map<Key, T>, key: Key, make: (key: Key) => T): T {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const value = make(key);
  map.set(key, value);
  return value;
}
