/** JSON values. */

/** A JSON object as `JSON.parse` returns it. Keys come from outside: read them with `member`. */
export type JsonObject = { [key: string]: Json };
/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** The own member `key` of `value`; undefined when `value` is not an object or has no such member. */
export function member(value: unknown, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}
