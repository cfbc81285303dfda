/** How fast a replay asks: at its rate, and slower while the platform wants it. */
import { type ApiResponse, header, retryAfter } from "../model/http.ts";
import type { Signal } from "../model/signal.ts";

export interface ReplayPace {
  /** Resolves when the next request may begin. Rejects with the signal's reason. */
  turn(signal: Signal): Promise<void>;
  /** Hears of each response of the platform. */
  observe(response: Pick<ApiResponse, "status" | "headers">): void;
  /** Requests per second at present. */
  rate(): number;
  /** Milliseconds for which nothing begins, as the platform asked for it; 0: none. */
  pause(): number;
  /** How often the platform asked for less. */
  slowed(): number;
}

export interface ReplayPaceOptions {
  /** Requests per second at most. */
  readonly rate: number;
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly sleep: (ms: number, signal: Signal) => Promise<void>;
}

/** Without a Retry-After. Each refusal after such a pause doubles it. */
const FIRST_PAUSE_MS = 1_000;
/** A longer Retry-After is cut short: the platform may say it again. */
const MAX_PAUSE_MS = 300_000;
/** The rate is never less than this share of what was asked for. */
const LEAST = 1 / 64;
/** The rate grows by a tenth after so long without a refusal. */
const RECOVER_MS = 5_000;
const RECOVERY = 1.1;

/** A refusal (429, or 503) halves the rate once per pause, however many requests in flight get one. */
export function createReplayPace({ rate: most, now, wall, sleep }: ReplayPaceOptions): ReplayPace {
  let rate = most;
  let next = now();
  let pausedUntil = next;
  let pauseMs = FIRST_PAUSE_MS;
  let changedAt = next;
  let slowed = 0;
  const recover = (): void => {
    if (rate === most || now() - Math.max(changedAt, pausedUntil) < RECOVER_MS) return;
    rate = Math.min(most, rate * RECOVERY);
    changedAt = now();
    pauseMs = FIRST_PAUSE_MS;
  };
  return {
    async turn(signal) {
      recover();
      const at = Math.max(next, now());
      next = at + 1_000 / rate;
      for (let wait = Math.max(at, pausedUntil) - now(); wait > 0; wait = pausedUntil - now())
        await sleep(wait, signal);
      signal.throwIfAborted();
    },
    observe({ status, headers }) {
      if (status !== 429 && status !== 503) return;
      const at = now();
      const asked = retryAfter(header(headers, "retry-after"), wall());
      // A single 503 without a word is one failed request, which is made again anyway.
      if (asked === undefined && status === 503) return;
      if (at >= pausedUntil) {
        slowed += 1;
        rate = Math.max(most * LEAST, rate / 2);
        changedAt = at;
        pausedUntil = at + Math.min(asked ?? pauseMs, MAX_PAUSE_MS);
        if (asked === undefined) pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      } else if (asked !== undefined) pausedUntil = Math.max(pausedUntil, at + Math.min(asked, MAX_PAUSE_MS));
      next = Math.max(next, pausedUntil);
    },
    rate: () => rate,
    pause: () => Math.max(0, pausedUntil - now()),
    slowed: () => slowed,
  };
}
