/** Finds refusals of the platform that only the translation can have caused. */
import { type Exchange, TRANSLATION_REFUSED_NOTE } from "../model/exchange.ts";
import type { ApiRequest, ApiResponse } from "../model/http.ts";

/** As decoders of JSON into messages say it, and those who read masks. */
const TRANSLATION_REFUSED = /unknown (?:field|name)|could not find field|(?:field|update)[ _]?mask/i;
/** Only the beginning of a longer error is read. */
const MAX_ERROR_BYTES = 4096;

/**
 * Notes it in `exchange`. What clients send besides known fields is dropped before (`unknownFields.request`), so such a 400
 * to a write is about the translation, and no client could do anything about it.
 */
export function noteTranslationRefused(
  { notes }: Pick<Exchange, "notes">,
  { method }: Pick<ApiRequest, "method">,
  { status, body }: ApiResponse,
): void {
  if (status !== 400 || method === "GET") return;
  const text = new TextDecoder().decode(body.subarray(0, MAX_ERROR_BYTES));
  if (TRANSLATION_REFUSED.test(text)) notes.push(TRANSLATION_REFUSED_NOTE);
}
