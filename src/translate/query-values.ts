/** What does one parameter of a v1 list say? (Specification section 4; the types of the gateway.) */
import { Problem } from "../model/problem.ts";
import type { EnumTable, Filter } from "../model/resource.ts";
import { isTimestamp } from "./times.ts";

interface Parameter {
  readonly name: string;
  readonly value: string;
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const INT32 = /^[+-]?\d{1,10}$/;

/** Splits and decodes a query as form encoding says (`+` is a space). Throws `Problem` INVALID_FILTER. */
export function parseQuery(query: string): Parameter[] {
  if (query === "") return [];
  if (query.includes(";")) throw new Problem("INVALID_FILTER", "invalid query: a semicolon must be sent as %3B");
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      return { name: decode(name, name), value: equals < 0 ? "" : decode(part.slice(equals + 1), name) };
    });
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem("INVALID_FILTER", `invalid query: parameter ${name} is not valid percent-encoded UTF-8`);
  }
}

/** A 400 that names the parameter; never its value, which may be a secret sent to the wrong place. */
export function invalidFilter(name: string, what: string): Problem {
  return new Problem("INVALID_FILTER", `invalid filter: ${name} ${what}`, {
    fieldViolations: [{ field: name, description: what }],
  });
}

/** `raw` as v2 wants it. Throws `Problem` INVALID_FILTER. */
export function readScalar(filter: Filter & { use: "send" }, raw: string): string {
  switch (filter.kind) {
    case "string":
      return raw;
    case "bool":
      return readBool(filter.v1, raw) ? "true" : "false";
    case "int32":
      if (!INT32.test(raw) || Number(raw) < -2147483648 || Number(raw) > 2147483647)
        throw invalidFilter(filter.v1, "is not a 32-bit whole number");
      return String(Number(raw));
    case "timestamp":
      if (!isTimestamp(raw)) throw invalidFilter(filter.v1, "is not an RFC 3339 time");
      return raw;
    default:
      return filter.kind satisfies never;
  }
}

/** Booleans as the gateway reads them. Throws `Problem` INVALID_FILTER. */
export function readBool(name: string, raw: string): boolean {
  if (TRUE.has(raw)) return true;
  if (FALSE.has(raw)) return false;
  throw invalidFilter(name, "is not a boolean (true or false)");
}

/** v2's name for a v1 enum name, or for a v1 number in decimal; undefined for the zero value, which is no filter. Throws `Problem` INVALID_FILTER. */
export function readEnum(name: string, table: EnumTable, raw: string): string | undefined {
  const number = INT32.test(raw) ? Number(raw) : undefined;
  // Below zero: v1 has no number for it.
  const entry = table.values.find(
    ([v1, v1Number]) => v1 !== null && (v1 === raw || (v1Number >= 0 && v1Number === number)),
  );
  if (entry === undefined) throw invalidFilter(name, `has no such value; expected a name of ${table.name}`);
  const [v1, v1Number, v2] = entry;
  if (v1Number === 0) return undefined;
  if (v2 === null) throw invalidFilter(name, `value ${v1} cannot be asked of v2`);
  return v2;
}

/** v2 serves at most 200 a page (specification section 8) and 0 means its default, as in v1. Throws `Problem` INVALID_FILTER. */
export function readPageSize(name: string, raw: string): string {
  if (!/^\d{1,18}$/.test(raw)) throw invalidFilter(name, "is not a whole number");
  return String(Math.min(Number(raw), 200));
}
