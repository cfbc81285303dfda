/** What does a program say that gives its configuration as an object? (An object can hold more than any file.) */
import type { ConfigFile } from "./file.ts";
import { show } from "./issue.ts";

/** Deeper than any option stands. */
const MAX_DEPTH = 16;

/** A tree that is there already; it is never written to. */
export function readObject(given: unknown): ConfigFile {
  const nowhere = { at: () => undefined, placeOf: () => undefined };
  const tree = asInFile(given, []);
  if (typeof tree === "object" && tree !== null && !Array.isArray(tree))
    return { ...nowhere, tree: tree as Record<string, unknown>, faults: [] };
  const fault = { where: "config", what: `got ${show(tree)}`, remedy: "give an object of options" };
  return { ...nowhere, tree: {}, faults: [fault] };
}

/**
 * A copy in which a symbol that says what it was stands for each thing that no file could hold: no option takes a symbol, so
 * the schema refuses it where it stands. `around` is what `value` stands in.
 */
export function asInFile(value: unknown, around: readonly object[]): unknown {
  if (typeof value === "function" || typeof value === "symbol") return Symbol(`a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) return Symbol("an object within itself");
  if (around.length === MAX_DEPTH) return Symbol("a tree that is too deep");
  const inner = (child: unknown) => asInFile(child, [...around, value]);
  if (Array.isArray(value)) return Array.from(value, inner);
  if (!isPlain(value)) return Symbol(`an instance of ${nameOf(value)}`);
  // fromEntries defines: a key called __proto__ stays a key, to be refused like any unknown one.
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, inner(child)]));
}

/** Of braces or JSON, in whichever realm, or without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  const { name } = value.constructor ?? {};
  return typeof name === "string" && name !== "" ? name : "a class";
}
