/** A JSON parser that keeps duplicate members and the text of numbers, as a strict decoder needs. */
import { gatewayRefusal, type Refusal, RpcCode } from "../refusal.ts";

/** A JSON value that still knows its repeated keys and the text of its numbers. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly (readonly [key: string, node: JsonNode])[] }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "null" };

const MAX_DEPTH = 1_000;
const NUMBER = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?";
const SPACE = " \t\n\r";
const LITERALS: readonly (readonly [string, JsonNode])[] = [
  ["true", { kind: "bool", value: true }],
  ["false", { kind: "bool", value: false }],
  ["null", { kind: "null" }],
];

/** The text of a body. Throws for bytes that are not UTF-8; a byte order mark stays and is refused by the parser. */
export function bodyText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw syntax(0, "the body is not UTF-8");
  }
}

/** The first JSON value in `text`, or undefined when there is nothing but white space; what follows it is ignored. */
export function parseFirst(text: string): JsonNode | undefined {
  const cursor = { text, at: 0, number: new RegExp(NUMBER, "y") };
  skip(cursor);
  return cursor.at === text.length ? undefined : readValue(cursor, 0);
}

interface Cursor {
  readonly text: string;
  at: number;
  /** Matches at its own `lastIndex`; one per parse, for it is changed by matching. */
  readonly number: RegExp;
}

function syntax(at: number, what: string): Refusal {
  return gatewayRefusal(RpcCode.INVALID_ARGUMENT, `syntax error at offset ${at}: ${what}`);
}

function skip(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && SPACE.includes(cursor.text.charAt(cursor.at))) cursor.at++;
}

function readValue(cursor: Cursor, depth: number): JsonNode {
  if (depth > MAX_DEPTH) throw syntax(cursor.at, "nested too deeply");
  const first = cursor.text[cursor.at];
  if (first === "{") return readObject(cursor, depth);
  if (first === "[") return readArray(cursor, depth);
  if (first === '"') return { kind: "string", text: readString(cursor) };
  for (const [word, node] of LITERALS) {
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length;
      return node;
    }
  }
  cursor.number.lastIndex = cursor.at;
  const found = cursor.number.exec(cursor.text);
  if (found === null) throw syntax(cursor.at, "a JSON value is expected");
  cursor.at = cursor.number.lastIndex;
  return { kind: "number", text: found[0] };
}

function readString(cursor: Cursor): string {
  const { text, at } = cursor;
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  if (text[at] !== '"' || end >= text.length) throw syntax(at, "a string is expected");
  cursor.at = end + 1;
  const value = unquote(text.slice(at, end + 1));
  if (value === undefined || /\p{Surrogate}/u.test(value)) throw syntax(at, "the string has a bad character or escape");
  return value;
}

/** The text of a JSON string literal, or undefined when it is none. */
function unquote(literal: string): string | undefined {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}

function readObject(cursor: Cursor, depth: number): JsonNode {
  const members: (readonly [string, JsonNode])[] = [];
  readSequence(cursor, "}", () => {
    const key = readString(cursor);
    skip(cursor);
    if (cursor.text[cursor.at] !== ":") throw syntax(cursor.at, "a colon is expected");
    cursor.at++;
    skip(cursor);
    members.push([key, readValue(cursor, depth + 1)]);
  });
  return { kind: "object", members };
}

function readArray(cursor: Cursor, depth: number): JsonNode {
  const items: JsonNode[] = [];
  readSequence(cursor, "]", () => items.push(readValue(cursor, depth + 1)));
  return { kind: "array", items };
}

/** Reads `one` after `one` between the bracket under the cursor and `close`. */
function readSequence(cursor: Cursor, close: string, one: () => void): void {
  cursor.at++;
  skip(cursor);
  if (cursor.text[cursor.at] === close) {
    cursor.at++;
    return;
  }
  for (;;) {
    one();
    skip(cursor);
    const next = cursor.text[cursor.at];
    cursor.at++;
    if (next === close) return;
    if (next !== ",") throw syntax(cursor.at - 1, `a comma or ${close} is expected`);
    skip(cursor);
  }
}
