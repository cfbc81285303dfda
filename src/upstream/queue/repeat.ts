/** When is a page that was refused with 429 asked for again? */
import { retryAfter } from "../../model/http.ts";
import { header, type SendLayer } from "../../model/message.ts";
import type { Signal } from "../../model/signal.ts";

export interface RepeatOptions {
  /** Milliseconds since 1970: a `Retry-After` may be a date. */
  readonly wall: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Waits; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: Signal): Promise<void>;
}

/** A 429 asks to come later; the client of a list that was told so this often is told, too. */
const REPEATS = 3;
/** Before the first repeat of a 429 that does not say when, up to twice this; then twice as long each time. */
const PAUSE_MS = 100;
const MAX_WAIT_MS = 5_000;

/** Where the platform said when, the queue holds all pages of that credential back until then; a longer time goes to the client at once. */
export function createRepeat({ wall, random, sleep }: RepeatOptions): SendLayer {
  return (next) => async (request, sending) => {
    for (let repeats = 0; ; repeats++) {
      const response = await next(request, sending);
      if (response.status !== 429 || repeats === REPEATS) return response;
      const asked = retryAfter(header(response.headers, "retry-after"), wall()) ?? 0;
      if (asked > MAX_WAIT_MS) return response;
      if (asked === 0) await sleep(PAUSE_MS * 2 ** repeats * (1 + random()), sending.signal);
    }
  };
}
