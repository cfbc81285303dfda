/** The circuit breaker: calls to an upstream that is surely down fail at once. */

import type { Timer } from "../model/clock.ts";
import type { NewEvent } from "../model/event.ts";
import type { Upstream } from "../model/exchange.ts";
import { Problem } from "../model/problem.ts";

/**
 * The whole platform is behind one address: a breaker that opens wrongly is an outage of its own, while one that opens late
 * only costs the patience that `timeouts` bounds anyway. So it opens only after a row of calls without any response, for a
 * while and without a single response in between, and after a probe of its own that got none either. What clients call,
 * and how long that takes, neither opens it nor keeps it open.
 */
/** Sessions to upstreams that a port of its own opens. */
export interface UpstreamSessions {
  /** Of each upstream: whether calls to it fail at once at present. */
  breakers(): Iterable<readonly [Upstream, boolean]>;
  /** Streams that `credential` has or waits for. */
  streamsOf(credential: string): number;
}

export interface Breaker {
  /** To be called once before each call: its start, or the reason why it must not go out. */
  begin(): number | Problem;
  /** The head of a response has come, whatever its status. */
  answered(): void;
  /** A call that began at `beganAt` got no response. */
  failed(beganAt: number): void;
  isOpen(): boolean;
  /** Stops probing. */
  close(): void;
}

/** Probes the upstream over a connection of its own; resolves with whether it responded at all. Never rejects. */
export type BreakerProbe = () => Promise<boolean>;

export interface BreakerOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly later: Timer;
  readonly probe: BreakerProbe;
  /** Called at each opening and closing: `failures` in a row, and for how many milliseconds. */
  readonly turned?: ((open: boolean, facts: { readonly failures: number; readonly ms: number }) => void) | undefined;
}

/** So many failures in a row, … */
const MOST_FAILURES = 10;
/** … over so long: a restart of the platform, or a change of routes, is over by then. */
const LEAST_MS = 2_000;
/** From the opening to the first probe; then twice as long each time, up to `LAST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 1_000;
/** With jitter, a platform that is back is noticed within five seconds. */
const LAST_PAUSE_MS = 4_000;
/** Instances that opened together must not all probe together. */
const JITTER = 0.2;

interface BreakerState {
  failures: number;
  /** When the first of them began, or the last response came, whichever was later. */
  since: number;
  answeredAt: number;
  /** The first probe is under way, and the breaker still closed. */
  asking: boolean;
  /** Time of the next probe; undefined while closed. */
  nextAt: number | undefined;
  pauseMs: number;
  callOff: () => void;
}

/** Closed at first; for one upstream. */
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
  /** A probe that hangs does not delay the next one, which may respond sooner. */
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
    // A call may have got a response meanwhile.
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
      // A probe under way must not plan another one.
      state.asking = true;
      state.failures = 0;
    },
  };
}

function isRow({ failures, since }: BreakerState, at: number): boolean {
  return failures >= MOST_FAILURES && at - since >= LEAST_MS;
}

/** The event that a breaker has turned. `over`: how the upstream is called, where that is not HTTP. */
export function breakerEvent(
  upstream: Upstream,
  open: boolean,
  { failures, seconds }: { readonly failures: number; readonly seconds: number },
  over = "",
): NewEvent {
  const reason = open
    ? `upstream ${upstream} does not respond${over}: ${failures} calls in a row failed within ${seconds} s`
    : `upstream ${upstream} responds${over} again after ${seconds} s`;
  return { kind: open ? "breaker-opened" : "breaker-closed", reason };
}

/** Never opens. */
export function noBreaker(): Breaker {
  return { begin: () => 0, answered: () => {}, failed: () => {}, isOpen: () => false, close: () => {} };
}

function breakerOpen(leftMs: number): Problem {
  return new Problem("UPSTREAM_UNAVAILABLE", "the platform has not been answering; it is being tried again", {
    retryAfter: Math.max(1, Math.ceil(leftMs / 1_000)),
  });
}

/** Counts a call without any head of a response. Bytes that are no HTTP say nothing either way. */
export function reportFailure(breaker: Breaker, beganAt: number, problem: Problem): void {
  if (problem.reason === "UPSTREAM_UNREACHABLE" || problem.reason === "UPSTREAM_TIMEOUT") breaker.failed(beganAt);
}
