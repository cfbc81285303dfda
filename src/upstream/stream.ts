import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { type StreamCall, type StreamRequest, type StreamSend, type StreamSink, writeHeaders } from "../model/http.ts";
import type { Problem } from "../model/problem.ts";
import { reportFailure } from "./breaker.ts";
import type { CallQueue, CallSlot, QueuedWork } from "./call-queue.ts";
import { failure, invalidAnswer, neverLeft } from "./failure.ts";
import { responseFields } from "./headers.ts";
import type { Pool } from "./pool.ts";
import type { RetryBudget } from "./retry.ts";

/** Passing so many bytes on takes about as long as all else of a call. */
const PASSED_BYTES = 128 * 1024;

/** For a pool that has connections enough. */
const UNBOUNDED: Pick<CallQueue, "enter"> = {
  enter: (_, call) => {
    call.start({ done: () => {} });
    return () => {};
  },
};

const nothing = (): void => {};

/** Anybody whose share is not known: tests, and requests without an origin. */
const NO_ORIGIN = { credential: "", since: 0, deadline: Number.POSITIVE_INFINITY };

/**
 * Streams over `pool`: the request target is not parsed, fields keep their order and spelling. A GET or HEAD without a body
 * that brought no answer is sent once more within the budget; nothing else ever is.
 */
export function createStream(pool: Pool, budget: RetryBudget, calls: Pick<CallQueue, "enter"> = UNBOUNDED): StreamSend {
  const parts: StreamParts = { pool, budget, calls };
  return (request, sink) => {
    budget.called();
    const call = new PendingStream(parts, request, sink);
    call.enter();
    return call;
  };
}

interface StreamParts {
  readonly pool: Pool;
  readonly budget: RetryBudget;
  readonly calls: Pick<CallQueue, "enter">;
}

/**
 * One exchange while its answer passes. A class, so that a call is one object: what waits in the queue, what undici calls back, and what
 * the sink can cancel. `client.ts` says why undici calls it by its older names.
 */
class PendingStream implements StreamCall, QueuedWork, Dispatcher.DispatchHandler {
  readonly parts: StreamParts;
  readonly request: StreamRequest;
  readonly sink: StreamSink;
  beganAt = 0;
  /** Breaks the connection; undefined until bytes may leave. */
  abort: ((error: Error) => void) | undefined = undefined;
  /** Takes it out of the queue where it waits. */
  leave: () => void = nothing;
  /** The sink is full, and the response waits. */
  paused = false;
  readOn: (() => void) | undefined = undefined;
  place: CallSlot | undefined = undefined;
  settled = false;
  /** Of the response, once it has begun. */
  status = 0;
  /** What its body has taken of the processor, in usual calls. */
  work = 0;
  /** It is sent again. */
  repeated = false;
  /** Gives the leave to repeat back. */
  endRepeat: (() => void) | undefined = undefined;

  constructor(parts: StreamParts, request: StreamRequest, sink: StreamSink) {
    this.parts = parts;
    this.request = request;
    this.sink = sink;
  }

  /** Sends when there is a place. */
  enter(): void {
    this.place = undefined;
    const { credential, since, deadline } = this.request.from ?? NO_ORIGIN;
    this.leave = this.parts.calls.enter({ credential, kind: "short", begun: this.repeated, since, deadline }, this);
  }

  start(place: CallSlot): void {
    const { request, parts } = this;
    const { pool } = parts;
    this.place = place;
    this.abort = undefined;
    const beganAt = pool.breaker.begin();
    if (typeof beganAt !== "number") {
      // The caller must have the call before its end is reported.
      queueMicrotask(() => {
        place.done({ status: 0 });
        this.fail(beganAt);
      });
      return;
    }
    this.beganAt = beganAt;
    pool.dispatch(
      {
        path: pool.basePath + request.target,
        method: request.method as Dispatcher.HttpMethod,
        headers: writeHeaders(request.headers),
        body: (request.body as Readable | undefined) ?? null,
      },
      this,
    );
  }

  refuse(problem: Problem): void {
    this.endBody();
    this.fail(problem);
  }

  /** Nobody will read the body of a call that is never sent. */
  endBody(): void {
    (this.request.body as Readable | undefined)?.destroy();
  }

  resume(): void {
    // The connection may have another call by now.
    if (!this.paused) return;
    this.paused = false;
    this.readOn?.();
  }

  cancel(): void {
    this.settle();
    this.abort?.(new Error("cancelled by the client"));
    if (this.place !== undefined) return;
    // At its turn it would take a connection only to break it.
    this.leave();
    this.endBody();
  }

  onConnect(abort: (error: Error) => void): void {
    this.abort = abort;
    if (this.settled) abort(new Error("cancelled before it was sent"));
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200 || this.settled) return true;
    const { sink, request, parts } = this;
    if (status > 599) {
      this.fail(invalidAnswer("status code out of range", { method: request.method, sent: true }));
      this.abort?.(new Error("status code out of range"));
      return true;
    }
    this.status = status;
    this.readOn = resume;
    parts.pool.breaker.answered();
    sink.head(status, statusText, responseFields(raw, parts.pool, true));
    // These have no body; a 304 that states a length would else be an error once its head has passed.
    if ((status === 204 || status === 304) && this.settle()) sink.end();
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.work += chunk.length / PASSED_BYTES;
    if (this.settled || this.sink.data(chunk)) return true;
    this.paused = true;
    return false;
  }

  onComplete(): void {
    this.place?.done(this);
    if (this.settle()) this.sink.end();
  }

  onError(error: Error): void {
    // Told as well when the call was cancelled: the connection is free only now.
    this.place?.done(this);
    if (this.settled) return;
    const problem = failure(error, { method: this.request.method, sent: this.abort !== undefined });
    if (this.status === 0) reportFailure(this.parts.pool.breaker, this.beganAt, problem);
    if (this.status === 0 && this.repeat(problem)) return;
    this.fail(problem);
  }

  /** True when it is sent again. */
  private repeat(problem: Problem): boolean {
    const { method, body } = this.request;
    const repeatable = !this.repeated && body === undefined && (method === "GET" || method === "HEAD");
    const mayRepeat = neverLeft(problem) || problem.reason === "UPSTREAM_UNREACHABLE";
    const giveBack = repeatable && mayRepeat ? this.parts.budget.repeat() : undefined;
    if (giveBack === undefined) return false;
    this.repeated = true;
    this.endRepeat = giveBack;
    this.enter();
    return true;
  }

  private fail(problem: Problem): void {
    if (this.settle()) this.sink.fail(problem);
  }

  /** True the first time. */
  private settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.endRepeat?.();
    return true;
  }
}
