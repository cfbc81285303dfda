/** How many lists of several pages are read at a time, since they hold memory; and how short requests come between their pages. */

import type { Timer } from "../model/clock.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { createFairQueue, type FairQueueEntry } from "./fair-queue.ts";

export interface ListQueueOptions {
  /** Lists at a time (`lists.maxConcurrent`). */
  readonly maxConcurrent: number;
  /** Time for one list, its wait included (`lists.maxSeconds`). */
  readonly maxSeconds: number;
  readonly now: () => number;
  readonly later: Timer;
}

interface QueuedList extends FairQueueEntry {
  readonly start: () => void;
  readonly refuse: () => void;
}

const TICK_MS = 100;
/** How long a list may wait under overload, and how long overload lasts. */
const MOST_MS = 250;
const OVERLOAD_MS = 1_000;

export type ListQueue = ReturnType<typeof createListQueue>;

/** The queue of calls once more, with lists in it: fair by credential, first come first served. */
export function createListQueue(options: ListQueueOptions) {
  const { maxConcurrent, maxSeconds, now, later } = options;
  const longestMs = maxSeconds * 1_000;
  // A quarter is kept for credentials that read fewer, and never more than half.
  const kept = Math.min(Math.ceil(maxConcurrent / 4), maxConcurrent >> 1);
  const queue = createFairQueue<QueuedList>({ capacity: maxConcurrent, kept, longestMs });
  let ticking = false;
  let overloadedAt = Number.NEGATIVE_INFINITY;
  const mostMs = (): number => (now() - overloadedAt < OVERLOAD_MS ? MOST_MS : Number.POSITIVE_INFINITY);

  const release = (entry: QueuedList) => {
    let over = false;
    return () => {
      if (over) return;
      over = true;
      queue.leave(entry, now());
      for (let next = queue.next(now()); next !== undefined; next = queue.next(now())) next.start();
    };
  };
  const watch = (): void => {
    if (ticking || queue.waiting() === 0) return;
    ticking = true;
    later(TICK_MS, () => {
      ticking = false;
      for (const late of queue.expire(now(), mostMs())) late.refuse();
      watch();
    });
  };
  return {
    /**
     * Resolves when the list may read further pages, with the function that ends that. Rejects with `Problem` OVERLOADED when
     * it would wait too long, and with the signal's reason as soon as it aborts.
     */
    claim: (
      { credential, since, deadline }: Pick<FairQueueEntry, "credential" | "since" | "deadline">,
      signal: Signal,
    ): Promise<() => void> =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const gone = (): void => {
          queue.cancel(entry);
          reject(signal.reason);
        };
        const stay = (): void => signal.removeEventListener("abort", gone);
        const entry: QueuedList = {
          ...{ credential, since, kind: "short", begun: false, at: 0 },
          deadline: Math.min(deadline, since + longestMs),
          start: () => {
            stay();
            resolve(release(entry));
          },
          refuse: () => {
            stay();
            reject(overloaded());
          },
        };
        signal.addEventListener("abort", gone, { once: true });
        if (queue.predictedMs(credential, now()) > mostMs()) return entry.refuse();
        const became = queue.enter(entry, now());
        if (became === "started") entry.start();
        else if (became === "refused") entry.refuse();
        else watch();
      }),
    /** Lists of `credential`, waiting ones included. */
    usedBy: queue.usedBy,
    /** For a while, a list that would wait for longer than a moment is refused, because its client would leave meanwhile. */
    overloaded(): void {
      overloadedAt = now();
    },
    state: (): { readonly reading: number; readonly waiting: number } => ({
      reading: queue.taken(),
      waiting: queue.waiting(),
    }),
  };
}

function overloaded(): Problem {
  return new Problem("OVERLOADED", "more long lists are waiting than can be read in time", {
    retryAfter: 2,
    options: ["lists.maxConcurrent"],
  });
}

/** Resolves when the caller may use the processor for one page. */
export type PageTurn = () => Promise<void>;

/** A turn of the event loop that took no longer had nothing else to do. */
const IDLE_MS = 0.2;
/** Short work gets so many times as long as the page before … */
const SHORT_FACTOR = 3;
/** … when some came in the last milliseconds. */
const LATELY_MS = 50;

/**
 * One page at a time, first come first served: many lists may have a page ready at once, and rewriting all of them would
 * delay everything else. The next page follows as soon as the event loop is idle. While it is not, other work gets as long
 * as the page before took, or three times as long when short work came lately (`shortAt`: when). `next` runs something in
 * the next turn of the loop.
 */
export function createPageTurns(
  now: () => number,
  shortAt: () => number = () => Number.NEGATIVE_INFINITY,
  next: (run: () => void) => void = setImmediate,
): PageTurn {
  const waiting: (() => void)[] = [];
  let running = false;
  /** When the latest page was done, and how long it took. */
  let madeAt = Number.NEGATIVE_INFINITY;
  let took = 0;
  let turnedAt = 0;
  const step = (): void => {
    const at = now();
    const isIdle = at - Math.max(turnedAt, madeAt) < IDLE_MS;
    turnedAt = at;
    const left = at - shortAt() < LATELY_MS ? took * SHORT_FACTOR : took;
    if (!isIdle && at - madeAt < left) {
      next(step);
      return;
    }
    const first = waiting.shift();
    running = first !== undefined;
    if (first === undefined) return;
    first();
    // After all synchronous work on the page: reading it, taking its records, sending them.
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
