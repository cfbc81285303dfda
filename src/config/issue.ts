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

/** A value as JSON, shortened to 60 characters; what JSON has no form for, and symbols by what they say, in plain words. */
export function show(value: unknown): string {
  if (value === undefined) return "undefined";
  const text = plainWords(value) ?? JSON.stringify(value, (_key, inner: unknown) => plainWords(inner) ?? inner);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function plainWords(value: unknown): string | undefined {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.description ?? "a symbol";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : undefined;
}

/** `message` of a leaf: `what; remedy`, or what is expected alone. */
export function wordsFor(message: string, value: unknown): Pick<Fault, "what" | "remedy"> {
  const [first = "", ...rest] = message.split("; ");
  return rest.length > 0 ? { what: first, remedy: rest.join("; ") } : { what: `got ${show(value)}`, remedy: first };
}
