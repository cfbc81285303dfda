/** Reads a YAML file and finds the line of each value. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { ConfigFault } from "./faults.ts";

/** A configuration file as a tree, with the location of each value. */
export interface ConfigFile {
  readonly tree: Record<string, unknown>;
  readonly faults: readonly ConfigFault[];
  /** `name:line:column path` of the value at `path`, or of the key `key` in it; undefined when the file has none. */
  at(path: readonly PropertyKey[], key?: string): string | undefined;
  /** Line and column of the same, from 1. */
  locationOf(path: readonly PropertyKey[], key?: string): SourceLocation | undefined;
}

export interface SourceLocation {
  readonly line: number;
  readonly column: number;
}

/** What a kind of file expects. */
export interface FileFormat {
  /** Whether an empty key is dropped or kept as null. */
  readonly nulls: "drop" | "keep";
  /** For messages: what the file is a map of, and a key to begin with. */
  readonly of: string;
  readonly begin: string;
}

const OPTIONS_FILE: FileFormat = { nulls: "drop", of: "options", begin: "upstream:" };

/** A fresh tree each time: other sources are merged into it. */
function emptyFile(faults: readonly ConfigFault[]): ConfigFile {
  return { tree: {}, faults, at: () => undefined, locationOf: () => undefined };
}

/** Reads YAML 1.2. Never throws: what is wrong is in `faults`, and then the tree is empty. */
export function readConfigFile(
  file: { readonly name: string; readonly text: string } | undefined,
  habits: FileFormat = OPTIONS_FILE,
): ConfigFile {
  if (file === undefined) return emptyFile([]);
  const excess = boundExceeded(file.text);
  if (excess !== undefined) {
    const { what, remedy, line, column } = excess;
    return emptyFile([{ where: `${file.name}:${line}:${column}`, what, remedy }]);
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
    remedy: /block sequence .* implicit map key/i.test(what)
      ? "begin each `- ` of the list in the same column, and write no [] before a list"
      : "write it as YAML 1.2",
  }));
  if (faults.length > 0) return emptyFile(faults);
  const value = toTree(document, habits);
  if (typeof value === "string") {
    const remedy = `begin with a key such as ${habits.begin}`;
    return emptyFile([{ where: place(0), what: value, remedy }]);
  }
  const keys = createYamlKeys();
  const placeOf: ConfigFile["locationOf"] = (path, key) => {
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
  return { tree: value, faults, at, locationOf: placeOf };
}

const IMPLICIT_KEY = /^Implicit (map )?keys need to be /;

function isMisplacedItem({ code }: { readonly code: string }): boolean {
  return code === "BLOCK_AS_IMPLICIT_KEY";
}

/** Syntax errors and their offsets. */
function wrongYaml(document: Document): readonly (readonly [offset: number, what: string])[] {
  const { errors, warnings } = document;
  const said = [...errors, ...warnings]
    // A list item in the wrong column makes three errors. Two of them follow from the first.
    .filter(({ message }, at, all) => !IMPLICIT_KEY.test(message) || !all.slice(0, at).some(isMisplacedItem))
    .map(({ pos, message }) => [pos[0], message] as const);
  return said.concat(repeatedKeys(document).map((offset) => [offset, "Map keys must be unique"] as const));
}

/** The tree, or the fault of the whole file. */
function toTree(document: Document, { nulls, of }: FileFormat): Record<string, unknown> | string {
  try {
    // Aliases become the same object wherever they stand, which costs nothing here; readers of the tree see each of them.
    const value: unknown = document.toJS({ maxAliasCount: -1 }) ?? {};
    const excess = treeTooLarge(value);
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

/** Drops empty keys: all their children may be commented out. */
function withoutNulls(tree: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(tree)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, isTree(value) ? withoutNulls(value) : value] as const);
  // fromEntries defines: a key called __proto__ stays a key, to be refused like any unknown one.
  return Object.fromEntries(kept);
}

/** Finds nodes by path. */
export interface YamlKeys {
  /** The value at `path` from `node` on, aliases not followed; undefined when there is none. */
  valueAt(node: unknown, path: readonly PropertyKey[]): unknown;
  /** The key `key` itself of the map `node`. */
  keyOf(node: unknown, key: string): unknown;
}

/** Indexes each map on its first use: a map may have very many keys. */
export function createYamlKeys(): YamlKeys {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  const pairOf = (map: YAMLMap, key: PropertyKey): Pair | undefined => {
    const pairs = known.get(map) ?? pairsOf(map);
    known.set(map, pairs);
    return pairs.get(String(key));
  };
  const valueAt: YamlKeys["valueAt"] = (node, path) => {
    let found = node;
    for (const key of path) {
      if (isMap(found)) found = pairOf(found, key)?.value;
      else if (isSeq(found)) found = found.items[Number(key)];
      else return undefined;
    }
    return found;
  };
  return { valueAt, keyOf: (node, key) => (isMap(node) ? pairOf(node, key)?.key : undefined) };
}

/** Keys are unique: documents with repeated keys are refused. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  return new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
}

/** Offsets of repeated keys. The parser's own check takes quadratic time. */
export function repeatedKeys(document: Document): readonly number[] {
  const found: number[] = [];
  const search = (node: unknown): void => {
    if (isPair(node)) {
      search(node.key);
      search(node.value);
    } else if (isSeq(node)) {
      for (const item of node.items) search(item);
    } else if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        const name = keyName(pair.key, document);
        if (name !== undefined && seen.has(name)) found.push(isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0);
        if (name !== undefined) seen.add(name);
        search(pair);
      }
    }
  };
  search(document.contents);
  return found;
}

/** The key as the tree has it: 1 and "1" are equal, and an alias is its value. */
function keyName(key: unknown, document: Document): string | undefined {
  const node = isAlias(key) ? key.resolve(document) : key;
  return isScalar(node) ? String(node.value) : undefined;
}

/** Tokens cost time, not bytes: 500 rules of 220 tokens fit. */
const MAX_TOKENS = 110_000;
/** `[` and `{` within one another; the deepest that a file needs is about six. */
const MAX_FLOW_DEPTH = 16;
/** `-`, `?` and `:` in one line outside of `[` and `{`: each may be one level more. */
const MAX_LINE_DEPTH = 8;
const MAX_INDENT = 128;
/** Anchors and aliases: looking one up means to look through all. */
const MAX_REFERENCES = 1000;
/** Backslashes between double quotes: each may be a fault of its own. */
const MAX_ESCAPES = 5000;
/** Values of the tree, whatever an alias names counted again. */
const MAX_VALUES = 60_000;

/** The exceeded limit and its location. */
export interface BoundExceeded {
  readonly what: string;
  readonly remedy: string;
  /** Line and column, from 1. */
  readonly line: number;
  readonly column: number;
}

/** Markers of the lexer that are not part of the text. */
const SCALAR = "\x1f";
const MARKERS: ReadonlySet<string> = new Set(["\x02", "\x18", SCALAR]);

/** Finds text that would take the parser long, in one pass over the tokens: this thread serves requests too. */
export function boundExceeded(text: string): BoundExceeded | undefined {
  const counts = { tokens: 0, flow: 0, line: 0, references: 0, escapes: 0 };
  let offset = 0;
  let before = "\n";
  for (const token of new Lexer().lex(text)) {
    const what = before === SCALAR ? tooMany(counts) : countToken(counts, token, before);
    if (what !== undefined)
      return { what, remedy: "write fewer and plainer rules or options", ...locationIn(text, offset) };
    before = before === SCALAR ? "" : token;
    if (before === "" || !MARKERS.has(token)) offset += token.length;
  }
  return undefined;
}

interface TokenCounts {
  tokens: number;
  flow: number;
  line: number;
  references: number;
  escapes: number;
}

/** Counts one token that is not text; returns the exceeded limit. */
function countToken(counts: TokenCounts, token: string, before: string): string | undefined {
  const first = token[0] ?? "";
  if (first === "[" || first === "{") counts.flow += 1;
  else if (first === "]" || first === "}") counts.flow = Math.max(0, counts.flow - 1);
  else if (first === "&" || first === "*") counts.references += 1;
  else if (first === '"') counts.escapes += token.split("\\").length - 1;
  else if (first === "\n" || first === "\r") counts.line = 0;
  else if (counts.flow === 0 && (token === "-" || token === "?" || token === ":")) counts.line += 1;
  if (counts.flow > MAX_FLOW_DEPTH) return `brackets and braces are more than ${MAX_FLOW_DEPTH} deep`;
  if (counts.line > MAX_LINE_DEPTH) return `one line goes more than ${MAX_LINE_DEPTH} levels down`;
  if (counts.references > MAX_REFERENCES) return `there are more than ${MAX_REFERENCES} anchors and aliases`;
  if (counts.escapes > MAX_ESCAPES) return `there are more than ${MAX_ESCAPES} escapes`;
  if (first === " " && token.length > MAX_INDENT && counts.flow === 0 && /^\r?\n$/.test(before))
    return `the line is indented by more than ${MAX_INDENT}`;
  return tooMany(counts);
}

function tooMany(counts: TokenCounts): string | undefined {
  counts.tokens += 1;
  return counts.tokens > MAX_TOKENS ? `there are more than ${MAX_TOKENS} words and signs` : undefined;
}

/** Line and column of an offset, from 1. */
function locationIn(text: string, offset: number): Pick<BoundExceeded, "line" | "column"> {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** The fault of a tree with too many values. Aliases may repeat an object, or put it into itself. */
export function treeTooLarge(tree: unknown): string | undefined {
  const sizes = new Map<object, number>();
  const sizeOf = (value: unknown): number => {
    if (typeof value !== "object" || value === null) return 1;
    const known = sizes.get(value);
    if (known !== undefined) return known;
    // Met again before it is known: it stands within itself.
    sizes.set(value, Number.POSITIVE_INFINITY);
    const size = Object.values(value).reduce((sum: number, inner) => sum + sizeOf(inner), 1);
    sizes.set(value, size);
    return size;
  };
  return sizeOf(tree) > MAX_VALUES ? `with its aliases it has more than ${MAX_VALUES} values` : undefined;
}
