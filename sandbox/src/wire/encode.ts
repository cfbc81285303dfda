/** Encodes messages as JSON. Zero values are written unless `EncodeOptions` says otherwise; unset messages are `null`. */
import { type Json, type JsonObject, member } from "../json.ts";
import type { Field, FieldType, Message, Schema } from "./schema.ts";

export interface EncodeOptions {
  /** Leaves out what is zero, as a marshaler without `EmitUnpopulated` does. */
  readonly omitZeros: boolean;
}

/** The JSON text of `value` as `message`; members in the order of the schema, map keys sorted. */
export function encodeMessage(schema: Schema, message: Message, value: JsonObject, options: EncodeOptions): string {
  let text = "";
  for (const field of message.fields) {
    const given = member(value, field.json);
    const part = encodeField(schema, field, given, options);
    if (part === undefined) continue;
    text += `${text === "" ? "" : ","}${field.keyText}${part}`;
  }
  return `{${text}}`;
}

function encodeField(
  schema: Schema,
  field: Field,
  value: Json | undefined,
  options: EncodeOptions,
): string | undefined {
  if (value === undefined || value === null) {
    if (options.omitZeros || (field.presence && !field.nullable)) return undefined;
    return field.nullable ? "null" : encodeZero(schema, field);
  }
  if (options.omitZeros && !field.presence && isZero(field, value)) return undefined;
  if (field.label === "list" && Array.isArray(value)) {
    return `[${value.map((item) => encodeValue(schema, field.type, item, options)).join(",")}]`;
  }
  if (field.label === "map") return encodeMap(schema, field, value as JsonObject, options);
  return encodeValue(schema, field.type, value, options);
}

function encodeMap(schema: Schema, field: Field, value: JsonObject, options: EncodeOptions): string {
  const keys = Object.keys(value);
  if (field.integerKeys) keys.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  else keys.sort();
  const parts = keys.map(
    (key) => `${JSON.stringify(key)}:${encodeValue(schema, field.type, value[key] ?? null, options)}`,
  );
  return `{${parts.join(",")}}`;
}

function encodeValue(schema: Schema, type: FieldType, value: Json, options: EncodeOptions): string {
  if (type.kind === "message") return encodeMessage(schema, schema.message(type.ref), value as JsonObject, options);
  if (type.kind === "enum") {
    // A number without a name stays a number, as stock marshalers write it.
    return JSON.stringify(schema.enumTable(type.ref).byNumber.get(Number(value)) ?? value);
  }
  // The same 32 bits read with and without a sign: what one face stores, the other may not be able to say.
  if (type.kind === "int32") return String(Number(value) | 0);
  if (type.kind === "uint32") return String(Number(value) >>> 0);
  return JSON.stringify(value);
}

function encodeZero(schema: Schema, field: Field): string {
  if (field.label === "list") return "[]";
  if (field.label === "map") return "{}";
  if (field.type.kind === "bool") return "false";
  if (field.type.kind === "int32" || field.type.kind === "uint32") return "0";
  if (field.type.kind === "int64") return '"0"';
  if (field.type.kind === "enum") return JSON.stringify(schema.enumTable(field.type.ref).byNumber.get(0) ?? 0);
  return '""';
}

/** True when `value` is what an absent field without presence means. */
export function isZero(field: Field, value: Json): boolean {
  if (field.label === "list") return Array.isArray(value) && value.length === 0;
  if (field.label === "map") return Object.keys(value as JsonObject).length === 0;
  return value === "" || value === false || value === 0 || (field.type.kind === "int64" && value === "0");
}

/** `value` in its one normal form: no member that only says zero. What is stored is always normal. */
export function normalMessage(schema: Schema, message: Message, value: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const field of message.fields) {
    const given = member(value, field.json);
    if (given === undefined || given === null || (!field.presence && isZero(field, given))) continue;
    out[field.json] = normalField(schema, field, given);
  }
  return out;
}

function normalField(schema: Schema, field: Field, value: Json): Json {
  if (field.type.kind !== "message") return value;
  const inner = schema.message(field.type.ref);
  if (Array.isArray(value)) return value.map((item) => normalMessage(schema, inner, item as JsonObject));
  if (field.label !== "map") return normalMessage(schema, inner, value as JsonObject);
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(entries.map(([key, item]) => [key, normalMessage(schema, inner, item as JsonObject)]));
}
