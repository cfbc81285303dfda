/** Is an upstream so surely down that calls to it had better fail at once? */

import type { Timer } from "../model/clock.ts";
import { Problem } from "../model/problem.ts";

/**
 * Behind one address stands the whole platform: a breaker that opens wrongly is an outage of its own making, while one that
 * opens late only costs the patience that `timeouts` bounds anyway. So it opens on one thing alone: a row of calls that
 * brought no answer at all, for a while, with not one answer in between, and then a question of its own that brings none
 * either. What clients call, and how long they take for it, neither opens it nor keeps it open.
 */
export interface Breaker {
  /** To be asked once before each call: when it begins, or why it must not go out. */
  begin(): number | Problem;
  /** An answer's head has come, of whatever status: somebody is there. */
  answered(): void;
  /** A call that began at `beganAt` brought no answer. */
  failed(beganAt: number): void;
  isOpen(): boolean;
  /** Asks no more. */
  close(): void;
}

/** Asks the upstream by a connection of its own; resolves with whether it said anything. Never rejects. */
export type BreakerProbe = () => Promise<boolean>;

export interface BreakerOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly later: Timer;
  readonly probe: BreakerProbe;
  /** Hears of each opening and closing: `failures` in a row, and for how long, in milliseconds. */
  readonly turned?: ((open: boolean, facts: { readonly failures: number; readonly ms: number }) => void) | undefined;
}

/** So many in a row, … */
const MOST_FAILURES = 10;
/** … over so long: a restart of the platform, or a network that changes its route, is over by then. */
const LEAST_MS = 2_000;
/** From the opening to the first question whether somebody is there again; then twice as long each time, up to `LAST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 1_000;
/** With what chance adds to it, a platform that is back is noticed within five seconds. */
const LAST_PAUSE_MS = 4_000;
/** Instances that opened together must not all ask together. */
const JITTER = 0.2;

interface BreakerState {
  failures: number;
  /** When the first of them began, or the last answer came, whichever was later: since then there has been none. */
  since: number;
  answeredAt: number;
  /** The first question is out, and the breaker still closed. */
  asking: boolean;
  /** Open: when it asks next. Undefined while closed. */
  nextAt: number | undefined;
  pauseMs: number;
  callOff: () => void;
}

/** Closed; for one upstream. */
export function createBreaker({ now, random, later, probe, turned }: BreakerOptions): Breaker {
  const state: BreakerState = {
    failures: 0,
    since: 0,
    answeredAt: Number.NEGATIVE_INFINITY,
    asking: false,
    nextAt: undefined,
    pauseMs: FIRST_PAUSE_MS,
    callOff: () => {},
  };
  const answered = (): void => {
    state.answeredAt = now();
    if (state.failures === 0) return;
    const { failures, since, nextAt } = state;
    state.callOff();
    Object.assign(state, { failures: 0, nextAt: undefined, pauseMs: FIRST_PAUSE_MS });
    if (nextAt !== undefined) turned?.(false, { failures, ms: state.answeredAt - since });
  };
  /** A question that hangs does not keep the next one back, which may tell sooner. */
  const plan = (): void => {
    const ms = state.pauseMs * (1 - JITTER + 2 * JITTER * random());
    state.nextAt = now() + ms;
    state.pauseMs = Math.min(state.pauseMs * 2, LAST_PAUSE_MS);
    state.callOff = later(ms, () => {
      plan();
      void probe().then((said) => said && answered());
    });
  };
  const suspect = async (): Promise<void> => {
    state.asking = true;
    const said = await probe();
    state.asking = false;
    if (said) return answered();
    // Somebody may have been answered meanwhile.
    if (!isRow(state, now())) return;
    plan();
    turned?.(true, { failures: state.failures, ms: now() - state.since });
  };
  return {
    begin: () => (state.nextAt === undefined ? now() : breakerOpen(state.nextAt - now())),
    answered,
    failed: (beganAt) => {
      const at = now();
      if (state.failures === 0) state.since = at;
      state.failures++;
      state.since = Math.min(state.since, Math.max(beganAt, state.answeredAt));
      if (state.nextAt === undefined && !state.asking && isRow(state, at)) void suspect();
    },
    isOpen: () => state.nextAt !== undefined,
    close: () => {
      state.callOff();
      // Who asks is not to begin again.
      state.asking = true;
      state.failures = 0;
    },
  };
}

function isRow({ failures, since }: BreakerState, at: number): boolean {
  return failures >= MOST_FAILURES && at - since >= LEAST_MS;
}

/** Lets everything through, for whoever wants none. */
export function noBreaker(): Breaker {
  return { begin: () => 0, answered: () => {}, failed: () => {}, isOpen: () => false, close: () => {} };
}

function breakerOpen(leftMs: number): Problem {
  return new Problem("UPSTREAM_UNAVAILABLE", "the platform has not been answering; it is being tried again", {
    retryAfter: Math.max(1, Math.ceil(leftMs / 1_000)),
  });
}

/** Does a call that failed say that its upstream answers nobody? */

/** No head came. What came and is no HTTP says nothing either way. */
export function reportFailure(breaker: Breaker, beganAt: number, problem: Problem): void {
  if (problem.reason === "UPSTREAM_UNREACHABLE" || problem.reason === "UPSTREAM_TIMEOUT") breaker.failed(beganAt);
}
