/** What does the YAML file say, and on which line? */
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { Fault } from "./fault.ts";

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
  const lines = new LineCounter();
  const document = parseDocument(file.text, {
    lineCounter: lines,
    prettyErrors: false,
    version: "1.2",
    logLevel: "error",
  });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file.name}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings].map((error) => ({
    where: place(error.pos[0]),
    what: error.message,
    remedy: "write it as YAML 1.2",
  }));
  if (faults.length > 0) return without(faults);
  const value = toTree(document, habits);
  if (typeof value === "string") {
    const remedy = `begin with a key such as ${habits.begin}`;
    return without([{ where: place(0), what: value, remedy }]);
  }
  const placeOf: ConfigFile["placeOf"] = (path, key) => {
    const node = path.length === 0 ? document.contents : document.getIn(path, true);
    const start = startOf(key === undefined ? node : keyNode(node, key));
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

/** The tree, or what is wrong with the whole. */
function toTree(document: Document, { nulls, of }: FileHabits): Record<string, unknown> | string {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
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

function keyNode(node: unknown, key: string): unknown {
  if (!isMap(node)) return undefined;
  return node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)?.key;
}

/** A key with nothing behind it (all its children commented out) is as good as absent. */
function withoutNulls(tree: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(tree)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, isTree(value) ? withoutNulls(value) : value] as const);
  // fromEntries defines: a key called __proto__ stays a key, to be refused like any unknown one.
  return Object.fromEntries(kept);
}
