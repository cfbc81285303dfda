/** Finds where the values of a JSON text begin and end, in steps that are short whatever the size of the text. */
import { isUtf8 } from "node:buffer";
import { fail } from "../json/error.ts";
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
import { decodeString, findKey, type KeyTable } from "../json/text.ts";

/** One value of a text: `start..end` of its bytes. */
export interface ValueSpan {
  readonly text: PaddedText;
  readonly start: number;
  readonly end: number;
}

/** Bytes that are copied or compared in one step. */
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

/** True when both values are spelled the same, byte for byte. */
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
    // The text is no JSON; nothing else throws here.
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

/** Where the elements of an array are: plain numbers, since a million objects would cost much garbage collection. */
export interface JsonElements {
  readonly text: PaddedText;
  readonly length: number;
  /** Start and end of each, in lists that are never copied to grow. */
  readonly places: readonly (readonly number[])[];
}

/** Elements in each list of places. */
const MAX_PLACES = 4096;

export function* elementsOf({ text, start }: ValueSpan, pace: YieldBudget): Generator<void, JsonElements> {
  const places: number[][] = [];
  let last: number[] = [];
  let length = 0;
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x5d) {
    const end = scalarEnd(text.view, at) || (yield* skipSlow(text, at, pace));
    if (length % MAX_PLACES === 0) {
      last = [];
      places.push(last);
    }
    last.push(at, end);
    length++;
    const size = end - at;
    at = skipComma(text.view, end, 0x5d);
    if (pace.isDue(size)) yield;
  }
  return { text, length, places };
}

/** Those elements for which `takes` is true, in their order. */
export function* chosenElements(
  elements: JsonElements,
  takes: (element: ValueSpan) => Generator<void, boolean>,
): Generator<void, JsonElements> {
  const places: number[][] = [];
  let last: number[] = [];
  let length = 0;
  for (let i = 0; i < elements.length; i++) {
    const element = elementAt(elements, i);
    if (!(yield* takes(element))) continue;
    if (length % MAX_PLACES === 0) {
      last = [];
      places.push(last);
    }
    last.push(element.start, element.end);
    length++;
  }
  return { text: elements.text, length, places };
}

/** The element `index`, which must be below `length`. */
export function elementAt({ text, places }: JsonElements, index: number): ValueSpan {
  const list = places[Math.floor(index / MAX_PLACES)] as readonly number[];
  const at = 2 * (index % MAX_PLACES);
  return { text, start: list[at] as number, end: list[at + 1] as number };
}

/** The members of an object by their names. */
export type JsonMembers = NameTable<ValueSpan>;

/** The members of an object. Of a name that is there twice the last one counts, as for most readers. */
export function* membersOf(object: ValueSpan, pace: YieldBudget): Generator<void, JsonMembers> {
  const { text } = object;
  const found: JsonMembers = new NameTable();
  yield* scanMembers(object, pace, (nameStart, nameEnd, start, end) => {
    found.set(decodeString(text.bytes, nameStart, nameEnd), { text, start, end });
  });
  return found;
}

/** The member of an object under the one name in `names`; the same one that `membersOf` has. */
export function* memberOf(
  object: ValueSpan,
  names: KeyTable<true>,
  pace: YieldBudget,
): Generator<void, ValueSpan | undefined> {
  const { text } = object;
  let found: ValueSpan | undefined;
  yield* scanMembers(object, pace, (nameStart, nameEnd, start, end) => {
    if (findKey(names, text.bytes, nameStart, nameEnd) === true) found = { text, start, end };
  });
  return found;
}

function* scanMembers(
  { text, start }: ValueSpan,
  pace: YieldBudget,
  take: (nameStart: number, nameEnd: number, start: number, end: number) => void,
): Generator<void, void> {
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(text.view, at);
    const value = skipSpace(text.view, skipColon(text.view, nameEnd));
    const end = scalarEnd(text.view, value) || (yield* skipSlow(text, value, pace));
    take(at, nameEnd, value, end);
    const size = end - at;
    at = skipComma(text.view, end, 0x7d);
    if (pace.isDue(size)) yield;
  }
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

/** Bytes between two pauses: some 0.3 ms for records that differ. */
const STEP = 128 * 1024;
/** What a value costs in addition to its bytes. */
const EACH = 64;

/** The work since the last pause. */
export class YieldBudget {
  #bytes = 0;

  /** Adds one value of `bytes`; true when it is time for a pause (`yield`). */
  isDue(bytes = 0): boolean {
    this.#bytes += bytes + EACH;
    if (this.#bytes < STEP) return false;
    this.#bytes = 0;
    return true;
  }
}

/** A longer string is read in steps of this length. */
const LONG_TEXT = 32 * 1024;
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX: ReadonlySet<number> = new Set(Buffer.from("0123456789abcdefABCDEF"));
/** Deepest nesting that is read, as by the rewriter. */
const DEPTH = 100;

/** The end of the scalar at `start`; 0 for what takes a `skipSlow`: an object, an array, a long string. */
function scalarEnd(view: DataView, start: number): number {
  const byte = view.getUint8(start);
  if (isOpening(byte)) return 0;
  return byte === 0x22 ? Math.max(0, textEnd(view, start + 1, start + LONG_TEXT)) : skipValue(view, start, 0);
}

/** The end of any value, in steps. */
function* skipSlow(text: PaddedText, start: number, pace: YieldBudget): Generator<void, number> {
  if (isOpening(text.view.getUint8(start))) return yield* skipNested(text, start, pace);
  let at = -start - 1;
  while (at <= 0) {
    at = textEnd(text.view, -at, LONG_TEXT - at);
    if (pace.isDue(LONG_TEXT)) yield;
  }
  return at;
}

/** The end of a string, from within it; or minus the position to continue at when it is still open at `limit`. */
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

/** The end of the object or array at `start`; checks every byte. */
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
      at = afterValue(view, at + 1, closes.at(-1));
    } else {
      if (close === 0x7d) at = skipSpace(view, skipColon(view, skipKey(view, at)));
      const byte = view.getUint8(at);
      if (isOpening(byte)) {
        enter(at, DEPTH - closes.length);
        closes.push(byte + 2);
        at = skipSpace(view, at + 1);
      } else at = afterValue(view, scalarEnd(view, at) || (yield* skipSlow(text, at, pace)), close);
    }
    if (pace.isDue(at - from)) yield;
  }
}

/** From the end of a value to the next one, or to `close` itself. */
function afterValue(view: DataView, at: number, close: number | undefined): number {
  return close === undefined ? at : skipComma(view, at, close);
}

/** `{` or `[`; what closes it has this code plus two. */
function isOpening(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b;
}

/** A `Map` of this many names is copied in less than a millisecond. */
const MAX_NAMES_OF_FIRST = 8192;
/** Eight megabytes of JSON hold at most four million names: some ten thousand for each part. */
const PARTS = 256;

/** A map of millions of names in which no step takes long: one `Map` would be copied as a whole each time it is full. */
export class NameTable<T> {
  readonly #first = new Map<string, T>();
  /** What came when `#first` was full. */
  #parts: readonly Map<string, T>[] | undefined;

  get(name: string): T | undefined {
    const found = this.#first.get(name);
    return found !== undefined || this.#parts === undefined ? found : partFor(this.#parts, name).get(name);
  }

  set(name: string, value: T): void {
    if (this.#parts === undefined || this.#first.has(name)) this.#first.set(name, value);
    else partFor(this.#parts, name).set(name, value);
    if (this.#first.size >= MAX_NAMES_OF_FIRST) this.#parts ??= Array.from({ length: PARTS }, () => new Map());
  }

  delete(name: string): void {
    if (!this.#first.delete(name) && this.#parts !== undefined) partFor(this.#parts, name).delete(name);
  }

  /** Each name once; in the order in which they came as long as they are few. */
  entries(): Iterable<readonly [name: string, value: T]> {
    return this.#parts === undefined ? this.#first : chained(this.maps());
  }

  maps(): readonly ReadonlyMap<string, T>[] {
    return [this.#first, ...(this.#parts ?? [])];
  }
}

function* chained<T>(maps: readonly ReadonlyMap<string, T>[]): Iterable<readonly [string, T]> {
  for (const map of maps) yield* map;
}

/** Of a long name some hundred characters choose its part. */
function partFor<T>(parts: readonly Map<string, T>[], name: string): Map<string, T> {
  const stride = 1 + (name.length >> 8);
  let mixed = name.length;
  for (let at = 0; at < name.length; at += stride) mixed = Math.imul(mixed, 31) + name.charCodeAt(at);
  return parts[mixed & (PARTS - 1)] as Map<string, T>;
}
