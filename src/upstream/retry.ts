/** When is a call sent a second time, and after how long? */
import { type ApiRequest, type ApiResponse, header, retryAfter, type SendLayer } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { neverLeft } from "./failure.ts";

export interface RetryOptions {
  readonly budget: RetryBudget;
  /** Wall clock, milliseconds since 1970: a `Retry-After` may be a date. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Waits; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: Signal): Promise<void>;
  /** An upstream that asks for a longer pause is not called again, and its answer is passed on. */
  readonly maxWaitMs?: number;
}

const MAX_WAIT_MS = 5_000;
const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Sends once more, never twice more: a read that was reset or answered 502, 503, 504, and any call that certainly did
 * not leave. A write of which a byte may have left is never repeated, and neither is what carryover refused itself.
 */
export function createRetry(options: RetryOptions): SendLayer {
  return (next) => async (request, sending) => {
    options.budget.called();
    let giveBack: (() => void) | undefined;
    try {
      let first: ApiResponse | Problem;
      try {
        first = await next(request, sending);
      } catch (error) {
        first = asProblem(error);
      }
      const wait = pauseOf(first, request, options);
      if (wait !== undefined) giveBack = options.budget.repeat();
      if (wait !== undefined && giveBack !== undefined) {
        await options.sleep(wait, sending.signal);
        return await next(request, sending);
      }
      if (first instanceof Problem) throw first;
      return first;
    } finally {
      giveBack?.();
    }
  };
}

/** Milliseconds to wait before a repeat, or undefined when there must be none. */
function pauseOf(first: ApiResponse | Problem, request: ApiRequest, options: RetryOptions): number | undefined {
  const read = request.method === "GET" || request.method === "HEAD";
  const jitter = 100 + options.random() * 100;
  if (first instanceof Problem) {
    return neverLeft(first) || (read && first.reason === "UPSTREAM_UNREACHABLE") ? jitter : undefined;
  }
  if (!read || !RETRIED_STATUSES.has(first.status)) return undefined;
  const asked = retryAfter(header(first.headers, "retry-after"), options.now());
  if (asked === undefined) return jitter;
  return asked > (options.maxWaitMs ?? MAX_WAIT_MS) ? undefined : Math.max(asked, jitter);
}

/** A failed call as a value; a caller who gave up, or a stranger, is thrown on. */
function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** When is a page that was refused with 429 asked for again? */

export interface PageRetryOptions {
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
const MAX_PAGE_WAIT_MS = 5_000;

/** Where the platform said when, the queue holds all pages of that credential back until then; a longer time goes to the client at once. */
export function createPageRetry({ wall, random, sleep }: PageRetryOptions): SendLayer {
  return (next) => async (request, sending) => {
    for (let repeats = 0; ; repeats++) {
      const response = await next(request, sending);
      if (response.status !== 429 || repeats === REPEATS) return response;
      const asked = retryAfter(header(response.headers, "retry-after"), wall()) ?? 0;
      if (asked > MAX_PAGE_WAIT_MS) return response;
      if (asked === 0) await sleep(PAUSE_MS * 2 ** repeats * (1 + random()), sending.signal);
    }
  };
}

/** May one more call be sent again, seeing how many were made? */

/** Shared by everything that calls one upstream. */
export interface RetryBudget {
  /** A call that is no repeat begins. */
  called(): void;
  /** Takes leave for one repeat; the function given back says that it is over. Undefined: none is left. */
  repeat(): (() => void) | undefined;
}

export interface RetryBudgetOptions {
  /** Repeats, as a share of all calls that are none. */
  readonly share: number;
  /** Repeats under way that are always allowed: where there is little traffic, a share of it is nothing. */
  readonly floor: number;
}

/** 20% of the calls, and three at a time in any case: an upstream in trouble is not called much more than before. */
export const DEFAULT_RETRY_BUDGET: RetryBudgetOptions = { share: 0.2, floor: 3 };

/**
 * What good times leave for the moment in which all open connections break; and what is owed at most for repeats that were
 * allowed in any case. Counted in calls, not in time: a platform that is slow must not be repeated more.
 */
const MOST_CALLS = 100;

/** A fresh budget; see `Budget`. */
export function createRetryBudget({ share, floor }: RetryBudgetOptions = DEFAULT_RETRY_BUDGET): RetryBudget {
  let left = 0;
  let underWay = 0;
  return {
    called: () => {
      left = Math.min(MOST_CALLS, left + share);
    },
    repeat: () => {
      // A sum of fifths is a little less than one at times.
      if (left < 1 - 1e-9 && underWay >= floor) return undefined;
      left = Math.max(-MOST_CALLS, left - 1);
      underWay++;
      let done = false;
      return () => {
        if (!done) underWay--;
        done = true;
      };
    },
  };
}
