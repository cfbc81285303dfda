/** When is a call sent a second time, and after how long? */
import { retryAfter } from "../model/http.ts";
import { type ApiRequest, type ApiResponse, header, type SendLayer } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import type { Budget } from "./budget.ts";
import { neverLeft } from "./failure.ts";

export interface RetryOptions {
  readonly budget: Budget;
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
const AGAIN: ReadonlySet<number> = new Set([502, 503, 504]);

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
  if (!read || !AGAIN.has(first.status)) return undefined;
  const asked = retryAfter(header(first.headers, "retry-after"), options.now());
  if (asked === undefined) return jitter;
  return asked > (options.maxWaitMs ?? MAX_WAIT_MS) ? undefined : Math.max(asked, jitter);
}

/** A failed call as a value; a caller who gave up, or a stranger, is thrown on. */
function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}
