/** How many calls may be under way, seeing how busy the processor is? */

export interface Places {
  now(): number;
  /** Calls wait, and the event loop was busy for this share of the time since the last call (0 to 1). */
  adapt(busy: number): void;
  /** Nobody waits. */
  reset(): void;
}

/** The loop found something to do whenever it looked: more calls under way would only take memory from each other. */
const FULL = 0.98;
/** The loop waited for the upstream. */
const SPARE = 0.9;
/** Enough to keep the processor busy when an upstream is near, and little enough that their responses stay in its cache. */
const LEAST = 16;

/**
 * Little's law: where the processor is scarce, calls beyond those that keep it busy do not end sooner. They cost more each, since
 * what they hold leaves the processor's cache and survives garbage collections. With a slow upstream the loop idles: then all places count.
 */
export function createPlaces(most: number): Places {
  const least = Math.min(LEAST, most);
  let value = most;
  return {
    now: () => value,
    adapt: (busy) => {
      if (busy >= FULL) value = Math.max(least, (value * 3) >> 2);
      else if (busy < SPARE) value = Math.min(most, Math.ceil((value * 4) / 3));
    },
    reset: () => {
      value = most;
    },
  };
}
