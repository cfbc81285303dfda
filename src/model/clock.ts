import type { Signal } from "./signal.ts";

/** How does something happen later, unless it is called off? */

/** Calls `run` once after `ms` milliseconds; what it gives back calls that off, and does nothing afterwards. */
export type Timer = (ms: number, run: () => void) => () => void;

/** The timers of the process. */
export const later: Timer = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** How does a call wait before it is sent again? */

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
