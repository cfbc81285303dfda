/** Do two v2 values say the same, although one may leave zeros out? (Design: updates, the echo check.) */
import { isJsonObject, type Json } from "../model/json.ts";
import type { Row, Value } from "../model/resource.ts";

/** True for what an unset v2 member looks like: absent, null, the zero of its kind. */
export function isZero(value: Json | undefined, as?: Value): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  if (as === undefined) return false;
  if (as.kind === "int64") return value === "0";
  return as.kind === "enum" && as.values.values.some(([, number, v2]) => number === 0 && v2 === value);
}

/** Whether two v2 values of `row` are equal. `asSets`: the order and repeats of list elements do not matter. */
export function isSame(a: Json | undefined, b: Json | undefined, row: Row, asSets: boolean): boolean {
  return sameValue(a, b, row, asSets);
}

function sameValue(a: Json | undefined, b: Json | undefined, as: Value | undefined, asSets: boolean): boolean {
  const zero = isZero(a, as);
  if (zero || isZero(b, as)) return zero === isZero(b, as);
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b, as, asSets);
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    const rows = as?.kind === "message" ? as.rows : [];
    return [...keys].every((key) =>
      sameValue(
        own(a, key),
        own(b, key),
        rows.find((row) => row.v2 === key),
        asSets,
      ),
    );
  }
  if (as?.kind === "timestamp" && typeof a === "string" && typeof b === "string")
    return Date.parse(a) === Date.parse(b);
  return isText(a) && isText(b) ? String(a) === String(b) : a === b;
}

function sameLists(a: Json[], b: Json[], as: Value | undefined, asSets: boolean): boolean {
  if (!asSets) return a.length === b.length && a.every((item, index) => sameValue(item, b[index], as, asSets));
  const within = (items: Json[], others: Json[]) =>
    items.every((item) => others.some((other) => sameValue(item, other, as, asSets)));
  return within(a, b) && within(b, a);
}

/** 64-bit integers come as strings, but a number says the same. */
function isText(value: Json | undefined): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function own(object: { [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
