/** Is a JSON text small enough to be understood in one step? (Design section 7: nobody waits for a comparison.) */

import type { ComparisonFailure } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";

/** Longest text that is parsed whole: no record of the catalogue comes near. */
export const MAX_PARSED_BYTES = 1024 ** 2;
/** Most members and elements at all depths: what they cost does not show in their bytes. */
export const MAX_PARSED_VALUES = 10_000;
/** Bytes looked at in one step. */
const STRIDE = 2 ** 16;

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

/**
 * Why `text` is not to be parsed: `too-large` for its bytes, `not-comparable` for what is in it; undefined when it may be.
 * Yields every 64 KiB. In a text that is no JSON it counts up to the mistake at least, and no parser comes further.
 */
export function* whyNotParsed(text: Uint8Array): Generator<void, ComparisonFailure | undefined> {
  if (text.length > MAX_PARSED_BYTES) return "too-large";
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
    if (values > MAX_PARSED_VALUES) return "not-comparable";
  }
  return undefined;
}

/** Which JSON object do these bytes hold? */

/** Undefined for anything else, no bytes included. One step, so only for what is not large (`bulkOf`). */
export function parsedObject(bytes: Uint8Array | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` where it is a text. */
export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
