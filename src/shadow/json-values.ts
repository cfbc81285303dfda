/** Where do the values of a JSON text begin and end, asked in steps short enough for a thread that serves others too? */
import { isUtf8 } from "node:buffer";
import { fail } from "../json/error.ts";
import { findKey, type KeyTable } from "../json/keys.ts";
import {
  allocate,
  enter,
  type PaddedText,
  padded,
  skipColon,
  skipComma,
  skipEnd,
  skipKey,
  skipSpace,
  skipValue,
} from "../json/scan.ts";
import { decodeString } from "../json/text.ts";

/** One value of a text: `start..end` of its bytes. */
export interface ValueSpan {
  readonly text: PaddedText;
  readonly start: number;
  readonly end: number;
}

/** Copied or compared at once: memory speed. */
const CHUNK = 256 * 1024;
/** True when both are the same bytes. */
export function* sameBytes(a: Uint8Array, b: Uint8Array): Generator<void, boolean> {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += CHUNK) {
    if (Buffer.compare(a.subarray(at, at + CHUNK), b.subarray(at, at + CHUNK)) !== 0) return false;
    if (a.length > CHUNK) yield;
  }
  return true;
}

/** True when both values are spelled the same, byte for byte. Long ones take a step of their own, at the speed of memory. */
export function sameSpelling(a: ValueSpan, b: ValueSpan): boolean {
  const length = a.end - a.start;
  return length === b.end - b.start && a.text.bytes.compare(b.text.bytes, b.start, b.end, a.start, a.end) === 0;
}

/** The one value of `body`; undefined when it is no JSON text (RFC 8259, UTF-8, nested at most 100 deep). */
export function* readValue(body: Uint8Array, pace: YieldBudget): Generator<void, ValueSpan | undefined> {
  const text = allocate(padded(body.length));
  for (let at = 0; at < body.length; ) {
    const end = characterEnd(body, Math.min(at + CHUNK, body.length));
    const chunk = body.subarray(at, end);
    if (!isUtf8(chunk)) return undefined;
    text.bytes.set(chunk, at);
    at = end;
    if (at < body.length) yield;
  }
  text.bytes.fill(0, body.length);
  try {
    const start = skipSpace(text.view, 0);
    const end = scalarEnd(text.view, start) || (yield* skipSlow(text, start, pace));
    skipEnd(text.view, end, body.length);
    return { text, start, end };
  } catch {
    // What `fail` threw; nothing else is thrown here.
    return undefined;
  }
}

/** `at`, moved back out of the middle of a character. */
function characterEnd(body: Uint8Array, at: number): number {
  if (at === body.length) return at;
  let end = at;
  while (end > at - 4 && ((body[end] as number) & 0xc0) === 0x80) end--;
  return end;
}

/** Where the elements of an array are: numbers alone, since a million objects would keep the engine busy tidying up. */
export interface JsonElements {
  readonly text: PaddedText;
  readonly length: number;
  /** Where each begins and ends, in lists that are never copied to make room. */
  readonly places: readonly (readonly number[])[];
}

/** Elements in each list of places. */
const MOST_PLACES = 4096;

/** The elements of an array, in order. */
export function* elementsOf({ text, start }: ValueSpan, pace: YieldBudget): Generator<void, JsonElements> {
  const places: number[][] = [];
  let last: number[] = [];
  let length = 0;
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x5d) {
    const end = scalarEnd(text.view, at) || (yield* skipSlow(text, at, pace));
    if (length % MOST_PLACES === 0) {
      last = [];
      places.push(last);
    }
    last.push(at, end);
    length++;
    const size = end - at;
    at = skipComma(text.view, end, 0x5d);
    if (isPauseDue(pace, size)) yield;
  }
  return { text, length, places };
}

/** The element number `index`, which must be one. */
export function elementAt({ text, places }: JsonElements, index: number): ValueSpan {
  const list = places[Math.floor(index / MOST_PLACES)] as readonly number[];
  const at = 2 * (index % MOST_PLACES);
  return { text, start: list[at] as number, end: list[at + 1] as number };
}

/** The members of an object by their names. */
export type JsonMembers = NameTable<ValueSpan>;

/** The members of an object. Of a name that is there twice the last one counts, as for most readers. */
export function* membersOf(object: ValueSpan, pace: YieldBudget): Generator<void, JsonMembers> {
  const { text, start } = object;
  const found = newNameTable<ValueSpan>();
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(text.view, at);
    const value = skipSpace(text.view, skipColon(text.view, nameEnd));
    const end = scalarEnd(text.view, value) || (yield* skipSlow(text, value, pace));
    tableSet(found, decodeString(text.bytes, at, nameEnd), { text, start: value, end });
    const size = end - at;
    at = skipComma(text.view, end, 0x7d);
    if (isPauseDue(pace, size)) yield;
  }
  return found;
}

/** The member of an object that `names`, a table of one name, tells; the same one that `membersOf` has under it. */
export function* memberOf(
  object: ValueSpan,
  names: KeyTable<true>,
  pace: YieldBudget,
): Generator<void, ValueSpan | undefined> {
  const { text, start } = object;
  let found: ValueSpan | undefined;
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(text.view, at);
    const value = skipSpace(text.view, skipColon(text.view, nameEnd));
    const end = scalarEnd(text.view, value) || (yield* skipSlow(text, value, pace));
    if (findKey(names, text.bytes, at, nameEnd) === true) found = { text, start: value, end };
    const size = end - at;
    at = skipComma(text.view, end, 0x7d);
    if (isPauseDue(pace, size)) yield;
  }
  return found;
}

/** The JSON type of a value. */
export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export function kindOf({ text, start }: ValueSpan): JsonKind {
  switch (text.bytes[start]) {
    case 0x7b:
      return "object";
    case 0x5b:
      return "array";
    case 0x22:
      return "string";
    case 0x6e:
      return "null";
    case 0x74:
    case 0x66:
      return "boolean";
    default:
      return "number";
  }
}

/** How far does a JSON value go, found out in steps short enough for a thread that serves others too? */

/** How much was done since the last pause, in bytes looked at. */
export interface YieldBudget {
  work: number;
}

/** Between two pauses: some 0.3 ms for records that differ. */
const STEP = 128 * 1024;
/** What a value costs beside its bytes. */
const EACH = 64;
/** A text that is longer is read in steps of this length. */
const LONG_TEXT = 32 * 1024;
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX: ReadonlySet<number> = new Set(Buffer.from("0123456789abcdefABCDEF"));
/** Deepest nesting that is read; the rewriter reads no deeper. */
const DEPTH = 100;

/** Notes `bytes` of work; true when it is time for a pause (then: `yield`). */
export function isPauseDue(pace: YieldBudget, bytes: number): boolean {
  pace.work += bytes + EACH;
  if (pace.work < STEP) return false;
  pace.work = 0;
  return true;
}

/** Behind the scalar at `start`; 0 when it takes a `skipSlow`: an object, an array, a long text. */
export function scalarEnd(view: DataView, start: number): number {
  const byte = view.getUint8(start);
  if (isOpening(byte)) return 0;
  return byte === 0x22 ? Math.max(0, textEnd(view, start + 1, start + LONG_TEXT)) : skipValue(view, start, 0);
}

/** Behind any value, in steps. */
export function* skipSlow(text: PaddedText, start: number, pace: YieldBudget): Generator<void, number> {
  if (isOpening(text.view.getUint8(start))) return yield* skipNested(text, start, pace);
  let at = -start - 1;
  while (at <= 0) {
    at = textEnd(text.view, -at, LONG_TEXT - at);
    if (isPauseDue(pace, LONG_TEXT)) yield;
  }
  return at;
}

/** From within a text: behind its closing quote, or minus the place to go on from when it is still open at `limit`. */
function textEnd(view: DataView, start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    const byte = view.getUint8(at);
    if (byte === 0x22) return at + 1;
    if (byte < 0x20) fail(at, "control character in a string");
    at += byte === 0x5c ? escapeLength(view, at) : 1;
  }
  return -at;
}

function escapeLength(view: DataView, at: number): number {
  const byte = view.getUint8(at + 1);
  if (ESCAPED.has(byte)) return 2;
  if (byte !== 0x75) fail(at, "invalid escape");
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!HEX.has(view.getUint8(digit))) fail(digit, "invalid escape");
  }
  return 6;
}

/** From the opening bracket of an object or array to behind its closing one, checking every byte. */
function* skipNested(text: PaddedText, start: number, pace: YieldBudget): Generator<void, number> {
  const { view } = text;
  const closes = [view.getUint8(start) + 2];
  let at = skipSpace(view, start + 1);
  for (;;) {
    const from = at;
    const close = closes.at(-1);
    if (close === undefined) return at;
    if (view.getUint8(at) === close) {
      closes.pop();
      at = behind(view, at + 1, closes.at(-1));
    } else {
      if (close === 0x7d) at = skipSpace(view, skipColon(view, skipKey(view, at)));
      const byte = view.getUint8(at);
      if (isOpening(byte)) {
        enter(at, DEPTH - closes.length);
        closes.push(byte + 2);
        at = skipSpace(view, at + 1);
      } else at = behind(view, scalarEnd(view, at) || (yield* skipSlow(text, at, pace)), close);
    }
    if (isPauseDue(pace, at - from)) yield;
  }
}

/** From behind a value to the next one, or to `close` itself. */
function behind(view: DataView, at: number, close: number | undefined): number {
  return close === undefined ? at : skipComma(view, at, close);
}

/** `{` or `[`; two further on stands what closes it. */
function isOpening(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b;
}

/** What stands under this name, where there may be millions of names and no step may take long? */

/** Values by name, to be changed by `put` and `remove` only. One `Map` would be copied as a whole each time it is full. */
export interface NameTable<T> {
  readonly first: Map<string, T>;
  /** What came when `first` was full. */
  parts: readonly Map<string, T>[] | undefined;
}

/** A `Map` of so many names is copied in less than a millisecond. */
const FEW = 8192;
/** Eight megabytes of JSON have four million names at most: some ten thousand for each part. */
const PARTS = 256;
export function newNameTable<T>(): NameTable<T> {
  return { first: new Map(), parts: undefined };
}

/** What stands under `name`. */
export function tableGet<T>({ first, parts }: NameTable<T>, name: string): T | undefined {
  const found = first.get(name);
  return found !== undefined || parts === undefined ? found : partFor(parts, name).get(name);
}

/** Puts `value`, which is not undefined, under `name`, in the place of what was there. */
export function tableSet<T>(table: NameTable<T>, name: string, value: T): void {
  const { first, parts } = table;
  if (parts === undefined || first.has(name)) first.set(name, value);
  else partFor(parts, name).set(name, value);
  if (parts === undefined && first.size >= FEW) table.parts = Array.from({ length: PARTS }, () => new Map());
}

export function tableDelete<T>({ first, parts }: NameTable<T>, name: string): void {
  if (!first.delete(name) && parts !== undefined) partFor(parts, name).delete(name);
}

/** Maps that hold everything, each name once: in the order in which they came as long as they are few. */
export function tableMaps<T>({ first, parts }: NameTable<T>): readonly ReadonlyMap<string, T>[] {
  return parts === undefined ? [first] : [first, ...parts];
}

/** Of a long name some hundred characters choose its part. */
function partFor<T>(parts: readonly Map<string, T>[], name: string): Map<string, T> {
  const stride = 1 + (name.length >> 8);
  let mixed = name.length;
  for (let at = 0; at < name.length; at += stride) mixed = Math.imul(mixed, 31) + name.charCodeAt(at);
  return parts[mixed & (PARTS - 1)] as Map<string, T>;
}
