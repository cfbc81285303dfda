/** How long does a call wait for a connection when all are taken, and who is next? */
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { Problem } from "../model/problem.ts";
import type { Later } from "./later.ts";

export interface LineOptions {
  /** Calls under way at a time. */
  readonly connections: number;
  /**
   * Longest wait of a call that begins a request. It is twice what a call usually takes, within this and a fifth of it: in a line
   * that moves fast, who waits long stands behind more than can be served, and his client leaves before his turn.
   */
  readonly waitMs: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly later: Later;
  readonly dispatcher: () => Dispatcher;
}

/** Gives up a place in the line: the call is never sent, and its handler hears nothing. Does nothing once it has begun. */
export type GiveUp = () => void;

export interface Line {
  /**
   * Sends when there is a connection. One that has waited too long, or certainly would, ends in `Problem` OVERLOADED, never
   * before this returns; `patient`: never for that, since a request that has been begun had better be finished.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, patient: boolean): GiveUp;
}

interface Place {
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: Dispatcher.DispatchHandler;
  readonly since: number;
  waits: boolean;
}

/** How much the latest call counts in what calls usually take. */
const WEIGHT = 0.05;
const LEAST_SHARE = 0.2;
/** How often it is seen, while calls wait, that the process runs. */
const BEAT_MS = 100;
/** Longest delay of a beat that is no standstill. */
const LATE_MS = 200;
const nothing = (): void => {};

/**
 * undici has a line of its own, without an end and without a way out: who has left is still sent as far as a connection, which
 * is cut for it. Under overload, when many leave, that costs the connections which the others wait for.
 */
export function createLine({ connections, waitMs, now, later, dispatcher }: LineOptions): Line {
  const beginning = createFifo();
  const further = createFifo();
  /** `usualMs`: what a call takes; undefined before the first has ended. */
  const state: { underWay: number; usualMs: number | undefined; timed: boolean; stoodStillMs: number } = {
    underWay: 0,
    usualMs: undefined,
    timed: false,
    stoodStillMs: 0,
  };
  // A process that is not let run for a second finds answers for all connections behind it, and would refuse the whole line before it reads them.
  const clock = (): number => now() - state.stoodStillMs;

  const limitMs = (): number =>
    state.usualMs === undefined ? waitMs : Math.min(waitMs, Math.max(waitMs * LEAST_SHARE, 2 * state.usualMs));
  const send = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void => {
    state.underWay++;
    const since = clock();
    dispatcher().dispatch(
      options,
      leaving(handler, () => freed(clock() - since)),
    );
  };
  const freed = (ms: number): void => {
    state.underWay--;
    state.usualMs = state.usualMs === undefined ? ms : state.usualMs + WEIGHT * (ms - state.usualMs);
    // undici takes a connection for busy until it has returned from telling of the answer's end.
    if (beginning.length() + further.length() > 0) queueMicrotask(admit);
  };
  const admit = (): void => {
    while (state.underWay < connections) {
      const [one, other] = [beginning.first(), further.first()];
      const older = one === undefined || (other !== undefined && other.since < one.since) ? further : beginning;
      const next = older.shift();
      if (next === undefined) return;
      send(next.options, next.handler);
    }
  };
  const expire = (due: number): void => {
    state.timed = false;
    const lateMs = now() - due;
    if (lateMs > LATE_MS) state.stoodStillMs += lateMs;
    for (let one = beginning.first(); one !== undefined && clock() - one.since >= limitMs(); one = beginning.first()) {
      beginning.shift();
      refuse(one);
    }
    watch();
  };
  const watch = (): void => {
    const one = beginning.first();
    if (one === undefined || state.timed) return;
    state.timed = true;
    const ms = Math.min(BEAT_MS, Math.max(1, one.since + limitMs() - clock()));
    const due = now() + ms;
    later(ms, () => expire(due));
  };
  return {
    dispatch(options, handler, patient) {
      const waiting = beginning.length() + further.length();
      if (state.underWay < connections && waiting === 0) {
        send(options, handler);
        return nothing;
      }
      if (!patient && (waiting * (state.usualMs ?? 0)) / connections > limitMs()) {
        queueMicrotask(() => refuse({ options, handler }));
        return nothing;
      }
      const line = patient ? further : beginning;
      const place: Place = { options, handler, since: clock(), waits: true };
      line.push(place);
      watch();
      return () => {
        if (line.drop(place)) endBody(options);
      };
    },
  };
}

function refuse({ options, handler }: Pick<Place, "options" | "handler">): void {
  endBody(options);
  const problem = new Problem("OVERLOADED", "too many calls to the platform wait for a connection", { retryAfter: 1 });
  handler.onResponseError?.(NO_CONTROL, problem);
}

/** Nobody will read the body of a call that is never sent. */
function endBody({ body }: Dispatcher.DispatchOptions): void {
  if (body instanceof Readable) body.destroy();
}

/** Nothing has begun that could be controlled. */
const NO_CONTROL: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: nothing,
  pause: nothing,
  resume: nothing,
};

/** `handler`, and `freed` once when its call is over: undici tells of an error after the end when a handler throws at that. */
function leaving(handler: Dispatcher.DispatchHandler, freed: () => void): Dispatcher.DispatchHandler {
  let over = false;
  const done = (): void => {
    if (!over) freed();
    over = true;
  };
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, text) =>
      handler.onResponseStart?.(controller, status, headers, text),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => {
      done();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      done();
      handler.onResponseError?.(controller, error);
    },
  };
}

interface Fifo {
  push(place: Place): void;
  first(): Place | undefined;
  shift(): Place | undefined;
  /** False when it does not wait any more. */
  drop(place: Place): boolean;
  length(): number;
}

/** First in, first out; those that were dropped are skipped when their turn comes. */
function createFifo(): Fifo {
  let places: Place[] = [];
  let at = 0;
  let count = 0;
  const first = (): Place | undefined => {
    while (at < places.length && places[at]?.waits === false) at++;
    if (at >= places.length && at > 0) {
      places = [];
      at = 0;
    } else if (at > 1_000) {
      places = places.slice(at);
      at = 0;
    }
    return places[at];
  };
  const drop = (place: Place): boolean => {
    if (!place.waits) return false;
    place.waits = false;
    count--;
    return true;
  };
  return {
    push: (place) => {
      places.push(place);
      count++;
    },
    first,
    shift: () => {
      const place = first();
      if (place !== undefined) drop(place);
      return place;
    },
    drop,
    length: () => count,
  };
}
