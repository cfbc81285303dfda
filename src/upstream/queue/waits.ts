/** How long do calls wait, and is that a burst or standing overload? */

/** For metrics: how many calls got a place, and how many seconds they waited for it. */
export interface Waits {
  readonly count: number;
  readonly seconds: number;
}

export interface Overload {
  /** A call waited so long. */
  waited(ms: number, at: number): void;
  /** A request was turned away, since there were too many. */
  turnedAway(at: number): void;
  isStanding(at: number): boolean;
}

/** As in CoDel (RFC 8289), with a longer interval: what stays above the target all the while is no burst. */
const TARGET_MS = 100;
const INTERVAL_MS = 1_000;

/**
 * Overload stands when requests were turned away in the last second, since there were too many, and no call waited for less than
 * 100 ms meanwhile. A crowd of some hundreds waits, too, but it never fills the process: whoever waits is still there.
 */
export function createOverload(): Overload {
  let fullAt = Number.NEGATIVE_INFINITY;
  let from = Number.NEGATIVE_INFINITY;
  /** The shortest wait of the interval before, and of this one. */
  let before = 0;
  let least = 0;
  const turn = (at: number): void => {
    if (at - from < INTERVAL_MS) return;
    before = at - from < 2 * INTERVAL_MS ? least : 0;
    from = at;
    least = Number.POSITIVE_INFINITY;
  };
  return {
    waited: (ms, at) => {
      turn(at);
      least = Math.min(least, ms);
    },
    turnedAway: (at) => {
      fullAt = at;
    },
    isStanding: (at) => {
      if (at - fullAt >= INTERVAL_MS) return false;
      turn(at);
      return Math.min(before, least) > TARGET_MS;
    },
  };
}
