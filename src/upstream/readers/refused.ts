/** Is it the platform that has too much to do, or has one credential used up what it may have? */

export interface Refused {
  /**
   * Notes that `credential` was refused and is to come back in `ms`. True when it was refused not long ago, and nobody else:
   * then the limit is its own, and others are not to wait for it.
   */
  isAlone(credential: string, ms: number): boolean;
}

/** How long after it may come back a credential that is refused again is one that asks for too much. */
const AGAIN_MS = 30_000;
const MAX_CREDENTIALS = 1_000;

/** `now`: milliseconds on a clock that never goes back. */
export function createRefused(now: () => number): Refused {
  /** Until when each credential counts as refused lately; the oldest first. */
  const lately = new Map<string, number>();
  return {
    isAlone: (credential, ms) => {
      for (const [other, until] of lately) if (until <= now()) lately.delete(other);
      const alone = lately.has(credential) && lately.size === 1;
      lately.delete(credential);
      lately.set(credential, now() + ms + AGAIN_MS);
      const [oldest] = lately.keys();
      if (lately.size > MAX_CREDENTIALS && oldest !== undefined) lately.delete(oldest);
      return alone;
    },
  };
}
