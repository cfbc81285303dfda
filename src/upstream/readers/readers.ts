/** How many pages are read from one upstream at the same time, so that neither it nor another tenant suffers? */
import {
  type ApiRequest,
  type ApiResponse,
  header,
  type Send,
  type SendLayer,
  type SendOptions,
} from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { ownText } from "../../model/remains.ts";
import type { Signal } from "../../model/signal.ts";
import { retryAfter } from "../retry.ts";
import { createGate, type Gate } from "./gate.ts";
import { createLatency, type Latency } from "./latency.ts";
import { createLimit, type Limit } from "./limit.ts";
import { createPlaces, type Places } from "./places.ts";
import { createRefused, type Refused } from "./refused.ts";

export interface ReadersOptions {
  /** Pages read at a time for one credential (`lists.readersPerCredential`). */
  readonly perCredential: number;
  /** Pages read at a time in all, when all goes well (`lists.readersPerUpstream`). */
  readonly perUpstream: number;
  /** What it begins with; default 4. */
  readonly start?: number;
  /** Longest pause that a `Retry-After` can make, in milliseconds; default 5000. */
  readonly maxWaitMs?: number;
  /** Milliseconds on a clock that never goes back (`performance.now()`). */
  now(): number;
  /** Milliseconds since 1970: a `Retry-After` may be a date. */
  wall(): number;
  /** From 0 up to 1. */
  random(): number;
  /** Waits; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: Signal): Promise<void>;
}

/** For metrics. */
export interface ReadersState {
  /** Calls that may be under way at a time. */
  readonly limit: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Milliseconds until the platform may be called again; 0 when it may. */
  readonly gatedMs: number;
  /** Milliseconds until every credential may call again that waits for itself; 0 when none does. */
  readonly pausedMs: number;
}

/** Shared by all lists of one upstream (design section 5, limits of parallelism). */
export interface Readers {
  /**
   * For page reads of `credential` (a keyed digest, never the token): each call waits until it may begin, a 429 is sent
   * again. Rejects as the call does, and with the signal's reason while it waits. Other retries belong outside of it:
   * a place is held only while a call is under way.
   */
  layer(credential: string): SendLayer;
  state(): ReadersState;
}

const START = 4;
const MAX_WAIT_MS = 5_000;
/** A 429 asks to come later; who was told so this often is told his client. */
const REPEATS = 3;
/** Before the first repeat of a 429 that does not say when, up to twice this; then twice as long each time. */
const PAUSE_MS = 100;
/** 504: a gateway's word for a timeout. */
const OVERLOAD: ReadonlySet<number> = new Set([429, 503, 504]);
/** More kinds of lists than there are; a bound all the same, as their names come from requests. */
const MAX_KINDS = 64;

interface Shared {
  readonly options: ReadersOptions;
  readonly maxWaitMs: number;
  readonly limit: Limit;
  readonly places: Places;
  readonly gate: Gate;
  /** What is known of answers, by path: lists differ in how long a page takes. */
  readonly kinds: Map<string, Latency>;
  readonly refused: Refused;
}

/** One for each upstream. */
export function createReaders(options: ReadersOptions): Readers {
  const { perCredential, perUpstream, start = START, maxWaitMs = MAX_WAIT_MS, now, sleep } = options;
  const limit = createLimit({ start, max: perUpstream, now });
  const gate = createGate({ maxWaitMs, now, sleep, opened: () => places.admit() });
  const places = createPlaces({ perCredential, most: perUpstream, room: () => (gate.isClosed() ? 0 : limit.value()) });
  const shared: Shared = { options, maxWaitMs, limit, places, gate, kinds: new Map(), refused: createRefused(now) };
  return {
    layer: (credential) => (next) => (request, sending) => read(shared, credential, next, request, sending),
    state: () => ({
      limit: limit.value(),
      inFlight: places.inFlight(),
      waiting: places.waiting(),
      gatedMs: gate.leftMs(),
      pausedMs: shared.refused.longestMs(),
    }),
  };
}

/** One function for the sake of a call that need not wait: it costs one promise beside that of `next`, and no timer. */
async function read(
  shared: Shared,
  credential: string,
  next: Send,
  request: ApiRequest,
  sending: SendOptions,
): Promise<ApiResponse> {
  const { limit, places, options } = shared;
  for (let repeats = 0; ; repeats++) {
    for (;;) {
      if (!places.enter(credential)) await places.wait(credential, sending.signal, repeats > 0);
      const ms = shared.refused.pausedMs(credential);
      if (ms <= 0) break;
      places.leave(credential);
      await options.sleep(ms, sending.signal);
    }
    const call = limit.begin(places.inFlight());
    const began = options.now();
    let pause: number | undefined;
    try {
      const response = await next(request, sending);
      if (response.status === 200) learn(shared, request.target, call, options.now() - began);
      else if (OVERLOAD.has(response.status)) pause = pauseAfter(shared, response, { call, repeats, credential });
      if (pause === undefined) return response;
    } catch (error) {
      if (error instanceof Problem && error.reason === "UPSTREAM_TIMEOUT") limit.setBack(call, places.inFlight());
      throw error;
    } finally {
      places.leave(credential);
    }
    if (pause > 0) await options.sleep(pause, sending.signal);
  }
}

/** From an answer that took `ms`. Of a call that began before the latest cut nothing can be learned. */
function learn({ limit, places, kinds }: Shared, target: string, call: number, ms: number): void {
  if (limit.isStale(call)) return;
  const judged = kindOf(kinds, target).judge(ms, limit.value());
  if (judged === "usual") limit.succeed(call);
  else if (judged === "halve") limit.setBack(call, places.inFlight());
}

function kindOf(kinds: Map<string, Latency>, target: string): Latency {
  const query = target.indexOf("?");
  const path = query < 0 ? target : target.slice(0, query);
  const known = kinds.get(path);
  if (known !== undefined) return known;
  const [oldest] = kinds.keys();
  if (kinds.size >= MAX_KINDS && oldest !== undefined) kinds.delete(oldest);
  const made = createLatency();
  // The target may hold a page token.
  kinds.set(ownText(path), made);
  return made;
}

/** Milliseconds to wait before a call that was refused for load is sent again; undefined: its answer is given back. */
function pauseAfter(
  shared: Shared,
  response: ApiResponse,
  { call, repeats, credential }: { readonly call: number; readonly repeats: number; readonly credential: string },
): number | undefined {
  const { limit, places, gate, maxWaitMs, options } = shared;
  const asked = retryAfter(header(response.headers, "retry-after"), options.wall()) ?? 0;
  if (response.status === 429 && asked > 0 && shared.refused.isAlone(credential, Math.min(asked, maxWaitMs))) {
    // Its own limit, not the platform's: others are not to wait for it, again and again.
    return asked > maxWaitMs || repeats === REPEATS ? undefined : 0;
  }
  limit.setBack(call, places.inFlight());
  if (response.status === 504) return undefined;
  gate.close(asked);
  if (response.status === 503 || asked > maxWaitMs || repeats === REPEATS) return undefined;
  return asked > 0 ? 0 : PAUSE_MS * 2 ** repeats * (1 + options.random());
}
