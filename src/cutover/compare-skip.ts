/** How far does a JSON value go, found out in steps short enough for a thread that serves others too? */
import { fail } from "../json/error.ts";
import { enter, type Loaded, skipColon, skipComma, skipKey, skipSpace, skipValue } from "../json/scan.ts";

/** How much was done since the last pause, in bytes looked at. */
export interface Pace {
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
export function isDue(pace: Pace, bytes: number): boolean {
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
export function* skipSlow(text: Loaded, start: number, pace: Pace): Generator<void, number> {
  if (isOpening(text.view.getUint8(start))) return yield* skipNested(text, start, pace);
  let at = -start - 1;
  while (at <= 0) {
    at = textEnd(text.view, -at, LONG_TEXT - at);
    if (isDue(pace, LONG_TEXT)) yield;
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
function* skipNested(text: Loaded, start: number, pace: Pace): Generator<void, number> {
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
    if (isDue(pace, at - from)) yield;
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
