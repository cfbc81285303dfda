import { isJsonObject, type Json } from "../../../src/model/json.ts";

const absent: unique symbol = Symbol("absent");
type Maybe = Json | typeof absent;

/**
 * Every place where `left` and `right` differ, as `POINTER: left, right` (RFC 6901 pointers; the root is an empty one).
 * Absent, null and zero are three things; the order of members is none, the order of elements is one.
 */
export function jsonDifferences(left: Json, right: Json): string[] {
  const found: string[] = [];
  walk("", left, right, found);
  return found;
}

function walk(pointer: string, left: Maybe, right: Maybe, found: string[]): void {
  if (isJsonObject(left) && isJsonObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      walk(`${pointer}/${escaped(key)}`, own(left, key), own(right, key), found);
    }
    return;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      walk(`${pointer}/${index}`, left[index] ?? orAbsent(left, index), right[index] ?? orAbsent(right, index), found);
    }
    return;
  }
  if (left !== right) found.push(`${pointer}: ${show(left)}, ${show(right)}`);
}

function own(value: { [key: string]: Json }, key: string): Maybe {
  return Object.hasOwn(value, key) ? (value[key] as Json) : absent;
}

// An element that is null is there; one past the end is not.
function orAbsent(list: readonly Json[], index: number): Maybe {
  return index < list.length ? null : absent;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function show(value: Maybe): string {
  if (value === absent) return "(absent)";
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}...` : text;
}

/** True when an object of the text names a key twice, which `JSON.parse` would hide. `value` is what the text parses to. */
export function repeatsKey(text: string, value: Json): boolean {
  let named = 0;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)) if (token[1] !== undefined) named += 1;
  return named !== countKeys(value);
}

function countKeys(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + countKeys(element), 0);
  if (!isJsonObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, element) => sum + 1 + countKeys(element), 0);
}
