/** How do short requests come between the pages of long lists? */

/** Resolves when the caller may use the processor for one page. */
export type Turn = () => Promise<void>;

/** A turn of the event loop that took no longer had nothing else to do. */
const IDLE_MS = 0.2;
/** Short work has so many times as long as the page before … */
const SHORT = 3;
/** … while some came in the last so many milliseconds. */
const LATELY_MS = 50;

/**
 * One page at a time, in the order of asking: many lists may have a page ready at the same moment, and making all of them at once
 * would hold up everybody else. The next one follows as soon as the event loop has nothing else to do. While it has, it gets as long
 * as the page before took, and three times as long when short work came lately (`shortAt` says when). `next` runs something in the
 * next turn of the loop.
 */
export function createTurns(
  now: () => number,
  shortAt: () => number = () => Number.NEGATIVE_INFINITY,
  next: (run: () => void) => void = setImmediate,
): Turn {
  const waiting: (() => void)[] = [];
  let running = false;
  /** When the latest page was made, and how long that took. */
  let madeAt = Number.NEGATIVE_INFINITY;
  let took = 0;
  let turnedAt = 0;
  const step = (): void => {
    const at = now();
    const isIdle = at - Math.max(turnedAt, madeAt) < IDLE_MS;
    turnedAt = at;
    const left = at - shortAt() < LATELY_MS ? took * SHORT : took;
    if (!isIdle && at - madeAt < left) {
      next(step);
      return;
    }
    const first = waiting.shift();
    running = first !== undefined;
    if (first === undefined) return;
    first();
    // After all that follows from the page without waiting: reading it, taking its records, sending them.
    queueMicrotask(() =>
      process.nextTick(() => {
        madeAt = now();
        took = madeAt - at;
      }),
    );
    next(step);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (running) return;
      running = true;
      turnedAt = now();
      next(step);
    });
}
