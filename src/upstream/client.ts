/** How does one call reach an upstream, and what comes back? */
import type { Dispatcher } from "undici";
import { toHeaderList } from "../model/http.ts";
import {
  type ApiRequest,
  type ApiResponse,
  NoRoom,
  type Send,
  type SendOptions,
  withoutHeaders,
} from "../model/message.ts";
import type { Problem } from "../model/problem.ts";
import type { Breaker } from "./breaker.ts";
import { decode } from "./decode.ts";
import { type CallFacts, failure, invalidAnswer } from "./failure.ts";
import { endToEnd, flatHeader, hideOrigin, sendable } from "./headers.ts";
import type { Pool } from "./pool.ts";
import { tellFailure } from "./signs.ts";

export interface SendLimits {
  /** Longest body of an answer, after decompression too. */
  readonly maxResponseBytes: number;
}

/** An answer as it came: fields flat, body still compressed where it was. */
interface RawAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** What is no longer true once a body is decoded. */
const OF_ENCODED_BYTES: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);
const NO_BYTES = new Uint8Array(0);
const anySize = (): boolean => true;

/**
 * Calls over `pool`. Redirects are answers like any other. Rejects with UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT,
 * UPSTREAM_INVALID (a body over the limit is one) or UPSTREAM_UNAVAILABLE, or with the signal's reason when the caller gave up (design: Send).
 */
export function createSend(pool: Pool, limits: SendLimits): Send {
  return (request, options) => call(pool, request, options, limits);
}

/** At once, unless it has to be decoded. */
function responseOf(answer: RawAnswer, pool: Pool, method: string, limit: number): ApiResponse | Promise<ApiResponse> {
  hideOrigin(answer.headers, pool.origin, pool.basePath);
  const encoding = flatHeader(answer.headers, "content-encoding");
  if (encoding === undefined || answer.body.length === 0 || encoding.trim().toLowerCase() === "identity") {
    return { status: answer.status, headers: toHeaderList(answer.headers), body: answer.body };
  }
  return decoded(answer, encoding, { method, sent: true }, limit);
}

async function decoded(answer: RawAnswer, encoding: string, facts: CallFacts, limit: number): Promise<ApiResponse> {
  try {
    const body = await decode(encoding, answer.body, limit);
    const headers = withoutHeaders(toHeaderList(answer.headers), OF_ENCODED_BYTES);
    return { status: answer.status, headers, body };
  } catch (error) {
    throw invalidAnswer("compressed answer", facts, error);
  }
}

function call(
  pool: Pool,
  request: ApiRequest,
  { signal, room = anySize }: SendOptions,
  { maxResponseBytes: maxBytes }: SendLimits,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const beganAt = pool.breaker.begin();
    if (typeof beganAt !== "number") return reject(beganAt);
    const onAbort = () => {
      reject(signal.reason);
      gathering.settled = true;
      gathering.control?.abort(new Error("cancelled by the caller"));
    };
    const gathering = newGathering({ pool, request, beganAt, room }, maxBytes, (outcome) => {
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(responseOf(outcome, pool, request.method, maxBytes));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    const { body } = request;
    pool.dispatch(
      {
        path: pool.basePath + request.target,
        method: request.method as Dispatcher.HttpMethod,
        headers: sendable(request.headers),
        body: body === undefined || body.length === 0 ? null : Buffer.from(body.buffer, body.byteOffset, body.length),
      },
      handlerOf(gathering),
    );
  });
}

/** One call that was let out. */
interface Call {
  readonly pool: Pool;
  readonly request: ApiRequest;
  readonly beganAt: number;
  readonly room: (bytes: number) => boolean;
}

/** One answer while it comes. */
interface Gathering {
  readonly beganAt: number;
  readonly breaker: Breaker;
  readonly method: string;
  readonly maxBytes: number;
  /** Told once, unless the caller has given up before. */
  readonly done: (outcome: RawAnswer | Problem | NoRoom) => void;
  readonly room: (bytes: number) => boolean;
  control: Dispatcher.DispatchController | undefined;
  settled: boolean;
  status: number;
  headers: string[];
  readonly chunks: Uint8Array[];
  length: number;
}

function newGathering({ pool, request, beganAt, room }: Call, maxBytes: number, done: Gathering["done"]): Gathering {
  return {
    breaker: pool.breaker,
    method: request.method,
    beganAt,
    maxBytes,
    done,
    room,
    control: undefined,
    settled: false,
    status: 0,
    headers: [],
    chunks: [],
    length: 0,
  };
}

function handlerOf(gathering: Gathering): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      gathering.control = controller;
      if (gathering.settled) controller.abort(new Error("cancelled before it was sent"));
    },
    onResponseStart(controller, status) {
      if (status >= 200) begin(gathering, status, endToEnd(controller.rawHeaders as Buffer[]));
    },
    onResponseData(_controller, chunk) {
      gathering.length += chunk.length;
      if (gathering.length > gathering.maxBytes) refuse(gathering, "body over the limit");
      else if (!gathering.room(gathering.length)) giveUpFor(gathering, gathering.length);
      else gathering.chunks.push(chunk);
    },
    onResponseEnd() {
      finish(gathering);
    },
    onResponseError(_controller, error) {
      if (gathering.settled) return;
      const problem = failure(error, { method: gathering.method, sent: gathering.control !== undefined });
      if (gathering.status === 0) tellFailure(gathering.breaker, gathering.beganAt, problem);
      settle(gathering, problem);
    },
  };
}

function begin(gathering: Gathering, status: number, headers: string[]): void {
  gathering.status = status;
  gathering.headers = headers;
  gathering.breaker.answered();
  const length = gathering.method === "HEAD" ? undefined : flatHeader(headers, "content-length");
  if (status > 599) refuse(gathering, "status code out of range");
  // These have no body, whatever their fields say; a stated length must not turn them into an error.
  else if (status === 204 || status === 304) finish(gathering);
  else if (Number(length) > gathering.maxBytes) refuse(gathering, "body over the limit");
  else if (length !== undefined && !gathering.room(Number(length))) giveUpFor(gathering, Number(length));
}

function finish(gathering: Gathering): void {
  const { status, headers, chunks, length } = gathering;
  settle(gathering, {
    status,
    headers,
    body: chunks.length > 1 ? Buffer.concat(chunks, length) : (chunks[0] ?? NO_BYTES),
  });
}

function refuse(gathering: Gathering, why: string): void {
  settle(gathering, invalidAnswer(why, { method: gathering.method, sent: true }));
  gathering.control?.abort(new Error(why));
}

/** There is no room for so much now: whoever holds the connection meanwhile would keep it from others. */
function giveUpFor(gathering: Gathering, bytes: number): void {
  settle(gathering, new NoRoom(bytes));
  gathering.control?.abort(new Error("no room for the response"));
}

function settle(gathering: Gathering, outcome: RawAnswer | Problem | NoRoom): void {
  if (gathering.settled) return;
  gathering.settled = true;
  gathering.done(outcome);
}
