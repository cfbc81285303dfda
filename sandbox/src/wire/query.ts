/** What do the query parameters of a call mean? (Field map section 0: both spellings, unknown ones ignored.) */
import type { Json, JsonObject } from "../json.ts";
import { gatewayRefusal, type Refusal, RpcCode } from "../refusal.ts";
import { decodeText, emptyObject } from "./decode.ts";
import type { Field, Message, Schema } from "./schema.ts";

export type QueryPairs = readonly (readonly [name: string, value: string])[];

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function bad(what: string): Refusal {
  return gatewayRefusal(RpcCode.INVALID_ARGUMENT, what);
}

/** The pairs of a raw query (without `?`). Throws 400 for a semicolon or broken percent-encoding. */
export function parseQuery(raw: string): QueryPairs {
  if (raw.includes(";")) throw bad("invalid semicolon separator in query");
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
    throw bad("invalid URL escape in query");
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
    if (field.label === "map" || field.type.kind === "message") throw bad(`${name} takes no single value`);
    const decoded = decodeParameter(schema, field, name, value);
    const before = holder[field.json];
    if (field.label === "list") holder[field.json] = [...(Array.isArray(before) ? before : []), decoded];
    else if (before !== undefined) throw bad(`${name} is given more than once`);
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
    throw bad(`${name}: ${JSON.stringify(value)} is no boolean`);
  }
  if (field.type.kind === "enum") {
    const table = schema.enumTable(field.type.ref);
    const number = table.byName.get(value) ?? (/^\d+$/.test(value) ? Number(value) : undefined);
    if (number === undefined || !table.byNumber.has(number)) throw bad(`${name}: ${JSON.stringify(value)} is no value`);
    return number;
  }
  return decodeText(field.type, value, name);
}
