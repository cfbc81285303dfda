import { promisify } from "node:util";
import * as zlib from "node:zlib";
import type { Dispatcher } from "undici";
import { type Exchange, recordCall, type Upstream } from "../model/exchange.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type HeaderList,
  header,
  ResponseBufferFull,
  type Send,
  type SendLayer,
  type SendOptions,
  withoutHeaders,
} from "../model/http.ts";
import type { Problem } from "../model/problem.ts";
import { reportFailure } from "./breaker.ts";
import { type CallFacts, failure, invalidAnswer } from "./failure.ts";
import { callHeaders, responseFields } from "./headers.ts";
import type { Pool } from "./pool.ts";

export interface SendLimits {
  /** Longest body of an answer, after decompression too. */
  readonly maxResponseBytes: number;
}

/** What is no longer true once a body is decoded. */
const OF_ENCODED_BYTES: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);
const NO_BYTES = new Uint8Array(0);
const anySize = (): boolean => true;

/**
 * Calls over `pool`. Redirects are answers like any other. Rejects with UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT,
 * UPSTREAM_INVALID (a body over the limit is one) or UPSTREAM_UNAVAILABLE, or with the signal's reason when the caller gave up.
 */
export function createSend(pool: Pool, limits: SendLimits): Send {
  return (request, options) => call(pool, request, options, limits);
}

/** At once, unless it has to be decoded. */
function responseOf(answer: ApiResponse, method: string, limit: number): ApiResponse | Promise<ApiResponse> {
  const encoding = header(answer.headers, "content-encoding");
  if (encoding === undefined || answer.body.length === 0 || encoding.trim().toLowerCase() === "identity") return answer;
  return decoded(answer, encoding, { method, sent: true }, limit);
}

async function decoded(answer: ApiResponse, encoding: string, facts: CallFacts, limit: number): Promise<ApiResponse> {
  try {
    const body = await decode(encoding, answer.body, limit);
    return { status: answer.status, headers: withoutHeaders(answer.headers, OF_ENCODED_BYTES), body };
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
    const gathering: PendingResponse = {
      ...{ pool, method: request.method, beganAt, maxBytes, room },
      done: (outcome) => {
        signal.removeEventListener("abort", onAbort);
        if (outcome instanceof Error) reject(outcome);
        else resolve(responseOf(outcome, request.method, maxBytes));
      },
      ...{ control: undefined, settled: false, status: 0, headers: [], chunks: [], length: 0 },
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const { body } = request;
    pool.dispatch(
      {
        path: pool.basePath + request.target,
        method: request.method as Dispatcher.HttpMethod,
        headers: callHeaders(request.headers),
        body: body === undefined || body.length === 0 ? null : Buffer.from(body.buffer, body.byteOffset, body.length),
      },
      handlerOf(gathering),
    );
  });
}

/** One response while it comes. */
interface PendingResponse {
  readonly pool: Pool;
  readonly method: string;
  readonly beganAt: number;
  readonly maxBytes: number;
  readonly room: (bytes: number) => boolean;
  /** Told once, unless the caller has given up before. */
  readonly done: (outcome: ApiResponse | Problem | ResponseBufferFull) => void;
  control: Dispatcher.DispatchController | undefined;
  settled: boolean;
  status: number;
  headers: HeaderList;
  readonly chunks: Uint8Array[];
  length: number;
}

function handlerOf(gathering: PendingResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      gathering.control = controller;
      if (gathering.settled) controller.abort(new Error("cancelled before it was sent"));
    },
    onResponseStart(controller, status) {
      if (status >= 200)
        begin(gathering, status, responseFields(controller.rawHeaders as Buffer[], gathering.pool, false));
    },
    onResponseData(_controller, chunk) {
      gathering.length += chunk.length;
      if (gathering.length > gathering.maxBytes) refuse(gathering, "body over the limit");
      else if (!gathering.room(gathering.length)) rejectForRoom(gathering, gathering.length);
      else gathering.chunks.push(chunk);
    },
    onResponseEnd() {
      finish(gathering);
    },
    onResponseError(_controller, error) {
      if (gathering.settled) return;
      const problem = failure(error, { method: gathering.method, sent: gathering.control !== undefined });
      if (gathering.status === 0) reportFailure(gathering.pool.breaker, gathering.beganAt, problem);
      settle(gathering, problem);
    },
  };
}

function begin(gathering: PendingResponse, status: number, headers: HeaderList): void {
  gathering.status = status;
  gathering.headers = headers;
  gathering.pool.breaker.answered();
  const length = gathering.method === "HEAD" ? undefined : header(headers, "content-length");
  if (status > 599) refuse(gathering, "status code out of range");
  // These have no body, whatever their fields say; a stated length must not turn them into an error.
  else if (status === 204 || status === 304) finish(gathering);
  else if (Number(length) > gathering.maxBytes) refuse(gathering, "body over the limit");
  else if (length !== undefined && !gathering.room(Number(length))) rejectForRoom(gathering, Number(length));
}

function finish(gathering: PendingResponse): void {
  const { status, headers, chunks, length } = gathering;
  settle(gathering, {
    status,
    headers,
    body: chunks.length > 1 ? Buffer.concat(chunks, length) : (chunks[0] ?? NO_BYTES),
  });
}

function refuse(gathering: PendingResponse, why: string): void {
  settle(gathering, invalidAnswer(why, { method: gathering.method, sent: true }));
  gathering.control?.abort(new Error(why));
}

/** There is no memory for so much now, and waiting would hold the connection. */
function rejectForRoom(gathering: PendingResponse, bytes: number): void {
  settle(gathering, new ResponseBufferFull(bytes));
  gathering.control?.abort(new Error("no room for the response"));
}

function settle(gathering: PendingResponse, outcome: ApiResponse | Problem | ResponseBufferFull): void {
  if (gathering.settled) return;
  gathering.settled = true;
  gathering.done(outcome);
}

/** Bytes in, bytes out; rejects when the bytes are no such format or the result is longer than `limit`. */
type Inflate = (bytes: Uint8Array, limit: number) => Promise<Uint8Array>;
type Codec = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

/** An answer may grow to this many times its size; JSON lists reach about 40. */
const MAX_RATIO = 200;
/** Below this the ratio is not looked at. */
const SMALL = 1 << 20;

const CODECS: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ["gzip", bounded(promisify(zlib.gunzip))],
  ["x-gzip", bounded(promisify(zlib.gunzip))],
  ["deflate", bounded(promisify(zlib.inflate))],
  ["br", bounded(promisify(zlib.brotliDecompress))],
  ...zstdCodec(),
]);

/**
 * `bytes` without `encoding` (the value of Content-Encoding), at most `limit` of them.
 * Rejects with an Error for an unknown encoding, several encodings, invalid bytes, and decompression bombs.
 */
export async function decode(encoding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  const inflate = CODECS.get(encoding.trim().toLowerCase());
  if (inflate === undefined) throw new Error("content-encoding that cannot be decoded");
  return inflate(bytes, Math.min(limit, Math.max(SMALL, bytes.length * MAX_RATIO)));
}

function bounded(codec: Codec): Inflate {
  return (bytes, limit) => codec(bytes, { maxOutputLength: limit });
}

/** zstd came with Node 22.15. */
function zstdCodec(): [string, Inflate][] {
  const found: unknown = Reflect.get(zlib, "zstdDecompress");
  return typeof found === "function"
    ? [["zstd", bounded(promisify(found as Parameters<typeof promisify>[0]) as Codec)]]
    : [];
}

/**
 * Notes every call in `exchange`, also failed ones (status 0); `now` is the monotonic clock in milliseconds.
 * One layer per request, around a Send that all requests share.
 */
export function createCallRecorder(exchange: Exchange, upstream: Upstream, now: () => number): SendLayer {
  return (next) => async (request, options) => {
    const startedAt = now();
    let status = 0;
    try {
      const response = await next(request, options);
      status = response.status;
      return response;
    } finally {
      recordCall(exchange, upstream, request, status, now() - startedAt);
    }
  };
}
