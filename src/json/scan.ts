/**
 * Where does this JSON value end, and is it valid (RFC 8259)?
 * Every function takes the position of a token in a padded text (see `load`) and returns the position after it.
 */
import { isUtf8 } from "node:buffer";
import { fail } from "./error.ts";

/** Zero bytes after the text: no token may hold one, so scanning stops there without looking at the length. */
const PADDING = 8;
/** Deepest nesting of objects and arrays: scanning is recursive. */
export const MAX_DEPTH = 100;

/** A text that can be scanned: two views of one padded copy. Single bytes and words are read by `view`. */
export interface PaddedText {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Loads `text`. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function load(text: Uint8Array): PaddedText {
  checkText(text);
  const loaded = allocate(padded(text.length));
  loaded.bytes.set(text);
  loaded.view.setInt32(text.length, 0);
  loaded.view.setInt32(text.length + 4, 0);
  return loaded;
}

/** What a text of `size` bytes takes with its padding. */
export function padded(size: number): number {
  return size + PADDING;
}

/** Two views of `size` bytes that hold anything. */
export function allocate(size: number): PaddedText {
  const bytes = Buffer.allocUnsafe(size);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, size) };
}

/** Throws `JsonError` when `text` is not UTF-8 or begins with a byte order mark. */
export function checkText(text: Uint8Array): void {
  if (text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf) fail(0, "byte order mark");
  if (!isUtf8(text)) fail(invalidUtf8(text), "invalid UTF-8");
}

/** Offset of the first byte that a lenient decoder would have to replace. */
function invalidUtf8(text: Uint8Array): number {
  const repaired = Buffer.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(text));
  let at = 0;
  while (text[at] === repaired[at]) at++;
  return at;
}

export function skipSpace(text: DataView, start: number): number {
  let byte = text.getUint8(start);
  if (byte > 0x20) return start;
  let at = start;
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = text.getUint8(++at);
  return at;
}

/** The letters of `true`, `alse` and `null` as words. */
const TRUE = 0x65757274;
const ALSE = 0x65736c61;
const NULL = 0x6c6c756e;

/** Any value; `depth` is how many more objects and arrays may be entered. */
export function skipValue(text: DataView, start: number, depth: number): number {
  switch (text.getUint8(start)) {
    case 0x22:
      return skipString(text, start);
    case 0x7b:
      return skipObject(text, start, depth);
    case 0x5b:
      return skipArray(text, start, depth);
    case 0x74:
      return text.getInt32(start, true) === TRUE ? start + 4 : skipWord(text, start, "true");
    case 0x66:
      return text.getInt32(start + 1, true) === ALSE ? start + 5 : skipWord(text, start, "false");
    case 0x6e:
      return text.getInt32(start, true) === NULL ? start + 4 : skipWord(text, start, "null");
    default:
      return skipNumber(text, start);
  }
}

/** A string, from its opening quote. */
export function skipString(text: DataView, start: number): number {
  for (let at = start + 1; ; ) {
    at = findStop(text, at);
    const byte = text.getUint8(at);
    if (byte === 0x22) return at + 1;
    if (byte !== 0x5c) fail(at, "control character in a string");
    at = skipEscape(text, at);
  }
}

/** The next quote, backslash or control character. A loop without calls: the engine then checks `text` once, not each time. */
function findStop(text: DataView, start: number): number {
  for (let at = start; ; at += 4) {
    // Four bytes at a time. The high bit of a byte of `stop` is set where the byte is one of those; borrowing can set it
    // wrongly only after such a byte, and the first one is what counts.
    const word = text.getInt32(at, true);
    const stop =
      (((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101) | (word - 0x20202020)) &
      ~word &
      0x80808080;
    if (stop !== 0) return at + ((31 - Math.clz32(stop & -stop)) >> 3);
  }
}

function skipEscape(text: DataView, start: number): number {
  const byte = text.getUint8(start + 1);
  if (byte !== 0x75) {
    if (!'"\\/bfnrt'.includes(String.fromCharCode(byte))) fail(start + 1, "invalid escape");
    return start + 2;
  }
  for (let at = start + 2; at < start + 6; at++) {
    if (!isHex(text.getUint8(at))) fail(at, "invalid escape");
  }
  return start + 6;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** One digit or more. */
function skipDigits(text: DataView, start: number): number {
  let at = start;
  let byte = text.getUint8(at);
  if (byte < 0x30 || byte > 0x39) fail(at, "expected a digit");
  while (byte >= 0x30 && byte <= 0x39) byte = text.getUint8(++at);
  return at;
}

function skipNumber(text: DataView, start: number): number {
  const first = text.getUint8(start);
  let at = first === 0x2d ? start + 1 : start;
  if (at === start && (first < 0x30 || first > 0x39)) fail(at, "expected a value");
  at = text.getUint8(at) === 0x30 ? at + 1 : skipDigits(text, at);
  if (text.getUint8(at) === 0x2e) at = skipDigits(text, at + 1);
  if ((text.getUint8(at) | 0x20) !== 0x65) return at;
  const sign = text.getUint8(++at);
  return skipDigits(text, sign === 0x2b || sign === 0x2d ? at + 1 : at);
}

function skipWord(text: DataView, start: number, word: string): number {
  for (let i = 1; i < word.length; i++) {
    if (text.getUint8(start + i) !== word.charCodeAt(i)) fail(start + i, "expected a value");
  }
  return start + word.length;
}

/** From the end of a member name to the position after the colon. */
export function skipColon(text: DataView, start: number): number {
  const at = skipSpace(text, start);
  if (text.getUint8(at) !== 0x3a) fail(at, 'expected ":"');
  return at + 1;
}

/** From the end of a member or element to the next one, or to `close` itself. */
export function skipComma(text: DataView, start: number, close: number): number {
  const at = skipSpace(text, start);
  const byte = text.getUint8(at);
  if (byte === close) return at;
  if (byte !== 0x2c) fail(at, close === 0x7d ? 'expected "," or "}"' : 'expected "," or "]"');
  const next = skipSpace(text, at + 1);
  if (text.getUint8(next) === close) fail(next, "comma after the last one");
  return next;
}

/** Refuses to enter an object or array at `at` when it would be too deep. */
export function enter(at: number, depth: number): void {
  if (depth <= 0) fail(at, "nested too deeply");
}

function skipObject(text: DataView, start: number, depth: number): number {
  enter(start, depth);
  let at = skipSpace(text, start + 1);
  while (text.getUint8(at) !== 0x7d) {
    at = skipSpace(text, skipColon(text, skipKey(text, at)));
    at = skipComma(text, skipValue(text, at, depth - 1), 0x7d);
  }
  return at + 1;
}

/** A member name. */
export function skipKey(text: DataView, start: number): number {
  if (text.getUint8(start) !== 0x22) fail(start, "expected a member name");
  return skipString(text, start);
}

function skipArray(text: DataView, start: number, depth: number): number {
  enter(start, depth);
  let at = skipSpace(text, start + 1);
  while (text.getUint8(at) !== 0x5d) at = skipComma(text, skipValue(text, at, depth - 1), 0x5d);
  return at + 1;
}

/** Refuses anything but white space from `start` to `length`, the end of the text. */
export function skipEnd(text: DataView, start: number, length: number): void {
  const at = skipSpace(text, start);
  if (at < length) fail(at, "data after the value");
}
