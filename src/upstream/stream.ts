import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { type StreamRequest, type StreamSend, type StreamSink, writeHeaders } from "../model/http.ts";
import type { Problem } from "../model/problem.ts";
import { reportFailure } from "./breaker.ts";
import type { CallQueue, CallSlot } from "./call-queue.ts";
import { failure, invalidAnswer, neverLeft } from "./failure.ts";
import { responseFields } from "./headers.ts";
import type { Pool } from "./pool.ts";
import type { RetryBudget } from "./retry.ts";

/**
 * Streams over `pool`: the request target is not parsed, fields keep their order and spelling. A GET or HEAD without a body
 * that brought no answer is sent once more within the budget; nothing else ever is.
 */
export function createStream(pool: Pool, budget: RetryBudget, calls: Pick<CallQueue, "enter"> = UNBOUNDED): StreamSend {
  return (request, sink) => {
    budget.called();
    const repeatable = request.body === undefined && (request.method === "GET" || request.method === "HEAD");
    const relay: PendingStream = {
      sink,
      pool,
      method: request.method,
      beganAt: 0,
      control: undefined,
      giveUp: undefined,
      place: undefined,
      settled: false,
      status: 0,
      work: 0,
      endRepeat: undefined,
    };
    const again = (problem: Problem): boolean => {
      const mayRepeat = neverLeft(problem) || problem.reason === "UPSTREAM_UNREACHABLE";
      const giveBack = repeatable && mayRepeat ? budget.repeat() : undefined;
      if (giveBack === undefined) return false;
      relay.endRepeat = giveBack;
      enter(relay, request, calls, undefined);
      return true;
    };
    enter(relay, request, calls, again);
    return {
      resume: () => relay.control?.resume(),
      cancel: () => {
        settle(relay);
        relay.control?.abort(new Error("cancelled by the client"));
      },
    };
  };
}

/** What is known of one exchange while its answer passes. */
interface PendingStream {
  readonly sink: StreamSink;
  readonly pool: Pool;
  readonly method: string;
  beganAt: number;
  control: Dispatcher.DispatchController | undefined;
  /** Gives up waiting for a place. */
  giveUp: (() => void) | undefined;
  place: CallSlot | undefined;
  settled: boolean;
  /** Of the response, once it has begun. */
  status: number;
  /** What its body has taken of the processor, in usual calls. */
  work: number;
  /** Gives the leave to repeat back. */
  endRepeat: (() => void) | undefined;
}

/** Passing so many bytes on takes about as long as all else of a call. */
const PASSED_BYTES = 128 * 1024;

type Again = ((problem: Problem) => boolean) | undefined;

/** For a pool that has connections enough. */
const UNBOUNDED: Pick<CallQueue, "enter"> = {
  enter: (_, start) => {
    start({ done: () => {} });
    return () => {};
  },
};

/** Anybody whose share is not known: tests, and requests without an origin. */
const NO_ORIGIN = { credential: "", since: 0, deadline: Number.POSITIVE_INFINITY };

/** Sends when there is a place. */
function enter(relay: PendingStream, request: StreamRequest, calls: Pick<CallQueue, "enter">, again: Again): void {
  const { from = NO_ORIGIN } = request;
  const fail = (problem: Problem): void => {
    endBody(request);
    if (settle(relay)) relay.sink.fail(problem);
  };
  relay.giveUp = calls.enter(
    { ...from, kind: "short", begun: again === undefined },
    (place) => {
      relay.place = place;
      dispatch(relay, request, again);
    },
    fail,
  );
}

/** Nobody will read the body of a call that is never sent. */
function endBody({ body }: StreamRequest): void {
  (body as Readable | undefined)?.destroy();
}

function dispatch(relay: PendingStream, request: StreamRequest, again: Again): void {
  const { pool } = relay;
  relay.control = undefined;
  const beganAt = pool.breaker.begin();
  if (typeof beganAt !== "number") {
    // The caller must have the call before its end is reported.
    queueMicrotask(() => {
      relay.place?.done({ status: 0 });
      if (settle(relay)) relay.sink.fail(beganAt);
    });
    return;
  }
  relay.beganAt = beganAt;
  pool.dispatch(
    {
      path: pool.basePath + request.target,
      method: request.method as Dispatcher.HttpMethod,
      headers: writeHeaders(request.headers),
      body: (request.body as Readable | undefined) ?? null,
    },
    handlerOf(relay, again),
  );
}

function handlerOf(
  relay: PendingStream,
  again: ((problem: Problem) => boolean) | undefined,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      relay.control = controller;
      if (relay.settled) controller.abort(new Error("cancelled before it was sent"));
    },
    onResponseStart(controller, status, _headers, statusText) {
      if (status >= 200 && !relay.settled) begin(relay, controller, status, statusText ?? "");
    },
    onResponseData(controller, chunk) {
      relay.work += chunk.length / PASSED_BYTES;
      if (!relay.settled && !relay.sink.data(chunk)) controller.pause();
    },
    onResponseEnd() {
      relay.place?.done(relay);
      if (settle(relay)) relay.sink.end();
    },
    onResponseError(_controller, error) {
      // Told as well when the call was cancelled: the connection is free only now.
      relay.place?.done(relay);
      if (relay.settled) return;
      const problem = failure(error, { method: relay.method, sent: relay.control !== undefined });
      if (relay.status === 0) reportFailure(relay.pool.breaker, relay.beganAt, problem);
      if (relay.status === 0 && again?.(problem)) return;
      if (settle(relay)) relay.sink.fail(problem);
    },
  };
}

function begin(
  relay: PendingStream,
  controller: Dispatcher.DispatchController,
  status: number,
  statusText: string,
): void {
  const { sink, pool, method } = relay;
  if (status > 599) {
    if (settle(relay)) sink.fail(invalidAnswer("status code out of range", { method, sent: true }));
    controller.abort(new Error("status code out of range"));
    return;
  }
  relay.status = status;
  pool.breaker.answered();
  sink.head(status, statusText, responseFields(controller.rawHeaders as Buffer[], pool, true));
  // These have no body; a 304 that states a length would else be an error once its head has passed.
  if ((status === 204 || status === 304) && settle(relay)) sink.end();
}

/** True the first time. */
function settle(relay: PendingStream): boolean {
  if (relay.settled) return false;
  relay.settled = true;
  relay.endRepeat?.();
  return true;
}
