/** How much of the processor may callers take whose credential the platform has not accepted yet? */
import type { Signal } from "../model/signal.ts";

export interface DutyOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Runs something after so many milliseconds. */
  readonly later: (ms: number, run: () => void) => void;
}

export interface Duty {
  /**
   * Runs `work` when it is its turn, and gives what it returned or threw; `knownMs`: what it costs beside the time that it takes itself.
   * Rejects with the signal's reason when it aborts first.
   */
  run<T>(signal: Signal, work: () => T, knownMs?: number): Promise<T>;
}

/** So many times as long as a piece of work took, the next one waits. */
const REST = 5;

/** One piece of work at a time, first come, first served: all of them together leave most of the processor to others. */
export function createDuty({ now, later }: DutyOptions): Duty {
  const waiting: (() => void)[] = [];
  let freeAt = Number.NEGATIVE_INFINITY;
  let timed = false;

  const pump = (): void => {
    timed = false;
    while (waiting.length > 0 && now() >= freeAt) waiting.shift()?.();
    if (waiting.length === 0) return;
    timed = true;
    later(Math.max(1, Math.ceil(freeAt - now())), pump);
  };
  return {
    run: (signal, work, knownMs = 0) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const gone = (): void => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener("abort", gone);
          const began = now();
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
          const ended = now();
          freeAt = ended + REST * (ended - began + knownMs);
        };
        waiting.push(go);
        signal.addEventListener("abort", gone, { once: true });
        if (!timed) pump();
      }),
  };
}
