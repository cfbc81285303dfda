/** Decodes the body and the query of a request into a message: protobuf JSON as the usual gateways read it. */
import type { Json, JsonObject } from "../json.ts";
import { gatewayRefusal, type Refusal, RpcCode } from "../refusal.ts";
import type { JsonNode } from "./parse.ts";
import { normalBase64, normalDuration, normalInteger, normalTime } from "./scalars.ts";
import type { Field, FieldType, Message, Schema } from "./schema.ts";

/** An object without a prototype: its keys may come from outside. */
export function emptyObject(): JsonObject {
  return Object.create(null) as JsonObject;
}

function bad(where: string, what: string): Refusal {
  return gatewayRefusal(RpcCode.INVALID_ARGUMENT, `invalid value for ${where}: ${what}`);
}

/**
 * The message in `node`: keyed by JSON names, times and integers in their normal text, enums as numbers.
 * Only what was given is there (`null` counts as not given). Unknown keys and unknown enum names are left out in silence.
 */
export function decodeMessage(schema: Schema, message: Message, node: JsonNode): JsonObject {
  if (node.kind !== "object") throw bad(message.name, "an object is expected");
  const out = emptyObject();
  const seen = new Set<string>();
  for (const [key, value] of node.members) {
    const field = message.byKey.get(key);
    if (field === undefined || field.shownOnly) continue;
    if (seen.has(field.proto)) throw bad(message.name, `${key} is given twice`);
    seen.add(field.proto);
    if (value.kind === "null") continue;
    if (field.oneof !== undefined) {
      if (seen.has(`oneof ${field.oneof}`)) throw bad(message.name, `${field.oneof} is already set`);
      seen.add(`oneof ${field.oneof}`);
    }
    const decoded = decodeField(schema, message, field, value);
    if (decoded !== undefined) out[field.json] = decoded;
  }
  return out;
}

function decodeField(schema: Schema, message: Message, field: Field, node: JsonNode): Json | undefined {
  const where = `${message.name}.${field.json}`;
  if (field.label === "list") {
    if (node.kind !== "array") throw bad(where, "an array is expected");
    const items = node.items.map((item) => decodeValue(schema, field.type, item, where));
    return items.filter((item) => item !== undefined);
  }
  if (field.label === "map") return decodeMap(schema, field, node, where);
  return decodeValue(schema, field.type, node, where);
}

function decodeMap(schema: Schema, field: Field, node: JsonNode, where: string): JsonObject {
  if (node.kind !== "object") throw bad(where, "an object is expected");
  const out = emptyObject();
  for (const [key, item] of node.members) {
    const name = field.integerKeys ? normalInteger(key, "int64") : key;
    if (name === undefined) throw bad(where, "a key is no integer");
    if (Object.hasOwn(out, name)) throw bad(where, `${name} is given twice`);
    const value = decodeValue(schema, field.type, item, where);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function decodeValue(schema: Schema, type: FieldType, node: JsonNode, where: string): Json | undefined {
  if (type.kind === "message") return decodeMessage(schema, schema.message(type.ref), node);
  if (type.kind === "enum") return decodeEnum(schema, type, node, where);
  if (type.kind === "bool") {
    if (node.kind !== "bool") throw bad(where, "true or false is expected");
    return node.value;
  }
  if (type.kind === "int32" || type.kind === "uint32" || type.kind === "int64") {
    if (node.kind !== "number" && node.kind !== "string") throw bad(where, "an integer is expected");
    return decodeText(type, node.text, where);
  }
  if (node.kind !== "string") throw bad(where, "a string is expected");
  return decodeText(type, node.text, where);
}

/** A scalar from its text. Throws when the text does not fit. */
export function decodeText(type: FieldType, text: string, where: string): Json {
  if (type.kind === "string" || type.kind === "mask") return text;
  const normal = normalText(type, text);
  if (normal === undefined) throw bad(where, `${JSON.stringify(text)} is no ${type.kind}`);
  return type.kind === "int32" || type.kind === "uint32" ? Number(normal) : normal;
}

function normalText(type: FieldType, text: string): string | undefined {
  if (type.kind === "timestamp") return normalTime(text);
  if (type.kind === "duration") return normalDuration(text);
  if (type.kind === "bytes") return normalBase64(text);
  if (type.kind === "int32" || type.kind === "uint32" || type.kind === "int64") return normalInteger(text, type.kind);
  return undefined;
}

function decodeEnum(schema: Schema, type: FieldType, node: JsonNode, where: string): number | undefined {
  if (node.kind === "string") return schema.enumTable(type.ref).byName.get(node.text);
  const number = node.kind === "number" ? normalInteger(node.text, "int32") : undefined;
  if (number === undefined) throw bad(where, "the name or number of an enum value is expected");
  return Number(number);
}

// Query parameters: both spellings of a name count, unknown names are ignored.

export type QueryPairs = readonly (readonly [name: string, value: string])[];

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function badQuery(what: string): Refusal {
  return gatewayRefusal(RpcCode.INVALID_ARGUMENT, what);
}

/** The pairs of a raw query (without `?`). Throws 400 for a semicolon or broken percent-encoding. */
export function parseQuery(raw: string): QueryPairs {
  if (raw.includes(";")) throw badQuery("invalid semicolon separator in query");
  const parts = raw.split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const cut = part.indexOf("=");
    return cut < 0 ? [decodePart(part), ""] : [decodePart(part.slice(0, cut)), decodePart(part.slice(cut + 1))];
  });
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    throw badQuery("invalid URL escape in query");
  }
}

/**
 * The request message that `pairs` fill: keyed like a decoded body. Unknown parameters are ignored.
 * Throws 400 for a scalar given twice, a message given as a value, and values that do not fit.
 */
export function decodeQuery(schema: Schema, message: Message, pairs: QueryPairs): JsonObject {
  const out = emptyObject();
  for (const [name, value] of pairs) {
    const found = locate(schema, message, name, out);
    if (found === undefined) continue;
    const { field, holder } = found;
    if (field.label === "map" || field.type.kind === "message") throw badQuery(`${name} takes no single value`);
    const decoded = decodeParameter(schema, field, name, value);
    const before = holder[field.json];
    if (field.label === "list") holder[field.json] = [...(Array.isArray(before) ? before : []), decoded];
    else if (before !== undefined) throw badQuery(`${name} is given more than once`);
    else holder[field.json] = decoded;
  }
  return out;
}

/** The field that a dotted name means, and the object of `root` that holds it; undefined when there is none. */
function locate(
  schema: Schema,
  root: Message,
  name: string,
  out: JsonObject,
): { field: Field; holder: JsonObject } | undefined {
  let message = root;
  let holder = out;
  const path = name.split(".");
  for (const [depth, key] of path.entries()) {
    const field = message.byKey.get(key);
    if (field === undefined) return undefined;
    if (depth === path.length - 1) return { field, holder };
    if (field.label !== "one" || field.type.kind !== "message") return undefined;
    message = schema.message(field.type.ref);
    const inner = (holder[field.json] ?? emptyObject()) as JsonObject;
    holder[field.json] = inner;
    holder = inner;
  }
  return undefined;
}

function decodeParameter(schema: Schema, field: Field, name: string, value: string): Json {
  if (field.type.kind === "bool") {
    if (TRUE.has(value)) return true;
    if (FALSE.has(value)) return false;
    throw badQuery(`${name}: ${JSON.stringify(value)} is no boolean`);
  }
  if (field.type.kind === "enum") {
    const table = schema.enumTable(field.type.ref);
    const number = table.byName.get(value) ?? (/^\d+$/.test(value) ? Number(value) : undefined);
    if (number === undefined || !table.byNumber.has(number))
      throw badQuery(`${name}: ${JSON.stringify(value)} is no value`);
    return number;
  }
  return decodeText(field.type, value, name);
}
