/** What message does a body or a query carry? (Protobuf JSON as stock gateways read it; design: fields in requests.) */
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
    if (field === undefined) continue;
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
  if (type.kind === "string") return text;
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
