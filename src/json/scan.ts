/**
 * Where does this JSON value end, and is it valid (RFC 8259)?
 * Every function takes the position of a token in padded bytes (see `load`) and returns the position behind it.
 */
import { isUtf8 } from "node:buffer";
import { fail } from "./error.ts";

/** Zero bytes behind the text: no token may hold one, so scanning stops there without looking at the length. */
const PADDING = 8;
/** Deepest nesting that can be asked for: scanning is recursive. */
const MAX_DEPTH = 1000;
const DEFAULT_DEPTH = 100;

/** How strictly a text is read. */
export interface ScanOptions {
  /** Deepest nesting of objects and arrays; 100 unless told, never above 1000. */
  readonly maxDepth?: number | undefined;
  /** What to do about a `\u` escape that is half a character; each reader states its default. */
  readonly surrogates?: "refuse" | "pass" | undefined;
}

export function depthOf(options: ScanOptions): number {
  return Math.min(options.maxDepth ?? DEFAULT_DEPTH, MAX_DEPTH);
}

/** A padded copy of `text`. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function load(text: Uint8Array): Buffer {
  if (text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf) fail(0, "byte order mark");
  if (!isUtf8(text)) fail(invalidUtf8(text), "invalid UTF-8");
  const bytes = Buffer.allocUnsafe(text.length + PADDING);
  bytes.set(text);
  bytes.fill(0, text.length);
  return bytes;
}

/** Offset of the first byte that a lenient decoder would have to replace. */
function invalidUtf8(text: Uint8Array): number {
  const repaired = Buffer.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(text));
  let at = 0;
  while (text[at] === repaired[at]) at++;
  return at;
}

export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  let byte = bytes[at];
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at];
  return at;
}

/** Any value; `depth` is how many more objects and arrays may be entered. */
export function skipValue(bytes: Uint8Array, start: number, depth: number): number {
  switch (bytes[start]) {
    case 0x22:
      return skipString(bytes, start);
    case 0x7b:
      return skipObject(bytes, start, depth);
    case 0x5b:
      return skipArray(bytes, start, depth);
    case 0x74:
      return skipWord(bytes, start, TRUE);
    case 0x66:
      return skipWord(bytes, start, FALSE);
    case 0x6e:
      return skipWord(bytes, start, NULL);
    default:
      return skipNumber(bytes, start);
  }
}

/** A string, from its opening quote. */
export function skipString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; ; ) {
    const byte = bytes[at] as number;
    if (byte === 0x22) return at + 1;
    if (byte === 0x5c) at = skipEscape(bytes, at);
    else if (byte < 0x20) fail(at, "control character in a string");
    else at++;
  }
}

function skipEscape(bytes: Uint8Array, start: number): number {
  const byte = bytes[start + 1];
  if (byte !== 0x75) {
    if (byte === undefined || !'"\\/bfnrt'.includes(String.fromCharCode(byte))) fail(start + 1, "invalid escape");
    return start + 2;
  }
  for (let at = start + 2; at < start + 6; at++) {
    if (!isHex(bytes[at] as number)) fail(at, "invalid escape");
  }
  return start + 6;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39) at++;
  if (at === start) fail(at, "expected a digit");
  return at;
}

function skipNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  if (at === start && !((bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39)) fail(at, "expected a value");
  at = bytes[at] === 0x30 ? at + 1 : skipDigits(bytes, at);
  if (bytes[at] === 0x2e) at = skipDigits(bytes, at + 1);
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++;
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++;
    at = skipDigits(bytes, at);
  }
  return at;
}

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

function skipWord(bytes: Uint8Array, start: number, word: Uint8Array): number {
  for (let i = 1; i < word.length; i++) {
    if (bytes[start + i] !== word[i]) fail(start + i, "expected a value");
  }
  return start + word.length;
}

/** From the colon's place behind a member name to the first byte of the value. */
export function skipColon(bytes: Uint8Array, start: number): number {
  const at = bytes[start] === 0x3a ? start : skipSpace(bytes, start);
  if (bytes[at] !== 0x3a) fail(at, 'expected ":"');
  return skipSpace(bytes, at + 1);
}

/** From behind a member or element to the next one, or to `close` itself. */
export function skipComma(bytes: Uint8Array, start: number, close: number): number {
  const at = skipSpace(bytes, start);
  if (bytes[at] === close) return at;
  if (bytes[at] !== 0x2c) fail(at, close === 0x7d ? 'expected "," or "}"' : 'expected "," or "]"');
  const next = skipSpace(bytes, at + 1);
  if (bytes[next] === close) fail(next, "comma behind the last one");
  return next;
}

/** Refuses to enter an object or array at `at` when it would be too deep. */
export function enter(at: number, depth: number): void {
  if (depth <= 0) fail(at, "nested too deeply");
}

function skipObject(bytes: Uint8Array, start: number, depth: number): number {
  enter(start, depth);
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== 0x7d) {
    at = skipColon(bytes, skipKey(bytes, at));
    at = skipComma(bytes, skipValue(bytes, at, depth - 1), 0x7d);
  }
  return at + 1;
}

/** A member name. */
export function skipKey(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== 0x22) fail(start, "expected a member name");
  return skipString(bytes, start);
}

function skipArray(bytes: Uint8Array, start: number, depth: number): number {
  enter(start, depth);
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== 0x5d) at = skipComma(bytes, skipValue(bytes, at, depth - 1), 0x5d);
  return at + 1;
}

/** Refuses anything but white space from `start` to `length`, the end of the text. */
export function skipEnd(bytes: Uint8Array, start: number, length: number): void {
  const at = skipSpace(bytes, start);
  if (at < length) fail(at, "data after the value");
}
