import { ANONYMOUS_SHARE } from "../model/credential-shares.ts";
import type { Signal } from "../model/signal.ts";

/** So many times as long as a piece of work took, the next one waits. */
const PAUSE_FACTOR = 5;

export type ProcessorShare = ReturnType<typeof createProcessorShare>;

/**
 * One piece of work at a time, first come, first served: all of them together leave most of the processor to others. `now`: milliseconds
 * on a clock that never goes back; `later` runs something after a number of milliseconds.
 */
export function createProcessorShare(
  now: () => number,
  later: (ms: number, run: () => void) => void = (ms, run) => void setTimeout(run, ms).unref(),
) {
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
    /**
     * Runs `work` when it is its turn, and returns or throws what it did; `knownMs`: its cost in addition to its own time.
     * Rejects with the signal's reason when it aborts first.
     */
    run: <T>(signal: Signal, work: () => T, knownMs = 0): Promise<T> =>
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
          freeAt = ended + PAUSE_FACTOR * (ended - began + knownMs);
        };
        waiting.push(go);
        signal.addEventListener("abort", gone, { once: true });
        if (!timed) pump();
      }),
  };
}

/** Runs `work` at once, or as one of the turns of all callers whose credential the platform has not accepted. `knownMs`: as `run` has it. */
export function inTurn<T>(
  caller: string,
  share: ProcessorShare,
  signal: Signal,
  work: () => T | Promise<T>,
  knownMs?: number,
): T | Promise<T> {
  return caller === ANONYMOUS_SHARE ? share.run(signal, work, knownMs).then((made) => made) : work();
}
