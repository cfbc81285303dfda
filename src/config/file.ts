/** What does the YAML file say, and on which line? */
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { excessOf, swollen } from "./bounds.ts";
import type { Fault } from "./fault.ts";
import { createKeys, repeatedKeys } from "./keys.ts";

/** A configuration file as a tree, and the way back from a path to a line. */
export interface ConfigFile {
  readonly tree: Record<string, unknown>;
  readonly faults: readonly Fault[];
  /** `name:line:column path` of the value at `path`, or of the key `key` in it; undefined when the file has none. */
  at(path: readonly PropertyKey[], key?: string): string | undefined;
  /** Line and column of the same, from 1. */
  placeOf(path: readonly PropertyKey[], key?: string): Place | undefined;
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What one kind of file expects. */
export interface FileHabits {
  /** A key with nothing behind it is left out, or shown as null. */
  readonly nulls: "drop" | "keep";
  /** What the file is a map of, and a key that it may begin with: for messages. */
  readonly of: string;
  readonly begin: string;
}

const OPTIONS: FileHabits = { nulls: "drop", of: "options", begin: "upstream:" };

/** A fresh tree each time: other sources are merged into it. */
function without(faults: readonly Fault[]): ConfigFile {
  return { tree: {}, faults, at: () => undefined, placeOf: () => undefined };
}

/** Reads YAML 1.2. Never throws: what is wrong is in `faults`, and then the tree is empty. */
export function readConfigFile(
  file: { readonly name: string; readonly text: string } | undefined,
  habits: FileHabits = OPTIONS,
): ConfigFile {
  if (file === undefined) return without([]);
  const excess = excessOf(file.text);
  if (excess !== undefined) {
    const { what, remedy, line, column } = excess;
    return without([{ where: `${file.name}:${line}:${column}`, what, remedy }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(file.text, {
    lineCounter: lines,
    prettyErrors: false,
    version: "1.2",
    logLevel: "error",
    uniqueKeys: false,
  });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file.name}:${line}:${col}`;
  };
  const faults = wrongYaml(document).map(([offset, what]) => ({
    where: place(offset),
    what,
    remedy: "write it as YAML 1.2",
  }));
  if (faults.length > 0) return without(faults);
  const value = toTree(document, habits);
  if (typeof value === "string") {
    const remedy = `begin with a key such as ${habits.begin}`;
    return without([{ where: place(0), what: value, remedy }]);
  }
  const keys = createKeys();
  const placeOf: ConfigFile["placeOf"] = (path, key) => {
    const node = keys.valueAt(document.contents, path);
    const start = startOf(key === undefined ? node : keys.keyOf(node, key));
    if (start === undefined) return undefined;
    const { line, col } = lines.linePos(start);
    return { line, column: col };
  };
  const at: ConfigFile["at"] = (path, key) => {
    const found = placeOf(path, key);
    const whole = key === undefined ? path : [...path, key];
    return found === undefined ? undefined : `${file.name}:${found.line}:${found.column} ${whole.join(".")}`;
  };
  return { tree: value, faults, at, placeOf };
}

/** What makes it no YAML, and at which offsets. */
function wrongYaml(document: Document): readonly (readonly [offset: number, what: string])[] {
  const { errors, warnings } = document;
  const said = [...errors, ...warnings].map(({ pos, message }) => [pos[0], message] as const);
  return said.concat(repeatedKeys(document).map((offset) => [offset, "Map keys must be unique"] as const));
}

/** The tree, or what is wrong with the whole. */
function toTree(document: Document, { nulls, of }: FileHabits): Record<string, unknown> | string {
  try {
    // Aliases become the same object wherever they stand, which costs nothing here; what reads the tree meets each anew.
    const value: unknown = document.toJS({ maxAliasCount: -1 }) ?? {};
    const excess = swollen(value);
    if (excess !== undefined) return excess;
    if (!isTree(value)) return `this is not a map of ${of}`;
    return nulls === "drop" ? withoutNulls(value) : value;
  } catch (error) {
    return error instanceof Error ? error.message : "this cannot be read";
  }
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/** A key with nothing behind it (all its children commented out) is as good as absent. */
function withoutNulls(tree: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(tree)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, isTree(value) ? withoutNulls(value) : value] as const);
  // fromEntries defines: a key called __proto__ stays a key, to be refused like any unknown one.
  return Object.fromEntries(kept);
}
