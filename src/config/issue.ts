/** In which words is it told that a value is not what it should be? (For whoever turns what the schema found into faults.) */
import type { Fault } from "./fault.ts";

/** What stands at `path` of a tree; undefined when nothing does. Inherited members are nothing. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A value as JSON, shortened to 60 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** `message` of a leaf: `what; remedy`, or what is expected alone. */
export function wordsFor(message: string, value: unknown): Pick<Fault, "what" | "remedy"> {
  const [first = "", ...rest] = message.split("; ");
  return rest.length > 0 ? { what: first, remedy: rest.join("; ") } : { what: `got ${show(value)}`, remedy: first };
}
