/** The one queue of all calls to an upstream: translated calls, pages of lists, pass-through. */

import type { Timer } from "../model/clock.ts";
import { type ApiRequest, type ApiResponse, type Caller, header, pathOf, type SendLayer } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import {
  type CallOutcome,
  createAdaptiveLimits,
  createProcessorLimit,
  OVERLOAD_STATUSES,
  type StartedPage,
} from "./adaptive-limits.ts";
import { type CallKind, createFairQueue, type FairQueueEntry } from "./fair-queue.ts";

/** For whom a call is made, and how long it may wait. */
export interface CallOrigin {
  /** A keyed digest, never the token; empty for anonymous callers. */
  readonly credential: string;
  readonly kind: CallKind;
  /** The request has made a call before, and should finish. */
  readonly begun: boolean;
  /** The platform refused this page before. */
  readonly again?: boolean;
  /** When the request began, and its deadline, in milliseconds of the queue's clock. */
  readonly since: number;
  readonly deadline: number;
}

/** Permission for one call. */
export interface CallSlot {
  /** Releases the slot; calling it again does nothing. */
  done(outcome: CallOutcome): void;
}

/** What a call does once it may start, or is refused. */
export interface QueuedWork {
  start(slot: CallSlot): void;
  refuse(problem: Problem): void;
}

export interface CallQueueOptions {
  /** Calls at a time (`upstream.*.connections`). */
  readonly connections: number;
  /** Pages of lists read at a time, when all goes well (`lists.readersPerUpstream`). */
  readonly pages: number;
  /** Pages read at a time at first. */
  readonly start: number;
  /** Whether the platform has accepted a credential: these go before others. */
  readonly accepted?: ((credential: string) => boolean) | undefined;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Milliseconds since 1970: a `Retry-After` may be a date. */
  readonly wall: () => number;
  readonly later: Timer;
  /** The share of the time since the last call for which the event loop was busy (0 to 1). */
  readonly busy?: (() => number) | undefined;
  /** Called every few seconds while calls wait for long, or are refused. */
  readonly long?: ((facts: LongQueue) => void) | undefined;
}

/** What the log says about a long queue. */
export interface LongQueue {
  readonly waiting: number;
  readonly longestSeconds: number;
  /** Requests refused since the last call. */
  readonly refused: number;
}

/** For metrics. */
export interface CallQueueState {
  readonly waiting: Readonly<Record<CallKind, number>>;
  /** Calls that got a slot, and the seconds they waited for it. */
  readonly waits: Readonly<Record<CallKind, { readonly count: number; readonly seconds: number }>>;
  /** Wait so far of the longest waiting call. */
  readonly longestMs: number;
  /** Pages that may be read at a time, and that are being read. */
  readonly limit: number;
  readonly reading: number;
  /** Milliseconds until all may read pages again, and until each credential may. */
  readonly gatedMs: number;
  readonly pausedMs: number;
}

export interface CallQueue {
  /**
   * Starts `call` when there is a slot: at once, or later. Refuses it instead, never before this returns, when the wait
   * would outlast the request. The function given back stops waiting, and does nothing once the call has started.
   */
  enter(caller: CallOrigin, call: QueuedWork): () => void;
  /** Each call waits for a slot, and its caller hears of its end. */
  layer(kind: CallKind): SendLayer;
  /** Whether so many wait that a request that arrives now may wait too long. */
  isLong(): boolean;
  /** How long a request that arrives now would wait. */
  predictedMs(credential: string): number;
  /** How many credentials wait for slots that `credential` may want, itself included. */
  sharers(credential: string): number;
  /** Calls that `credential` has under way or in the queue. */
  usedBy(credential: string): number;
  /** When a short call with a small response last ended. */
  shortAt(): number;
  /** A request was refused before it came here; `overloaded`: for a while the newest calls go first. */
  turnedAway(overloaded: boolean): void;
  state(): CallQueueState;
}

/** A call in the queue or under way, and its slot: a class, since every call makes one. */
class QueuedCall implements FairQueueEntry, CallSlot {
  readonly credential: string;
  readonly kind: CallKind;
  readonly begun: boolean;
  readonly again: boolean;
  readonly since: number;
  readonly deadline: number;
  readonly call: QueuedWork;
  readonly leave: (call: QueuedCall, outcome: CallOutcome) => void;
  at: number;
  startedAt: number;
  cost = 0;
  page: StartedPage | undefined = undefined;
  over = false;

  constructor(
    { credential, kind, begun, again = false, since, deadline }: CallOrigin,
    call: QueuedWork,
    at: number,
    leave: (call: QueuedCall, outcome: CallOutcome) => void,
  ) {
    this.credential = credential;
    this.kind = kind;
    this.begun = begun;
    this.again = again;
    this.since = since;
    this.deadline = deadline;
    this.call = call;
    this.leave = leave;
    this.at = at;
    this.startedAt = at;
  }

  done(outcome: CallOutcome): void {
    if (this.over) return;
    this.over = true;
    this.leave(this, outcome);
  }
}

/** The timeout of a call. */
const LONGEST_CALL_MS = 30_000;
const TICK_MS = 100;
/** Overload is over when no request was refused for this time. */
const OVERLOAD_MS = 1_000;
/** Longest wait under overload: clients that have waited for longer are likely to have left. */
const MOST_MS = 1_000;
/** So few calls may always wait: the rate is not known well enough to refuse them. */
const FEW = 64;
/** The work of a small response, in usual calls; pages of lists take more. */
const SMALL = 0.5;
/** A wait that is logged, and how often. */
const LONG_MS = 1_000;
const LOG_EVERY_MS = 5_000;

export function createCallQueue(options: CallQueueOptions): CallQueue {
  const { connections, pages, start, now, wall, later, busy, accepted, long } = options;
  // An eighth of the connections is left to short calls, whatever lists do.
  const mostPages = Math.max(1, Math.min(pages, connections - Math.ceil(connections / 8)));
  const limits = createAdaptiveLimits(start, mostPages, now, wall);
  const waits = {
    short: { count: 0, seconds: 0 },
    page: { count: 0, seconds: 0 },
    background: { count: 0, seconds: 0 },
  };
  const processor = createProcessorLimit(connections);
  const queue = createFairQueue<QueuedCall>({
    capacity: connections,
    places: processor.now,
    kept: connections >> 4,
    pages: limits.limit,
    mostPages,
    mayRead: limits.quota.mayRead,
    accepted,
    longestMs: LONGEST_CALL_MS,
  });
  const never = Number.NEGATIVE_INFINITY;
  const state = { ticking: false, refused: 0, loggedAt: never, overloadedAt: never, shortAt: never };
  const isOverloaded = (at: number): boolean => at - state.overloadedAt < OVERLOAD_MS;

  const begin = (call: QueuedCall, at: number): void => {
    const { kind, credential } = call;
    const waited = at - call.at;
    waits[kind].count += 1;
    waits[kind].seconds += waited / 1_000;
    // Only pages have limits of their own.
    if (kind !== "short") call.page = limits.begin(credential, queue.pages(), at);
    call.call.start(call);
  };
  const leave = (call: QueuedCall, outcome: CallOutcome): void => {
    const at = now();
    if (call.page !== undefined) limits.ended(call.page, outcome, queue.pages(), at);
    queue.leave(call, at, outcome.work);
    if (call.kind === "short" && (outcome.work ?? 0) < SMALL) state.shortAt = at;
    // undici counts a connection as busy until its handler of the response's end has returned.
    if (queue.waiting() > 0) queueMicrotask(pump);
  };
  const refuse = (call: QueuedCall): void => {
    state.refused += 1;
    call.call.refuse(overloaded());
  };
  const pump = (): void => {
    const at = now();
    queue.newestFirst = isOverloaded(at);
    for (let call = queue.next(at); call !== undefined; call = queue.next(at)) begin(call, at);
  };
  const tick = (): void => {
    state.ticking = false;
    const at = now();
    for (const call of queue.expire(at, isOverloaded(at) ? MOST_MS : undefined)) refuse(call);
    if (queue.waiting() === 0) processor.reset();
    else if (busy !== undefined) processor.adapt(busy());
    pump();
    logLongQueue(at);
    watch();
  };
  const watch = (): void => {
    if (state.ticking || queue.waiting() === 0) return;
    state.ticking = true;
    later(Math.min(TICK_MS, Math.max(1, limits.quota.nextMs() ?? TICK_MS)), tick);
  };
  const longestMs = (at: number): number => at - (queue.oldest() ?? at);
  const logLongQueue = (at: number): void => {
    const longest = longestMs(at);
    if ((longest < LONG_MS && state.refused === 0) || at - state.loggedAt < LOG_EVERY_MS) return;
    long?.({ waiting: queue.waiting(), longestSeconds: longest / 1_000, refused: state.refused });
    state.loggedAt = at;
    state.refused = 0;
  };

  const calls: CallQueue = {
    enter(caller, work) {
      const at = now();
      const call = new QueuedCall(caller, work, at, leave);
      const became = queue.enter(call, at);
      if (became === "waits") {
        watch();
        return () => {
          queue.cancel(call);
        };
      }
      if (became === "started") begin(call, at);
      else queueMicrotask(() => refuse(call));
      return nothing;
    },
    layer: (kind) => (next) => async (request, sending) => {
      const { signal, caller = NOBODY, again = false } = sending;
      const at = now();
      let slot: CallSlot | undefined;
      let response: ApiResponse | undefined;
      let outcome: CallOutcome = NO_RESPONSE;
      try {
        const { credential, since, deadline } = caller;
        const origin = { credential, kind, begun: caller.begun(), again, since, deadline };
        const given = waitForSlot(calls, origin, signal);
        // Mostly there is one, and then the call starts in this turn.
        slot = given instanceof Promise ? await given : given;
        response = await next(request, sending);
        outcome = outcomeOf(request, response);
        return response;
      } catch (error) {
        if (error instanceof Problem && error.reason === "UPSTREAM_TIMEOUT") outcome = { status: 504 };
        throw error;
      } finally {
        slot?.done(outcome);
        caller.ended(request, response, now() - at);
      }
    },
    isLong: () => queue.waiting("short") >= FEW,
    predictedMs: (credential) => queue.predictedMs(credential, now()),
    sharers: queue.sharers,
    usedBy: queue.usedBy,
    shortAt: () => state.shortAt,
    turnedAway(overloaded) {
      state.refused += 1;
      if (overloaded) state.overloadedAt = now();
    },
    state: () => ({
      waiting: { short: queue.waiting("short"), page: queue.waiting("page"), background: queue.waiting("background") },
      waits,
      longestMs: longestMs(now()),
      limit: limits.limit(),
      reading: queue.pages(),
      gatedMs: limits.quota.gatedMs(),
      pausedMs: limits.quota.pausedMs(),
    }),
  };
  return calls;
}

const nothing = (): void => {};

const NOBODY: Caller = {
  ...{ credential: "", since: 0, deadline: Number.POSITIVE_INFINITY },
  begun: () => false,
  ended: nothing,
};

function overloaded(): Problem {
  return new Problem("OVERLOADED", "more requests are waiting than can be served in time", {
    retryAfter: 1,
    options: ["upstream.*.connections"],
  });
}

const NO_RESPONSE: CallOutcome = { status: 0 };

/** At once when there is a slot. Rejects with the signal's reason as soon as it aborts. */
function waitForSlot(
  calls: Pick<CallQueue, "enter">,
  caller: CallOrigin,
  signal: Signal,
): CallSlot | Promise<CallSlot> {
  signal.throwIfAborted();
  const wait = new SlotWait();
  const giveUp = calls.enter(caller, wait);
  if (wait.slot !== undefined) return wait.slot;
  return new Promise((resolve, reject) => {
    const gone = (): void => {
      giveUp();
      reject(signal.reason);
    };
    signal.addEventListener("abort", gone, { once: true });
    wait.settle = (slot, problem) => {
      signal.removeEventListener("abort", gone);
      if (slot === undefined) reject(problem);
      else resolve(slot);
    };
  });
}

class SlotWait implements QueuedWork {
  slot: CallSlot | undefined = undefined;
  settle: (slot: CallSlot | undefined, problem: Problem | undefined) => void = nothing;

  start(slot: CallSlot): void {
    this.slot = slot;
    this.settle(slot, undefined);
  }

  refuse(problem: Problem): void {
    this.settle(undefined, problem);
  }
}

/** Rewriting so many bytes of JSON takes about as long as the rest of a call. */
const TRANSLATED_BYTES = 16 * 1024;

function outcomeOf({ target }: ApiRequest, { status, headers, body }: ApiResponse): CallOutcome {
  if (OVERLOAD_STATUSES.has(status)) return { status, retryAfter: header(headers, "retry-after") };
  if (status !== 200) return { status };
  return { status, path: pathOf(target), work: body.length / TRANSLATED_BYTES };
}
