/** Is a YAML file small and flat enough to be read at once, by the thread that serves requests? */
import { Lexer } from "yaml";

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

/** What is too much, and where it begins to be. */
export interface Excess {
  readonly what: string;
  readonly remedy: string;
  /** Line and column, from 1. */
  readonly line: number;
  readonly column: number;
}

/** What does not belong to the text: it says what follows. */
const SCALAR = "\x1f";
const MARKERS: ReadonlySet<string> = new Set(["\x02", "\x18", SCALAR]);

/** What in `text` no file of ours has, and a parser would need long for; found by one walk over its tokens. */
export function excessOf(text: string): Excess | undefined {
  const counts = { tokens: 0, flow: 0, line: 0, references: 0, escapes: 0 };
  let offset = 0;
  let before = "\n";
  for (const token of new Lexer().lex(text)) {
    const what = before === SCALAR ? tooMany(counts) : count(counts, token, before);
    if (what !== undefined)
      return { what, remedy: "write fewer and plainer rules or options", ...placeIn(text, offset) };
    before = before === SCALAR ? "" : token;
    if (before === "" || !MARKERS.has(token)) offset += token.length;
  }
  return undefined;
}

interface Counts {
  tokens: number;
  flow: number;
  line: number;
  references: number;
  escapes: number;
}

/** Takes one token into account that is no text; says what is too much with it. */
function count(counts: Counts, token: string, before: string): string | undefined {
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

function tooMany(counts: Counts): string | undefined {
  counts.tokens += 1;
  return counts.tokens > MAX_TOKENS ? `there are more than ${MAX_TOKENS} words and signs` : undefined;
}

/** Line and column of an offset, from 1. */
function placeIn(text: string, offset: number): Pick<Excess, "line" | "column"> {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** What is wrong with the size of a tree, in which the same object may stand in many places, or within itself. */
export function swollen(tree: unknown): string | undefined {
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
