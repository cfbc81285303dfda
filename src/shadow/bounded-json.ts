/** JSON that is parsed whole, in one step, because it is known to be small. */
import { parseExact } from "../json/exact.ts";
import type { ComparisonFailure } from "../model/comparison.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { ComparisonError } from "./outcome.ts";

/** Longest text that is parsed: no record of the catalogue comes near. */
export const MAX_PARSED_BYTES = 1024 ** 2;
/** Most members and elements at all depths: their cost does not show in their bytes. */
export const MAX_PARSED_VALUES = 10_000;
/** Bytes looked at in one step. */
const STRIDE = 2 ** 16;

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

/** The JSON object in `text`, undefined for anything else. Throws ComparisonError for one that is too large. */
export function* parseBounded(text: Uint8Array): Generator<void, JsonObject | undefined> {
  const failure = yield* whyNotParsed(text);
  if (failure !== undefined) throw new ComparisonError(failure);
  yield;
  return parsedObject(text);
}

/**
 * Why `text` is not parsed: `too-large` for its bytes, `not-comparable` for its members; undefined when it may be. Yields every
 * 64 KiB. In a text that is no JSON it counts at least as far as a parser would come.
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

/** The JSON object in `bytes` with all digits of its numbers, undefined for anything else; only for what `whyNotParsed` has accepted. */
export function parsedObject(bytes: Uint8Array | undefined): JsonObject | undefined {
  try {
    const value = parseExact(bytes ?? "");
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
