import type { Signal } from "./signal.ts";

/** The latest time that a `Date` can hold, in milliseconds since 1970. */
export const LAST_TIME = 8.64e15;

/** Calls `run` once after `ms` milliseconds; the returned function cancels that, and does nothing afterwards. */
export type Timer = (ms: number, run: () => void) => () => void;

/** The timers of the process. */
export const later: Timer = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
export function sleep(ms: number, signal: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const gone = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", gone);
      resolve();
    }, ms);
    signal.addEventListener("abort", gone, { once: true });
  });
}

/** Where the time comes from, and how it passes; a test hands in a clock of its own. */
export interface Time {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly sleep: (ms: number, signal: Signal) => Promise<void>;
  readonly later: Timer;
}

export const TIME: Time = { now: () => performance.now(), wall: () => Date.now(), sleep, later };
