/** What does the YAML file say, and on which line? */
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { Fault } from "./fault.ts";

/** A configuration file as a tree, and the way back from a path to a line. */
export interface ConfigFile {
  readonly tree: Record<string, unknown>;
  readonly faults: readonly Fault[];
  /** `name:line:column path` of the value at `path`, or of the key `key` in it; undefined when the file has none. */
  at(path: readonly PropertyKey[], key?: string): string | undefined;
}

/** A fresh tree each time: other sources are merged into it. */
function without(faults: readonly Fault[]): ConfigFile {
  return { tree: {}, faults, at: () => undefined };
}

/** Reads YAML 1.2. Never throws: what is wrong is in `faults`, and then the tree is empty. Keys without a value are left out. */
export function readConfigFile(file: { readonly name: string; readonly text: string } | undefined): ConfigFile {
  if (file === undefined) return without([]);
  const lines = new LineCounter();
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false, version: "1.2" });
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
  const value = toTree(document);
  if (typeof value === "string") {
    const remedy = "begin with a key such as upstream:";
    return without([{ where: file.name, what: value, remedy }]);
  }
  const at = (path: readonly PropertyKey[], key?: string): string | undefined => {
    const node = path.length === 0 ? document.contents : document.getIn(path, true);
    const start = startOf(key === undefined ? node : keyNode(node, key));
    const whole = key === undefined ? path : [...path, key];
    return start === undefined ? undefined : `${place(start)} ${whole.join(".")}`;
  };
  return { tree: value, faults, at };
}

/** The tree, or what is wrong with the whole. */
function toTree(document: Document): Record<string, unknown> | string {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    return isTree(value) ? withoutNulls(value) : "this is not a map of options";
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
