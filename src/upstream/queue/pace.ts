/** How fast are places given back? */

export interface Pace {
  /** Somebody waits, and nobody did: only now does the pace say how fast places can be given back. */
  begin(now: number): void;
  ended(now: number): void;
  perMs(now: number): number;
}

/** Measured over so long. */
const PACE_MS = 1_000;

/** How many places a millisecond are given back: in the last whole second, or since then where that is longer ago. `least`: never fewer. */
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
      if (now - from >= PACE_MS) {
        last = count / (now - from);
        from = now;
        count = 0;
      }
      count += 1;
    },
    perMs: (now) => {
      const ms = now - from;
      return Math.max(least, ms >= PACE_MS ? Math.max(1, count) / ms : last);
    },
  };
}
