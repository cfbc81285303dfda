/** Did v2 refuse what only carryover can have said: a field that v2 does not know, a mask that it does not take? */
import type { Exchange } from "./model/exchange.ts";
import { OWN_WORDS_REFUSED } from "./model/fault.ts";
import type { SendLayer } from "./model/message.ts";

/** As decoders of JSON into messages say it, and those who read masks. */
const OF_THE_TRANSLATION = /unknown (?:field|name)|could not find field|(?:field|update)[ _]?mask/i;
/** So much of an error is looked at. */
const MOST_BYTES = 4096;

/**
 * Notes it in `exchange`. What clients send besides known fields is dropped before (`unknownFields.request`), so such a 400
 * to a write is about the translation, and no client could do anything about it.
 */
export function noteOwnWords({ notes }: Pick<Exchange, "notes">): SendLayer {
  return (next) => async (request, options) => {
    const response = await next(request, options);
    if (response.status === 400 && request.method !== "GET") {
      const text = new TextDecoder().decode(response.body.subarray(0, MOST_BYTES));
      if (OF_THE_TRANSLATION.test(text)) notes.push(OWN_WORDS_REFUSED);
    }
    return response;
  };
}
