/** A JSON object as `JSON.parse` returns it. Keys come from outside: read with `Object.hasOwn`, or copy into a Map. */
export type JsonObject = { [key: string]: Json };
/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own member `key` of `value`; undefined if `value` is no object or has none. */
export function member(value: unknown, key: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Undefined for a text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Freezes `value` and everything in it, except typed arrays and Maps, which cannot be frozen. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof Map) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
