/** What does this JSON text hold, with nothing lost? (For small bodies; long lists go through the rewriter.) */
import { fail, located } from "./error.ts";
import {
  depthOf,
  enter,
  type Loaded,
  load,
  type ScanOptions,
  skipColon,
  skipComma,
  skipEnd,
  skipKey,
  skipSpace,
  skipValue,
} from "./scan.ts";
import { decodeString, loneSurrogate } from "./text.ts";

interface Span {
  /** The bytes that were parsed; `start..end` of them are this value, without white space around it. */
  readonly source: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** One member of an object. */
export interface Member {
  /** The name, decoded. */
  readonly key: string;
  readonly value: Node;
}

export interface ObjectNode extends Span {
  readonly kind: "object";
  /** In the order of the text, repeated names included: what they mean is the caller's decision. */
  readonly members: readonly Member[];
}

export interface ArrayNode extends Span {
  readonly kind: "array";
  readonly items: readonly Node[];
}

export interface StringNode extends Span {
  readonly kind: "string";
  /** The string, decoded. */
  readonly value: string;
}

/** Numbers are not decoded: `rawOf` has all their digits. */
export interface PlainNode extends Span {
  readonly kind: "number" | "true" | "false" | "null";
}

/** One JSON value and where it stands. */
export type Node = ObjectNode | ArrayNode | StringNode | PlainNode;

/**
 * The value in `text` (UTF-8), strictly by RFC 8259. Refused with a `JsonError`: everything that is not one JSON value with
 * white space around it, a byte order mark, invalid UTF-8, more nesting than `maxDepth`, and lone surrogate escapes
 * unless `surrogates` is `pass`. Repeated member names are kept.
 */
export function parseTree(text: Uint8Array, options: ScanOptions = {}): Node {
  return located(text, () => {
    const loaded = load(text);
    const node = value(loaded, skipSpace(loaded.view, 0), depthOf(options), text);
    skipEnd(loaded.view, node.end, text.length);
    const lone = options.surrogates === "pass" ? -1 : loneSurrogate(text);
    if (lone !== -1) fail(lone, "lone surrogate");
    return node;
  });
}

/** The bytes of `node` exactly as they came: a view, not a copy. */
export function rawOf(node: Node): Uint8Array {
  return node.source.subarray(node.start, node.end);
}

function value(text: Loaded, start: number, depth: number, source: Uint8Array): Node {
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

function object(text: Loaded, start: number, depth: number, source: Uint8Array): ObjectNode {
  enter(start, depth);
  const members: Member[] = [];
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

function array(text: Loaded, start: number, depth: number, source: Uint8Array): ArrayNode {
  enter(start, depth);
  const items: Node[] = [];
  let at = skipSpace(text.view, start + 1);
  while (text.bytes[at] !== 0x5d) {
    const node = value(text, at, depth - 1, source);
    items.push(node);
    at = skipComma(text.view, node.end, 0x5d);
  }
  return { kind: "array", source, start, end: at + 1, items };
}
