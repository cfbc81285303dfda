/** What is a JSON value? */

/** A JSON object as `JSON.parse` gives it. Keys come from outside: read with `Object.hasOwn`, or copy into a Map. */
export type JsonObject = { [key: string]: Json };
/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own member `key` of `value`, or undefined when `value` is no object or has no such member of its own. */
export function member(value: unknown, key: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** What is made once and shared by all is never changed. */

/** `value`, with all that it holds, for reading only. Arrays of bytes cannot be frozen and maps have no frozen form: both are read-only by type. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof Map) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
