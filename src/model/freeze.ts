/** What is made once and shared by all is never changed. */

/** `value`, with all that it holds, for reading only. Arrays of bytes cannot be frozen and maps have no frozen form: both are read-only by type. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof Map) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
