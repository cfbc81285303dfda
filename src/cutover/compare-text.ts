/** Where do the values of a JSON text begin and end, asked in steps short enough for a thread that serves others too? */
import { isUtf8 } from "node:buffer";
import { findKey, type KeyTable } from "../json/keys.ts";
import { type Loaded, padded, skipColon, skipComma, skipEnd, skipKey, skipSpace, space } from "../json/scan.ts";
import { decodeString } from "../json/text.ts";
import { isDue, type Pace, scalarEnd, skipSlow } from "./compare-skip.ts";
import { newTable, put, type Table } from "./table.ts";

/** One value of a text: `start..end` of its bytes. */
export interface Span {
  readonly text: Loaded;
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
export function sameSpelling(a: Span, b: Span): boolean {
  const length = a.end - a.start;
  return length === b.end - b.start && a.text.bytes.compare(b.text.bytes, b.start, b.end, a.start, a.end) === 0;
}

/** The one value of `body`; undefined when it is no JSON text (RFC 8259, UTF-8, nested at most 100 deep). */
export function* readValue(body: Uint8Array, pace: Pace): Generator<void, Span | undefined> {
  const text = space(padded(body.length));
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
export interface Elements {
  readonly text: Loaded;
  readonly length: number;
  /** Where each begins and ends, in lists that are never copied to make room. */
  readonly places: readonly (readonly number[])[];
}

/** Elements in each list of places. */
const MOST_PLACES = 4096;

/** The elements of an array, in order. */
export function* elementsOf({ text, start }: Span, pace: Pace): Generator<void, Elements> {
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
    if (isDue(pace, size)) yield;
  }
  return { text, length, places };
}

/** The element number `index`, which must be one. */
export function elementAt({ text, places }: Elements, index: number): Span {
  const list = places[Math.floor(index / MOST_PLACES)] as readonly number[];
  const at = 2 * (index % MOST_PLACES);
  return { text, start: list[at] as number, end: list[at + 1] as number };
}

/** The members of an object by their names. */
export type Members = Table<Span>;

/** The members of an object. Of a name that is there twice the last one counts, as for most readers. */
export function* membersOf(object: Span, pace: Pace): Generator<void, Members> {
  const { text, start } = object;
  const found = newTable<Span>();
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(text.view, at);
    const value = skipSpace(text.view, skipColon(text.view, nameEnd));
    const end = scalarEnd(text.view, value) || (yield* skipSlow(text, value, pace));
    put(found, decodeString(text.bytes, at, nameEnd), { text, start: value, end });
    const size = end - at;
    at = skipComma(text.view, end, 0x7d);
    if (isDue(pace, size)) yield;
  }
  return found;
}

/** The member of an object that `names`, a table of one name, tells; the same one that `membersOf` has under it. */
export function* memberOf(object: Span, names: KeyTable<true>, pace: Pace): Generator<void, Span | undefined> {
  const { text, start } = object;
  let found: Span | undefined;
  let at = skipSpace(text.view, start + 1);
  while (text.view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(text.view, at);
    const value = skipSpace(text.view, skipColon(text.view, nameEnd));
    const end = scalarEnd(text.view, value) || (yield* skipSlow(text, value, pace));
    if (findKey(names, text.bytes, at, nameEnd) === true) found = { text, start: value, end };
    const size = end - at;
    at = skipComma(text.view, end, 0x7d);
    if (isDue(pace, size)) yield;
  }
  return found;
}

/** The JSON type of a value. */
export type Kind = "object" | "array" | "string" | "number" | "boolean" | "null";

export function kindOf({ text, start }: Span): Kind {
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
