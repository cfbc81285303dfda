/** How fast are places given back? */

export interface Pace {
  /** Somebody waits, and nobody did: only now does the pace say how fast places can be given back. */
  begin(now: number): void;
  ended(now: number): void;
  /** Places a millisecond; infinite while it is not known yet. */
  perMs(now: number): number;
}

/** Measured over so long at least, … */
const LEAST_MS = 200;
/** … so many places, … */
const LEAST_PLACES = 20;
/** … or so long. */
const MOST_MS = 2_000;

/** `least`: places a millisecond that are given back in any case. */
export function createPace(least: number): Pace {
  let from = 0;
  let count = 0;
  let last = Number.POSITIVE_INFINITY;
  return {
    begin: (now) => {
      from = now;
      count = 0;
      last = Number.POSITIVE_INFINITY;
    },
    ended: (now) => {
      count += 1;
      const ms = now - from;
      if (ms < LEAST_MS || (count < LEAST_PLACES && ms < MOST_MS)) return;
      last = count / ms;
      from = now;
      count = 0;
    },
    perMs: (now) => Math.max(least, now - from < MOST_MS ? last : count / (now - from)),
  };
}
