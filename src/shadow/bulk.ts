/** Is a JSON text small enough to be understood in one step? (Design section 7: nobody waits for a comparison.) */
import type { Failure } from "./failure.ts";

/** Longest text that is parsed whole: no record of the catalogue comes near. */
export const MOST_BYTES = 1024 ** 2;
/** Most members and elements at all depths: what they cost does not show in their bytes. */
export const MOST_VALUES = 10_000;
/** Bytes looked at in one step. */
const STRIDE = 2 ** 16;

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

/**
 * Why `text` is not to be parsed: `too-large` for its bytes, `not-comparable` for what is in it; undefined when it may be.
 * Yields every 64 KiB. In a text that is no JSON it counts up to the mistake at least, and no parser comes further.
 */
export function* bulkOf(text: Uint8Array): Generator<void, Failure | undefined> {
  if (text.length > MOST_BYTES) return "too-large";
  let values = 0;
  let inText = false;
  let rest = STRIDE;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (at >= rest) {
      rest = at + STRIDE;
      yield;
    }
    if (byte === QUOTE) inText = !inText;
    else if (inText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
    if (values > MOST_VALUES) return "not-comparable";
  }
  return undefined;
}
