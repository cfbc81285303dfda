/** When a call is sent again: retries within a budget, and pages that were refused with 429. */
import { type ApiRequest, type ApiResponse, header, retryAfter, type SendLayer } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { neverLeft } from "./failure.ts";

interface PauseOptions {
  /** Milliseconds since 1970: a `Retry-After` may be a date. */
  readonly wall: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: Signal): Promise<void>;
}

export interface PageRetryOptions extends PauseOptions {
  /** Time of one list (`lists.maxSeconds`). */
  readonly maxSeconds: number;
  /** On the clock of the callers' `since` and `deadline`. */
  readonly now: () => number;
}

export interface RetryOptions extends PauseOptions {
  readonly budget: RetryBudget;
}

/** When an upstream asks for a longer pause, its response goes to the client instead. */
const MAX_WAIT_MS = 5_000;
const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Sends at most once more: a read that was reset or got 502, 503 or 504, and any call that certainly did not leave. A write
 * of which a byte may have left is never repeated, nor is a call that carryover itself refused.
 */
export function createRetry(options: RetryOptions): SendLayer {
  const { budget, sleep } = options;
  return (next) => async (request, sending) => {
    budget.called();
    let first: ApiResponse | Problem;
    try {
      first = await next(request, sending);
    } catch (error) {
      // Other errors are the signal's reason, or a bug.
      if (!(error instanceof Problem)) throw error;
      first = error;
    }
    const wait = pauseOf(first, request, options);
    const giveBack = wait === undefined ? undefined : budget.repeat();
    if (wait === undefined || giveBack === undefined) {
      if (first instanceof Problem) throw first;
      return first;
    }
    try {
      await sleep(wait, sending.signal);
      return await next(request, sending);
    } finally {
      giveBack();
    }
  };
}

/** Milliseconds to wait before a repeat; undefined when there must be none. */
function pauseOf(first: ApiResponse | Problem, request: ApiRequest, options: RetryOptions): number | undefined {
  const read = request.method === "GET" || request.method === "HEAD";
  const jitter = 100 + options.random() * 100;
  if (first instanceof Problem) {
    return neverLeft(first) || (read && first.reason === "UPSTREAM_UNREACHABLE") ? jitter : undefined;
  }
  if (!read || !RETRIED_STATUSES.has(first.status)) return undefined;
  const pauseMs = retryAfter(header(first.headers, "retry-after"), options.wall()) ?? 0;
  return pauseMs > MAX_WAIT_MS ? undefined : Math.max(pauseMs, jitter);
}

/** Before the first repeat of a 429 without `Retry-After`, up to twice this; then twice as long each time, up to a longest. */
const PAGE_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Time that is left for the refusal to reach the client, as for calls that wait in the queue. */
const SPARE_MS = 1_000;

/**
 * Repeats a page with 429, or with 503 and `Retry-After`, as long as the list has time; then the refusal is the response.
 * With `Retry-After`, the queue holds back all pages of that credential; a longer time goes to the client at once.
 */
export function createPageRetry({ wall, random, sleep, now, maxSeconds }: PageRetryOptions): SendLayer {
  return (next) => async (request, sending) => {
    const { since = now(), deadline = Number.POSITIVE_INFINITY } = sending.caller ?? {};
    const end = Math.min(deadline, since + maxSeconds * 1_000);
    // A short time is not all spared.
    const last = end - Math.min(SPARE_MS, (end - since) / 5);
    let refusal: ApiResponse | undefined;
    for (let repeats = 0; ; repeats++) {
      try {
        const response = await next(request, refusal === undefined ? sending : { ...sending, again: true });
        const pauseMs = pagePauseOf(response, wall());
        if (pauseMs === undefined) return response;
        const backoffMs = Math.min(LONGEST_PAUSE_MS, PAGE_PAUSE_MS * 2 ** repeats * (1 + random()));
        if (now() + (pauseMs || backoffMs) >= last) return response;
        refusal = response;
        if (pauseMs === 0) await sleep(backoffMs, sending.signal);
      } catch (error) {
        // No place became free in time, because the platform refuses.
        if (refusal !== undefined && error instanceof Problem && error.reason === "OVERLOADED") return refusal;
        throw error;
      }
    }
  };
}

/** Milliseconds to wait before a page is repeated, 0 if the platform named none; undefined when it must not be. */
function pagePauseOf({ status, headers }: ApiResponse, wall: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const pauseMs = retryAfter(header(headers, "retry-after"), wall) ?? 0;
  if (pauseMs > MAX_WAIT_MS || (status === 503 && pauseMs === 0)) return undefined;
  return pauseMs;
}

/**
 * What may be saved for the moment in which all open connections break, and the debt for repeats that are always allowed.
 * Counted in calls, not in time: a slow platform must not get more repeats.
 */
const MAX_SAVED = 100;

/** Shared by everything that calls one upstream. */
export type RetryBudget = ReturnType<typeof createRetryBudget>;

/**
 * `share`: repeats for each call that is none. `floor`: repeats under way that are always allowed, since a share of little
 * traffic is nothing. By default 20 %, and three at a time: an upstream in trouble gets hardly more calls than before.
 */
export function createRetryBudget({ share, floor } = { share: 0.2, floor: 3 }) {
  let left = 0;
  let underWay = 0;
  return {
    /** A first attempt begins. */
    called: (): void => {
      left = Math.min(MAX_SAVED, left + share);
    },
    /** Permits one repeat; the function given back ends it. Undefined: the budget is used up. */
    repeat: (): (() => void) | undefined => {
      // A sum of fifths may be a little less than one.
      if (left < 1 - 1e-9 && underWay >= floor) return undefined;
      left = Math.max(-MAX_SAVED, left - 1);
      underWay++;
      let done = false;
      return () => {
        if (!done) underWay--;
        done = true;
      };
    },
  };
}
