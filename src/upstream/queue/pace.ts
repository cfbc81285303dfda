/** How fast is work done? */

export interface Pace {
  /** Somebody waits, and nobody did: only now does the pace say how fast places can be given back. */
  begin(now: number): void;
  /** A place was given back after work that cost `cost`. */
  ended(now: number, cost: number): void;
  /** Cost a millisecond; infinite while it is not known yet. */
  perMs(now: number): number;
}

/** Measured over so long at least, … */
const LEAST_MS = 200;
/** … so many places, … */
const LEAST_PLACES = 20;
/** … or so long. */
const MOST_MS = 2_000;

/** `least`: cost a millisecond that is worked off in any case. */
export function createPace(least: number): Pace {
  let from = 0;
  let count = 0;
  let sum = 0;
  let last = Number.POSITIVE_INFINITY;
  const restart = (now: number): void => {
    from = now;
    count = 0;
    sum = 0;
  };
  return {
    begin: (now) => {
      restart(now);
      last = Number.POSITIVE_INFINITY;
    },
    ended: (now, cost) => {
      count += 1;
      sum += cost;
      const ms = now - from;
      if (ms < LEAST_MS || (count < LEAST_PLACES && ms < MOST_MS)) return;
      last = sum / ms;
      restart(now);
    },
    perMs: (now) => Math.max(least, now - from < MOST_MS ? last : sum / (now - from)),
  };
}
