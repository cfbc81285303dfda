/** Which JSON Schema do the rows of a shape stand for, as v1 clients see them? (OpenAPI 3.1 is JSON Schema 2020-12.) */
import type { JsonObject } from "../../src/model/json.ts";
import type { EnumTable, Row, ScalarKind, Shape, Value } from "../../src/model/resource.ts";

/** `answer`: what carryover shows; `body`: what it takes. */
type Side = "answer" | "body";

const SCALARS: Readonly<Record<ScalarKind, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  // v1's own limit was higher; v2 has no room above this one, and a larger number is refused.
  uint32: { type: "integer", minimum: 0, maximum: 2_147_483_647 },
  int64: { type: "string", format: "int64", pattern: "^-?\\d+$", description: "A 64-bit integer, as text." },
  timestamp: { type: "string", format: "date-time" },
  duration: { type: "string", pattern: "^-?\\d+(\\.\\d{1,9})?s$", examples: ["86400s"] },
  bytes: { type: "string", contentEncoding: "base64" },
};

/** The schema of one v1 message that carryover answers. Members that are always there are required. */
export function answerSchema(shape: Shape): JsonObject {
  return messageSchema(shape.rows, "answer");
}

/** The schema of a v1 message that carryover takes: what is not required may be left out, `null` counts as left out. */
export function bodySchema(shape: Shape): JsonObject {
  return messageSchema(
    shape.rows.filter((row) => row.access !== "output"),
    "body",
  );
}

function messageSchema(rows: readonly Row[], side: Side): JsonObject {
  const properties: JsonObject = {};
  for (const row of rows) properties[row.v1] = rowSchema(row, side);
  const required = rows.filter((row) => isRequired(row, side)).map(({ v1 }) => v1);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}

/** In answers what is always there; in bodies what is refused without it. */
function isRequired(row: Row, side: Side): boolean {
  return side === "answer" ? row.presence !== "explicit" : row.access !== "output" && row.required === true;
}

function rowSchema(row: Row, side: Side): JsonObject {
  const schema = valueSchema(row, side);
  const oneof = row.oneof === undefined ? {} : { description: `At most one member of ${row.oneof} is set.` };
  if (side === "body" && isRequired(row, side)) return { ...filled(schema), ...oneof };
  return { ...(maySayNull(row, side) ? nullable(schema) : schema), ...oneof };
}

/** v1 shows an unset message, and so an unset time, as null; in requests null is a member left out. */
function maySayNull(row: Row, side: Side): boolean {
  if (side === "body") return true;
  if (row.presence === "explicit" || (row.kind !== "map" && row.list === true)) return false;
  return row.kind === "message" || row.kind === "timestamp" || row.kind === "duration";
}

/** What is required may not be its zero either. */
function filled(schema: JsonObject): JsonObject {
  return schema["type"] === "string" && schema["pattern"] === undefined ? { ...schema, minLength: 1 } : schema;
}

function nullable(schema: JsonObject): JsonObject {
  return typeof schema["type"] === "string" && schema["enum"] === undefined
    ? { ...schema, type: [schema["type"], "null"] }
    : { anyOf: [schema, { type: "null" }] };
}

function valueSchema(value: Value, side: Side): JsonObject {
  if (value.kind === "map") {
    const of = value.of;
    const values: JsonObject = typeof of === "string" ? SCALARS[of] : messageSchema(of.rows, side);
    const keys = value.keys === undefined ? {} : { propertyNames: { pattern: "^-?\\d+$" } };
    return { type: "object", ...keys, additionalProperties: values, description: "Keys are the user's data." };
  }
  const one = elementSchema(value, side);
  return value.list === true ? { type: "array", items: one } : one;
}

function elementSchema(value: Exclude<Value, { kind: "map" }>, side: Side): JsonObject {
  switch (value.kind) {
    case "enum":
      return enumSchema(value.values, side);
    case "message":
      return messageSchema(value.rows, side);
    default:
      return SCALARS[value.kind];
  }
}

/** In a query the zero is no filter, also where v2 has no word for it. */
export function queryEnumSchema(table: EnumTable): JsonObject {
  return enumSchema({ ...table, unknown: "drop" }, "body", true);
}

/** By name in answers; requests may give v1's number too, but capabilities, which were plain text in v1. */
function enumSchema(table: EnumTable, side: Side, withZero = false): JsonObject {
  const known = table.values.filter(([v1, number, v2]) => v1 !== null && (v2 !== null || (withZero && number === 0)));
  const names = known.flatMap(([v1]) => (v1 === null ? [] : [v1]));
  const named: JsonObject = { type: "string", enum: names };
  if (side === "answer" || table.unknown === "refuse") return named;
  return { anyOf: [named, { type: "integer", enum: known.map(([, number]) => number).filter((n) => n >= 0) }] };
}
