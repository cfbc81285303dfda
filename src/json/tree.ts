/** Parses a small JSON body into a tree, with nothing lost. Long lists go through the rewriter. */
import { fail, located } from "./error.ts";
import {
  enter,
  load,
  MAX_DEPTH,
  type PaddedText,
  skipColon,
  skipComma,
  skipEnd,
  skipKey,
  skipSpace,
  skipValue,
} from "./scan.ts";
import { decodeString, loneSurrogate } from "./text.ts";

interface NodeSpan {
  /** The bytes that were parsed; `start..end` of them are this value, without white space around it. */
  readonly source: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** One member of an object. */
export interface JsonMember {
  /** The name, decoded. */
  readonly key: string;
  readonly value: JsonNode;
}

export interface ObjectNode extends NodeSpan {
  readonly kind: "object";
  /** In the order of the text, repeated names included: what they mean is the caller's decision. */
  readonly members: readonly JsonMember[];
}

export interface ArrayNode extends NodeSpan {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
}

export interface StringNode extends NodeSpan {
  readonly kind: "string";
  /** The string, decoded. */
  readonly value: string;
}

/** Numbers are not decoded: `rawOf` has all their digits. */
export interface PlainNode extends NodeSpan {
  readonly kind: "number" | "true" | "false" | "null";
}

/** One JSON value and where it stands. */
export type JsonNode = ObjectNode | ArrayNode | StringNode | PlainNode;

/**
 * The value in `text` (UTF-8), strictly by RFC 8259. Refused with a `JsonError`: everything that is not one JSON value with
 * white space around it, a byte order mark, invalid UTF-8, more nesting than `MAX_DEPTH`, and lone surrogate escapes
 * unless `surrogates` is `pass`. Repeated member names are kept.
 */
export function parseTree(text: Uint8Array, options: { readonly surrogates?: "pass" } = {}): JsonNode {
  return located(text, () => {
    const loaded = load(text);
    const node = value(loaded, skipSpace(loaded.view, 0), MAX_DEPTH, text);
    skipEnd(loaded.view, node.end, text.length);
    const lone = options.surrogates === "pass" ? -1 : loneSurrogate(text);
    if (lone !== -1) fail(lone, "lone surrogate");
    return node;
  });
}

/** The bytes of `node` exactly as they came: a view, not a copy. */
export function rawOf(node: JsonNode): Uint8Array {
  return node.source.subarray(node.start, node.end);
}

function value(text: PaddedText, start: number, depth: number, source: Uint8Array): JsonNode {
  switch (text.bytes[start]) {
    case 0x7b:
      return object(text, start, depth, source);
    case 0x5b:
      return array(text, start, depth, source);
    case 0x22: {
      const end = skipValue(text.view, start, depth);
      return { kind: "string", source, start, end, value: decodeString(text.bytes, start, end) };
    }
    default:
      return { kind: plainKind(text.bytes[start]), source, start, end: skipValue(text.view, start, depth) };
  }
}

function plainKind(byte: number | undefined): PlainNode["kind"] {
  if (byte === 0x74) return "true";
  if (byte === 0x66) return "false";
  return byte === 0x6e ? "null" : "number";
}

function object(text: PaddedText, start: number, depth: number, source: Uint8Array): ObjectNode {
  enter(start, depth);
  const members: JsonMember[] = [];
  let at = skipSpace(text.view, start + 1);
  while (text.bytes[at] !== 0x7d) {
    const end = skipKey(text.view, at);
    const from = skipSpace(text.view, skipColon(text.view, end));
    const node = value(text, from, depth - 1, source);
    members.push({ key: decodeString(text.bytes, at, end), value: node });
    at = skipComma(text.view, node.end, 0x7d);
  }
  return { kind: "object", source, start, end: at + 1, members };
}

function array(text: PaddedText, start: number, depth: number, source: Uint8Array): ArrayNode {
  enter(start, depth);
  const items: JsonNode[] = [];
  let at = skipSpace(text.view, start + 1);
  while (text.bytes[at] !== 0x5d) {
    const node = value(text, at, depth - 1, source);
    items.push(node);
    at = skipComma(text.view, node.end, 0x5d);
  }
  return { kind: "array", source, start, end: at + 1, items };
}

/** Deeper texts are refused. */
const MAX_COUNTED_DEPTH = 1000;

/** True when `text` has more than `most` values. Counts marks outside of strings, so it may be asked before the text is known to be JSON. */
export function hasMoreValues(text: Uint8Array, most: number): boolean {
  // Each value takes two bytes, with the comma after it.
  if (text.length <= 2 * most) return false;
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let count = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      at = endOfString(bytes, at + 1);
    } else if (byte === 0x2c || byte === 0x7b || byte === 0x5b) {
      count += 1;
      if (byte !== 0x2c) depth += 1;
      if (depth > MAX_COUNTED_DEPTH) return false;
      if (count > most) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

/** Where the string that begins at `start` has its closing quote; the end of the text when it has none. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
  }
  return bytes.length;
}

/** The node at `path` (dotted member names) below `node`; undefined when there is none. */
export function nodeAt(node: JsonNode | undefined, path: string): JsonNode | undefined {
  let at = node;
  for (const name of path.split(".")) {
    at = at?.kind === "object" ? at.members.find(({ key }) => key === name)?.value : undefined;
  }
  return at;
}
