/** Which calls to an upstream are made now, and which wait? (The one queue for all of them: translated calls, pages, pass-through.) */

import type { Timer } from "../model/clock.ts";
import { type ApiRequest, type ApiResponse, header, type SendLayer } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import {
  type CallOutcome,
  createAdaptiveLimits,
  createProcessorLimit,
  OVERLOAD_STATUSES,
  type StartedCall,
} from "./adaptive-limits.ts";
import { type CallKind, createFairQueue, type FairQueueEntry } from "./fair-queue.ts";

/** On whose behalf a call is made, and what it may wait. */
export interface CallOrigin {
  /** A keyed digest, never the token; empty for anonymous callers. */
  readonly credential: string;
  readonly kind: CallKind;
  /** The request has made a call before: it had better be finished. */
  readonly begun: boolean;
  /** When the request began, and when its time is over, in milliseconds of the queue's clock. */
  readonly since: number;
  readonly deadline: number;
}

/** Permission for one call. */
export interface CallSlot {
  /** Gives the place back; calling it again does nothing. */
  done(outcome: CallOutcome): void;
}

export interface CallQueueOptions {
  /** Calls at a time (`upstream.*.connections`). */
  readonly connections: number;
  /** Pages of lists read at a time, when all goes well (`lists.readersPerUpstream`). */
  readonly pages: number;
  /** What that begins with. */
  readonly start: number;
  /** Whether the platform has accepted a credential: such go before others. Without it all are alike. */
  readonly accepted?: ((credential: string) => boolean) | undefined;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Milliseconds since 1970: a `Retry-After` may be a date. */
  readonly wall: () => number;
  readonly later: Timer;
  /** For which share of the time since it was last asked the event loop was busy (0 to 1). */
  readonly busy?: (() => number) | undefined;
  /** Told every few seconds while calls wait for long, or are refused. */
  readonly long?: ((facts: LongQueue) => void) | undefined;
}

/** What the log says of a long queue. */
export interface LongQueue {
  readonly waiting: number;
  readonly longestSeconds: number;
  /** Requests refused since the last line. */
  readonly refused: number;
}

/** How many calls got a place, and how many seconds they waited for it. */
export interface WaitTotals {
  readonly count: number;
  readonly seconds: number;
}

/** For metrics. */
export interface CallQueueState {
  readonly waiting: Readonly<Record<CallKind, number>>;
  readonly waits: Readonly<Record<CallKind, WaitTotals>>;
  /** How long the call that has waited for longest has. */
  readonly longestMs: number;
  /** Pages that may be read at a time, and that are. */
  readonly limit: number;
  readonly reading: number;
  /** Milliseconds until all may read pages again, and until each credential may. */
  readonly gatedMs: number;
  readonly pausedMs: number;
}

export interface CallQueue {
  /**
   * Calls `start` when there is a place: at once, or later. `refuse` instead, never before this returns, when it would wait longer
   * than the request lives. What is given back gives up waiting, and does nothing once it has started.
   */
  enter(caller: CallOrigin, start: (place: CallSlot) => void, refuse: (problem: Problem) => void): () => void;
  /** Each call waits for a place. */
  layer(caller: () => CallOrigin): SendLayer;
  /** Whether so many wait that a request that arrives now may wait too long. */
  isLong(): boolean;
  /** How long a request that arrives now would wait. */
  predictedMs(credential: string): number;
  /** Calls that `credential` has under way or in the queue. */
  held(credential: string): number;
  /** When a short call with a small response last ended: somebody waits for quick answers. */
  shortAt(): number;
  /** Notes that a request was refused before it came here; `overloaded`: from now on the newest go first for a while. */
  turnedAway(overloaded: boolean): void;
  state(): CallQueueState;
}

interface QueuedCall extends FairQueueEntry {
  readonly start: (place: CallSlot) => void;
  readonly refuse: (problem: Problem) => void;
}

/** A response takes at most so long, or the call has ended by its timeouts. */
const LONGEST_CALL_MS = 30_000;
const TICK_MS = 100;
/** Overload is over when nobody was turned away for so long. */
const OVERLOAD_MS = 1_000;
/** Who has waited so long under overload is told to come again: clients that have waited for long are likely to have left. */
const MOST_MS = 1_000;
/** So few that wait are let in always: the pace is known too badly to refuse them. */
const FEW = 64;
/** The work of a small response, in usual calls: pages of lists take more. */
const SMALL = 0.5;
/** A wait that the log tells of, and how often. */
const LONG_MS = 1_000;
const LOG_EVERY_MS = 5_000;

export function createCallQueue(options: CallQueueOptions): CallQueue {
  const { connections, pages, start, now, wall, later, busy, accepted, long } = options;
  // An eighth of the connections is left to short calls, whatever lists do.
  const mostPages = Math.max(1, Math.min(pages, connections - Math.ceil(connections / 8)));
  const learned = createAdaptiveLimits(start, mostPages, now, wall);
  const waits = {
    short: { count: 0, seconds: 0 },
    page: { count: 0, seconds: 0 },
    background: { count: 0, seconds: 0 },
  };
  const places = createProcessorLimit(connections);
  const queue = createFairQueue<QueuedCall>({
    capacity: connections,
    places: places.now,
    kept: connections >> 4,
    pages: learned.limit,
    mostPages,
    mayRead: learned.quota.mayRead,
    accepted,
    longestMs: LONGEST_CALL_MS,
  });
  const never = Number.NEGATIVE_INFINITY;
  const state = { ticking: false, refused: 0, loggedAt: never, overloadedAt: never, shortAt: never };
  const isOverloaded = (at: number): boolean => at - state.overloadedAt < OVERLOAD_MS;

  const begin = (ticket: QueuedCall, at: number): void => {
    const { kind, credential } = ticket;
    const waited = at - ticket.at;
    waits[kind].count += 1;
    waits[kind].seconds += waited / 1_000;
    ticket.start(placeOf(ticket, learned.begin(credential, kind !== "short", queue.pages(), at)));
  };
  const placeOf = (ticket: QueuedCall, call: StartedCall): CallSlot => {
    let over = false;
    return {
      done: (outcome) => {
        if (over) return;
        over = true;
        const at = now();
        learned.ended(call, outcome, queue.pages(), at);
        queue.leave(ticket, at, outcome.work);
        if (ticket.kind === "short" && (outcome.work ?? 0) < SMALL) state.shortAt = at;
        // undici takes a connection for busy until it has returned from telling of the response's end.
        if (queue.waiting() > 0) queueMicrotask(pump);
      },
    };
  };
  const refuse = (ticket: QueuedCall): void => {
    state.refused += 1;
    ticket.refuse(overloaded());
  };
  const pump = (): void => {
    const at = now();
    queue.newestFirst = isOverloaded(at);
    for (let ticket = queue.next(at); ticket !== undefined; ticket = queue.next(at)) begin(ticket, at);
  };
  const tick = (): void => {
    state.ticking = false;
    const at = now();
    for (const ticket of queue.expire(at, isOverloaded(at) ? MOST_MS : undefined)) refuse(ticket);
    if (queue.waiting() === 0) places.reset();
    else if (busy !== undefined) places.adapt(busy());
    pump();
    tell(at);
    watch();
  };
  const watch = (): void => {
    if (state.ticking || queue.waiting() === 0) return;
    state.ticking = true;
    later(Math.min(TICK_MS, Math.max(1, learned.quota.nextMs() ?? TICK_MS)), tick);
  };
  const longestMs = (at: number): number => at - (queue.oldest() ?? at);
  const tell = (at: number): void => {
    const longest = longestMs(at);
    if ((longest < LONG_MS && state.refused === 0) || at - state.loggedAt < LOG_EVERY_MS) return;
    long?.({ waiting: queue.waiting(), longestSeconds: longest / 1_000, refused: state.refused });
    state.loggedAt = at;
    state.refused = 0;
  };

  const calls: CallQueue = {
    enter(caller, begun, refused) {
      const at = now();
      const ticket: QueuedCall = { ...caller, at, start: begun, refuse: refused };
      const became = queue.enter(ticket, at);
      if (became === "waits") {
        watch();
        return () => {
          queue.cancel(ticket);
        };
      }
      if (became === "started") begin(ticket, at);
      else queueMicrotask(() => refuse(ticket));
      return nothing;
    },
    layer: (callerOf) => (next) => async (request, sending) => {
      const place = await waitForSlot(calls, callerOf(), sending.signal);
      let outcome: CallOutcome = { status: 0 };
      try {
        const response = await next(request, sending);
        outcome = outcomeOf(request, response);
        return response;
      } catch (error) {
        if (error instanceof Problem && error.reason === "UPSTREAM_TIMEOUT") outcome = { status: 504 };
        throw error;
      } finally {
        place.done(outcome);
      }
    },
    isLong: () => queue.waiting("short") >= FEW,
    predictedMs: (credential) => queue.predictedMs(credential, now()),
    held: queue.held,
    shortAt: () => state.shortAt,
    turnedAway(overloaded) {
      state.refused += 1;
      if (overloaded) state.overloadedAt = now();
    },
    state: () => ({
      waiting: { short: queue.waiting("short"), page: queue.waiting("page"), background: queue.waiting("background") },
      waits,
      longestMs: longestMs(now()),
      limit: learned.limit(),
      reading: queue.pages(),
      gatedMs: learned.quota.gatedMs(),
      pausedMs: learned.quota.pausedMs(),
    }),
  };
  return calls;
}

const nothing = (): void => {};

function overloaded(): Problem {
  return new Problem("OVERLOADED", "more requests are waiting than can be served in time", { retryAfter: 1 });
}

/** At once, where there is one. Rejects with the signal's reason as soon as it aborts. */
function waitForSlot(
  calls: Pick<CallQueue, "enter">,
  caller: CallOrigin,
  signal: Signal,
): CallSlot | Promise<CallSlot> {
  signal.throwIfAborted();
  let place: CallSlot | undefined;
  let settle = (given: CallSlot): void => {
    place = given;
  };
  let fail: (thrown: unknown) => void = nothing;
  const giveUp = calls.enter(
    caller,
    (given) => settle(given),
    (problem) => fail(problem),
  );
  if (place !== undefined) return place;
  return new Promise((resolve, reject) => {
    const gone = (): void => {
      giveUp();
      reject(signal.reason);
    };
    signal.addEventListener("abort", gone, { once: true });
    settle = (given) => {
      signal.removeEventListener("abort", gone);
      resolve(given);
    };
    fail = (thrown) => {
      signal.removeEventListener("abort", gone);
      reject(thrown);
    };
  });
}

/** Reading so many bytes of JSON and writing them anew takes about as long as all else of a call. */
const TRANSLATED_BYTES = 16 * 1024;

function outcomeOf({ target }: ApiRequest, { status, headers, body }: ApiResponse): CallOutcome {
  if (OVERLOAD_STATUSES.has(status)) return { status, retryAfter: header(headers, "retry-after") };
  if (status !== 200) return { status };
  const query = target.indexOf("?");
  const work = body.length / TRANSLATED_BYTES;
  return { status, path: query < 0 ? target : target.slice(0, query), work };
}
