/** Is an upstream so surely down that calls to it had better fail at once? */
import { Problem } from "../model/problem.ts";

/**
 * Behind one address stands the whole platform: a breaker that opens wrongly is an outage of its own making, while one that
 * opens late only costs the patience that `timeouts` bounds anyway. So it opens on one thing alone: a row of calls that
 * brought no answer at all, from several places, for a while, with not one answer in between. A share of failures never
 * opens it, however large: the rest would be refused with them.
 */
export interface Breaker {
  /** To be asked once before each call: when it begins, or why it must not go out. */
  begin(): number | Problem;
  /** An answer's head has come, of whatever status, from the platform itself. */
  answered(): void;
  /**
   * A call that began at `beganAt` brought no answer, or a gateway's word for that. `place`: which part of the API was asked;
   * undefined when no call of whatever kind would have got through.
   */
  failed(beganAt: number, place: string | undefined): void;
  isOpen(): boolean;
}

export interface BreakerOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Hears of each opening and closing: `failures` in a row, and for how long, in milliseconds. */
  readonly turned?: ((open: boolean, facts: { readonly failures: number; readonly ms: number }) => void) | undefined;
}

/** So many in a row, … */
const MOST_FAILURES = 10;
/** … over so long: a restart of the platform, or a network that changes its route, is over by then. */
const LEAST_MS = 2_000;
/** From the opening to the first call that is let through to see; then twice as long each time, up to `LAST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 1_000;
/** With what chance adds to it, a platform that is back is noticed within five seconds. */
const LAST_PAUSE_MS = 4_000;
/** Instances that opened together must not all ask together. */
const JITTER = 0.2;

interface Row {
  failures: number;
  /** When the first of them began, or the last answer came, whichever was later: since then there has been none. */
  since: number;
  /** The place of all so far; undefined once they are of several, or of none. */
  place: string | undefined;
  /** Open: when the next call may go out to see. Undefined while closed. */
  nextAt: number | undefined;
  pauseMs: number;
}

const NONE = { failures: 0, since: 0, place: undefined, nextAt: undefined, pauseMs: FIRST_PAUSE_MS } as const;

/** Closed; for one upstream. */
export function createBreaker({ now, random, turned }: BreakerOptions): Breaker {
  const row: Row = { ...NONE };
  let answeredAt = Number.NEGATIVE_INFINITY;
  const plan = (at: number): void => {
    row.nextAt = at + row.pauseMs * (1 - JITTER + 2 * JITTER * random());
    row.pauseMs = Math.min(row.pauseMs * 2, LAST_PAUSE_MS);
  };
  return {
    begin: () => {
      const at = now();
      if (row.nextAt === undefined) return at;
      if (at < row.nextAt) return refused(row.nextAt - at);
      // Nobody waits for its end: where that one call hangs, the next one may tell sooner.
      plan(at);
      return at;
    },
    answered: () => {
      answeredAt = now();
      if (row.failures === 0) return;
      const { failures, since, nextAt } = row;
      Object.assign(row, NONE);
      if (nextAt !== undefined) turned?.(false, { failures, ms: answeredAt - since });
    },
    failed: (beganAt, place) => {
      const at = now();
      if (row.failures === 0) Object.assign(row, { since: at, place });
      row.failures++;
      row.since = Math.min(row.since, Math.max(beganAt, answeredAt));
      if (place !== row.place) row.place = undefined;
      if (row.nextAt !== undefined || row.place !== undefined) return;
      if (row.failures < MOST_FAILURES || at - row.since < LEAST_MS) return;
      plan(at);
      turned?.(true, { failures: row.failures, ms: at - row.since });
    },
    isOpen: () => row.nextAt !== undefined,
  };
}

/** Lets everything through, for whoever wants none. */
export function noBreaker(): Breaker {
  return { begin: () => 0, answered: () => {}, failed: () => {}, isOpen: () => false };
}

function refused(leftMs: number): Problem {
  return new Problem("UPSTREAM_UNAVAILABLE", "the platform has not been answering; it is being tried again", {
    retryAfter: Math.max(1, Math.ceil(leftMs / 1_000)),
  });
}
