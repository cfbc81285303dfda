/** How does a call wait before it is sent again? */
import type { Signal } from "../model/signal.ts";

/** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
export function pause(ms: number, signal: Signal): Promise<void> {
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
