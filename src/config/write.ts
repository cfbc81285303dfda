/** Writes a configuration file with some options changed. */
import { Document, isMap, parseDocument } from "yaml";
import { gather, type Option, type OptionSources } from "./sources.ts";

/** One option and its value as the file has it. */
export interface OptionChange {
  readonly path: string;
  readonly value: string;
}

/**
 * The YAML text of file, variables and flags with `changes` applied. Comments and order of the file stay where its structure
 * allows it. The result names secret files and never holds their contents.
 */
export function writtenConfig(
  sources: OptionSources,
  options: readonly Option[],
  changes: readonly OptionChange[],
): string {
  const { tree } = gather(sources, options);
  for (const { path, value } of changes) setAt(tree, path.split("."), value);
  const document = edited(sources.file?.text, tree, options) ?? new Document(tree);
  return document.toString({ lineWidth: 120 });
}

/** The file's own document with every option as `tree` has it; undefined when it cannot be edited (aliases, odd shapes). */
function edited(text: string | undefined, tree: unknown, options: readonly Option[]): Document | undefined {
  if (text === undefined) return undefined;
  const document = parseDocument(text, { version: "1.2" });
  if (!isMap(document.contents)) return undefined;
  try {
    for (const { path } of options) {
      const keys = path.split(".");
      const value = at(tree, keys);
      if (value === undefined || sameContent(document.getIn(keys), value)) continue;
      emptyBranches(document, keys);
      document.setIn(keys, value);
    }
    return sameContent(document.toJS(), tree) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Removes empty keys on the way, which cannot hold a value. */
function emptyBranches(document: Document, keys: readonly string[]): void {
  for (let length = 1; length < keys.length; length++) {
    const branch = keys.slice(0, length);
    if (document.hasIn(branch) && document.getIn(branch) === null) document.deleteIn(branch);
  }
}

function at(tree: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (branch, key) =>
      typeof branch === "object" && branch !== null && Object.hasOwn(branch, key)
        ? (branch as Record<string, unknown>)[key]
        : undefined,
    tree,
  );
}

function setAt(tree: Record<string, unknown>, keys: readonly string[], value: string): void {
  const [key = "", ...rest] = keys;
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  const branch = at(tree, [key]);
  const inner = typeof branch === "object" && branch !== null ? (branch as Record<string, unknown>) : {};
  tree[key] = inner;
  setAt(inner, rest, value);
}

/** The same content, whatever the order of keys; keys without a value count as absent. */
function sameContent(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const entries = (value: object) => Object.entries(value).filter(([, inner]) => inner !== null);
  const [mine, yours] = [entries(one), new Map(entries(other))];
  return (
    mine.length === yours.size && mine.every(([key, value]) => yours.has(key) && sameContent(value, yours.get(key)))
  );
}
