/** What does one parameter of a v1 list say? (Specification section 4; the types of the gateway.) */
import { Problem } from "../model/problem.ts";
import type { EnumTable, Filter } from "../model/resource.ts";
import { isTimestamp } from "./times.ts";

export interface Parameter {
  readonly name: string;
  readonly value: string;
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const INT32 = /^[+-]?\d{1,10}$/;
const INTEGER = /^[+-]?\d{1,40}$/;
const INT64_END = 2n ** 63n;
const INT32_MIN = -(2n ** 31n);
const LONGEST_NAME = 100;
const MAX_PAGE = 200n;

/**
 * Splits and decodes a query as form encoding says (`+` is a space). Throws `Problem` INVALID_FILTER.
 * A value is taken whole: the stock gateway of both versions makes one element of each repeat of a repeated parameter and
 * splits nothing at commas (masks alone excepted), so `ids=a,b` asks for the one uid `a,b`, in v1 as here.
 */
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
    throw new Problem("INVALID_FILTER", `invalid query: parameter ${shown(name)} is not valid percent-encoded UTF-8`);
  }
}

/** Names in no filter are as long as clients make them. */
function shown(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/**
 * The name that a parameter means, and its values: of `name[key]=value` the stock gateway makes two values of `name`. (Its
 * pattern, `^(.*)\[(.*)\]$`, would be quadratic here: a query of nothing but brackets would hold up everybody.)
 */
export function unfold({ name, value }: Parameter): { readonly name: string; readonly values: readonly string[] } {
  const open = name.endsWith("]") && !name.includes("\n") ? name.lastIndexOf("[") : -1;
  return open < 0
    ? { name, values: [value] }
    : { name: name.slice(0, open), values: [name.slice(open + 1, -1), value] };
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

/**
 * v2 serves at most 200 a page (specification section 8) and 0 means its default, as in v1, which took any 64-bit number.
 * A negative one is the platform's to judge, as far as its 32 bits hold it. Throws `Problem` INVALID_FILTER.
 */
export function readPageSize(name: string, raw: string): string {
  const size = INTEGER.test(raw) ? BigInt(raw.replace("+", "")) : INT64_END;
  if (size < -INT64_END || size >= INT64_END) throw invalidFilter(name, "is not a whole number of records");
  return String(size > MAX_PAGE ? MAX_PAGE : size < INT32_MIN ? INT32_MIN : size);
}
