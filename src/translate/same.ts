/** Do two v2 values say the same, although one may leave zeros out? (Design: updates, the echo check.) */
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import type { Row, Value } from "../model/resource.ts";

/**
 * True for what an unset v2 member looks like: absent, null, the zero of its kind, a message of nothing but zeros.
 * A map with a key in it is never zero, whatever stands behind the key.
 */
export function isZero(value: Json | undefined, as?: Value): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    // Names alone: a map may have a hundred thousand of them, and is mostly told by the first.
    const names = Object.keys(value);
    return as?.kind === "map" ? names.length === 0 : names.every((name) => isZero(value[name], heldBy(as, name)));
  }
  if (isInteger(as)) return Number(value) === 0;
  return as?.kind === "enum" && as.values.values.some(([, number, v2]) => number === 0 && v2 === value);
}

/** Whether two v2 values of `row` are equal. `asSets`: the order and repeats of list elements do not matter. */
export function isSame(a: Json | undefined, b: Json | undefined, row: Row, asSets: boolean): boolean {
  return sameValue(a, b, row, asSets);
}

function sameValue(a: Json | undefined, b: Json | undefined, as: Value | undefined, asSets: boolean): boolean {
  const zero = isZero(a, as);
  if (zero || isZero(b, as)) return zero === isZero(b, as);
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b, as, asSets);
  if (isJsonObject(a) && isJsonObject(b)) return sameMembers(a, b, as, asSets);
  if (typeof a === "string" && typeof b === "string" && as?.kind === "timestamp")
    return a === b || Date.parse(a) === Date.parse(b);
  if (isInteger(as) && isText(a) && isText(b) && Number.isSafeInteger(Number(a))) return Number(a) === Number(b);
  return isText(a) && isText(b) ? String(a) === String(b) : a === b;
}

/** A message may leave zeros out; the keys of a map are data, and must all be there. */
function sameMembers(a: JsonObject, b: JsonObject, as: Value | undefined, asSets: boolean): boolean {
  const [keys, others] = [Object.keys(a), Object.keys(b).filter((key) => !Object.hasOwn(a, key))];
  if (as?.kind === "map" && (others.length > 0 || !keys.every((key) => Object.hasOwn(b, key)))) return false;
  return (
    keys.every((key) => sameValue(a[key], own(b, key), heldBy(as, key), asSets)) &&
    others.every((key) => sameValue(undefined, b[key], heldBy(as, key), asSets))
  );
}

/** What the member `key` of a value of kind `as` holds, where that is known. */
function heldBy(as: Value | undefined, key: string): Value | undefined {
  if (as?.kind === "message") return as.rows.find((row) => row.v2 === key);
  return as?.kind === "map" && typeof as.of === "object" ? { kind: "message", rows: as.of.rows } : undefined;
}

function sameLists(a: Json[], b: Json[], as: Value | undefined, asSets: boolean): boolean {
  if (!asSets) return a.length === b.length && a.every((item, index) => sameValue(item, b[index], as, asSets));
  // Long lists are lists of names: those are told apart without comparing each with each.
  if (as?.kind === "string" || as?.kind === "enum") return sameNames(new Set(a), new Set(b));
  const within = (items: Json[], others: Json[]) =>
    items.every((item) => others.some((other) => sameValue(item, other, as, asSets)));
  return within(a, b) && within(b, a);
}

function sameNames(a: ReadonlySet<Json>, b: ReadonlySet<Json>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function isInteger(as: Value | undefined): boolean {
  return as?.kind === "int32" || as?.kind === "uint32" || as?.kind === "int64";
}

/** 64-bit integers come as strings, but a number says the same. */
function isText(value: Json | undefined): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
