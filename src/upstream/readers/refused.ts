/** Is it the platform that has too much to do, or has one credential used up what it may have? */

export interface Refused {
  /**
   * Notes that `credential` was refused and is to come back in `ms`. True when it was refused not long ago, and nobody else:
   * then the limit is its own, and others are not to wait for it.
   */
  isAlone(credential: string, ms: number): boolean;
  /** Milliseconds until a credential that was refused alone may call again; 0 for any other. */
  pausedMs(credential: string): number;
  /** The longest of those, of all credentials. */
  longestMs(): number;
}

/** How long after it may come back a credential that is refused again is one that asks for too much. */
const AGAIN_MS = 30_000;
const MAX_CREDENTIALS = 1_000;

/** `now`: milliseconds on a clock that never goes back. */
export function createRefused(now: () => number): Refused {
  /** Until when each credential counts as refused lately; the oldest first. */
  const lately = new Map<string, number>();
  /** Until when each credential waits for itself. */
  const paused = new Map<string, number>();
  return {
    pausedMs: (credential) => {
      const left = (paused.get(credential) ?? 0) - now();
      if (left <= 0) paused.delete(credential);
      return Math.max(0, left);
    },
    longestMs: () => Math.max(0, ...[...paused.values()].map((until) => until - now())),
    isAlone: (credential, ms) => {
      for (const map of [lately, paused]) for (const [other, until] of map) if (until <= now()) map.delete(other);
      const alone = lately.has(credential) && lately.size === 1;
      lately.delete(credential);
      lately.set(credential, now() + ms + AGAIN_MS);
      const [oldest] = lately.keys();
      if (lately.size > MAX_CREDENTIALS && oldest !== undefined) lately.delete(oldest);
      if (alone) paused.set(credential, Math.max(paused.get(credential) ?? 0, now() + ms));
      return alone;
    },
  };
}
