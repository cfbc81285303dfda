/**
 * Where does this JSON value end, and is it valid (RFC 8259)? The same grammar as `src/json/scan.ts`, sixteen bytes at a time.
 * Every function takes the address of a token and returns the address after it. After the text there are zeros, which stop everything.
 */
import {
  REASON_AFTER,
  REASON_COLON,
  REASON_COMMA_ARRAY,
  REASON_COMMA_OBJECT,
  REASON_CONTROL,
  REASON_DEPTH,
  REASON_DIGIT,
  REASON_ESCAPE,
  REASON_LAST_COMMA,
  REASON_NAME,
  REASON_VALUE,
} from "../src/json/layout";

@external("host", "fail")
declare function hostFail(at: i32, reason: i32): void;

/** Refuses the text: the host throws. */
export function fail(at: i32, reason: i32): void {
  hostFail(at, reason);
  unreachable();
}

@inline
export function skipSpace(start: i32): i32 {
  return load<u8>(start) > 0x20 ? start : skipSpaces(start);
}

function skipSpaces(start: i32): i32 {
  let at = start;
  let byte = load<u8>(at);
  while (byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09) byte = load<u8>(++at);
  return at;
}

/** Any value; `depth` is how many more objects and arrays may be entered. */
export function skipValue(start: i32, depth: i32): i32 {
  const byte = load<u8>(start);
  if (byte == 0x22) return skipString(start);
  if (byte == 0x7b) return skipObject(start, depth);
  if (byte == 0x5b) return skipArray(start, depth);
  // The letters of `true`, `alse` and `null` as words.
  if (byte == 0x74) return load<u32>(start) == 0x65757274 ? start + 4 : skipWord(start, 0x65757274);
  if (byte == 0x66) return load<u32>(start + 1) == 0x65736c61 ? start + 5 : skipWord(start + 1, 0x65736c61);
  if (byte == 0x6e) return load<u32>(start) == 0x6c6c756e ? start + 4 : skipWord(start, 0x6c6c756e);
  return skipNumber(start);
}

/** A string, from its opening quote. */
export function skipString(start: i32): i32 {
  let at = start + 1;
  while (true) {
    const bytes = v128.load(at);
    const stops = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
        i8x16.lt_u(bytes, i8x16.splat(0x20)),
      ),
    );
    if (stops == 0) {
      at += 16;
      continue;
    }
    at += ctz(stops);
    const byte = load<u8>(at);
    if (byte == 0x22) return at + 1;
    if (byte != 0x5c) fail(at, REASON_CONTROL);
    at = skipEscape(at);
  }
}

function skipEscape(start: i32): i32 {
  const byte = load<u8>(start + 1);
  if (byte == 0x75) {
    for (let at = start + 2; at < start + 6; at++) if (!isHex(load<u8>(at))) fail(at, REASON_ESCAPE);
    return start + 6;
  }
  // " \ / b f n r t
  const known =
    byte == 0x22 ||
    byte == 0x5c ||
    byte == 0x2f ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74;
  if (!known) fail(start + 1, REASON_ESCAPE);
  return start + 2;
}

function isHex(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 6;
}

@inline
function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

/** One digit or more. */
function skipDigits(start: i32): i32 {
  if (!isDigit(load<u8>(start))) fail(start, REASON_DIGIT);
  let at = start + 1;
  while (isDigit(load<u8>(at))) at++;
  return at;
}

function skipNumber(start: i32): i32 {
  let at = start;
  if (load<u8>(start) == 0x2d) at++;
  else if (!isDigit(load<u8>(start))) fail(start, REASON_VALUE);
  at = load<u8>(at) == 0x30 ? at + 1 : skipDigits(at);
  if (load<u8>(at) == 0x2e) at = skipDigits(at + 1);
  if ((load<u8>(at) | 0x20) != 0x65) return at;
  const sign = load<u8>(++at);
  return skipDigits(sign == 0x2b || sign == 0x2d ? at + 1 : at);
}

/** Finds where the four letters of `word` are wrong. */
function skipWord(start: i32, word: u32): i32 {
  let at = start;
  for (let rest = word; rest != 0; rest >>= 8) {
    if (load<u8>(at) != (rest & 0xff)) fail(at, REASON_VALUE);
    at++;
  }
  return at;
}

/** From the end of a member name to the address after the colon. */
@inline
export function skipColon(start: i32): i32 {
  const at = skipSpace(start);
  if (load<u8>(at) != 0x3a) fail(at, REASON_COLON);
  return at + 1;
}

/** From the end of a member or element to the next one, or to `close` itself. */
@inline
export function skipComma(start: i32, close: i32): i32 {
  const at = skipSpace(start);
  const byte: i32 = load<u8>(at);
  if (byte == close) return at;
  if (byte != 0x2c) fail(at, close == 0x7d ? REASON_COMMA_OBJECT : REASON_COMMA_ARRAY);
  const next = skipSpace(at + 1);
  if (load<u8>(next) == close) fail(next, REASON_LAST_COMMA);
  return next;
}

/** Refuses to enter an object or array at `at` when it would be too deep. */
@inline
export function enter(at: i32, depth: i32): void {
  if (depth <= 0) fail(at, REASON_DEPTH);
}

/** A member name. */
@inline
export function skipName(start: i32): i32 {
  if (load<u8>(start) != 0x22) fail(start, REASON_NAME);
  return skipString(start);
}

function skipObject(start: i32, depth: i32): i32 {
  enter(start, depth);
  let at = skipSpace(start + 1);
  while (load<u8>(at) != 0x7d) {
    at = skipSpace(skipColon(skipName(at)));
    at = skipComma(skipValue(at, depth - 1), 0x7d);
  }
  return at + 1;
}

function skipArray(start: i32, depth: i32): i32 {
  enter(start, depth);
  let at = skipSpace(start + 1);
  while (load<u8>(at) != 0x5d) at = skipComma(skipValue(at, depth - 1), 0x5d);
  return at + 1;
}

/** Refuses anything but white space from `start` to `until`, the end of the text. */
export function skipEnd(start: i32, until: i32): void {
  const at = skipSpace(start);
  if (at < until) fail(at, REASON_AFTER);
}
