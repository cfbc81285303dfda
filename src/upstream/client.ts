import { promisify } from "node:util";
import * as zlib from "node:zlib";
import type { Dispatcher } from "undici";
import {
  type ApiRequest,
  type ApiResponse,
  type HeaderList,
  header,
  ResponseBufferFull,
  type Send,
  type SendOptions,
  withoutHeaders,
} from "../model/http.ts";
import type { Problem } from "../model/problem.ts";
import { reportFailure } from "./breaker.ts";
import { type CallFacts, failure, invalidAnswer, longAnswer } from "./failure.ts";
import { callHeaders, responseFields } from "./headers.ts";
import type { Pool } from "./pool.ts";

/** Longest response of one call that `serve` and `check` read whole. */
export const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

export interface SendLimits {
  /** Longest body of an answer, after decompression too. */
  readonly maxResponseBytes: number;
}

/** What is no longer true once a body is decoded. */
const OF_ENCODED_BYTES: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);
const NO_BYTES = new Uint8Array(0);
const NO_HEADERS: HeaderList = [];
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
    if (isTooLong(error) && mostDecoded(answer.body.length, limit) === limit) throw longAnswer(limit, facts, error);
    throw invalidAnswer("compressed answer", facts, error);
  }
}

function call(
  pool: Pool,
  { method, target, headers, body }: ApiRequest,
  { signal, room = anySize }: SendOptions,
  { maxResponseBytes }: SendLimits,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const beganAt = pool.breaker.begin();
    if (typeof beganAt !== "number") return reject(beganAt);
    const onAbort = () => {
      reject(signal.reason);
      gathering.cancel();
    };
    const gathering = new PendingResponse(pool, method, beganAt, maxResponseBytes, room, (outcome) => {
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(responseOf(outcome, method, maxResponseBytes));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    pool.dispatch(
      {
        path: pool.basePath + target,
        method: method as Dispatcher.HttpMethod,
        headers: callHeaders(headers),
        body: body === undefined || body.length === 0 ? null : Buffer.from(body.buffer, body.byteOffset, body.length),
      },
      gathering,
    );
  });
}

/**
 * One response while it comes. A class, so that undici's handler and its state are one object. It has undici's older callbacks, which go
 * with version 8: behind `onRequestStart` version 7 also reads all headers into an object, which takes longer than all else here.
 */
class PendingResponse implements Dispatcher.DispatchHandler {
  readonly pool: Pool;
  readonly method: string;
  readonly beganAt: number;
  readonly maxBytes: number;
  readonly room: (bytes: number) => boolean;
  /** Told once, unless the caller has given up before. */
  readonly done: (outcome: ApiResponse | Problem | ResponseBufferFull) => void;
  /** Breaks the connection; undefined until bytes may leave. */
  abort: ((error: Error) => void) | undefined = undefined;
  settled = false;
  status = 0;
  headers: HeaderList = NO_HEADERS;
  /** The first piece of the body, which is mostly all of it, and the others. */
  first: Uint8Array | undefined = undefined;
  rest: Uint8Array[] | undefined = undefined;
  length = 0;

  constructor(
    pool: Pool,
    method: string,
    beganAt: number,
    maxBytes: number,
    room: (bytes: number) => boolean,
    done: (outcome: ApiResponse | Problem | ResponseBufferFull) => void,
  ) {
    this.pool = pool;
    this.method = method;
    this.beganAt = beganAt;
    this.maxBytes = maxBytes;
    this.room = room;
    this.done = done;
  }

  onConnect(abort: (error: Error) => void): void {
    this.abort = abort;
    if (this.settled) abort(new Error("cancelled before it was sent"));
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status >= 200) this.begin(status, responseFields(raw, this.pool, false));
    return true;
  }

  private begin(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = headers;
    this.pool.breaker.answered();
    const length = this.method === "HEAD" ? undefined : header(headers, "content-length");
    if (status > 599) this.refuse("status code out of range");
    // These have no body, whatever their fields say; a stated length must not turn them into an error.
    else if (status === 204 || status === 304) this.onComplete();
    else if (Number(length) > this.maxBytes) this.refuseLength();
    else if (length !== undefined && !this.room(Number(length))) this.rejectForRoom(Number(length));
  }

  onData(chunk: Buffer): boolean {
    this.length += chunk.length;
    if (this.length > this.maxBytes) this.refuseLength();
    else if (!this.room(this.length)) this.rejectForRoom(this.length);
    else if (this.first === undefined) this.first = chunk;
    else if (this.rest === undefined) this.rest = [chunk];
    else this.rest.push(chunk);
    return true;
  }

  onComplete(): void {
    const { status, headers, first = NO_BYTES, rest, length } = this;
    this.settle({ status, headers, body: rest === undefined ? first : Buffer.concat([first, ...rest], length) });
  }

  onError(error: Error): void {
    if (this.settled) return;
    const problem = failure(error, { method: this.method, sent: this.abort !== undefined });
    if (this.status === 0) reportFailure(this.pool.breaker, this.beganAt, problem);
    this.settle(problem);
  }

  /** The caller has given up. */
  cancel(): void {
    this.settled = true;
    this.abort?.(new Error("cancelled by the caller"));
  }

  private refuse(why: string): void {
    this.settle(invalidAnswer(why, { method: this.method, sent: true }));
    this.abort?.(new Error(why));
  }

  private refuseLength(): void {
    this.settle(longAnswer(this.maxBytes, { method: this.method, sent: true }));
    this.abort?.(new Error("body over the limit"));
  }

  /** There is no memory for so much now, and waiting would hold the connection. */
  private rejectForRoom(bytes: number): void {
    this.settle(new ResponseBufferFull(bytes));
    this.abort?.(new Error("no room for the response"));
  }

  private settle(outcome: ApiResponse | Problem | ResponseBufferFull): void {
    if (this.settled) return;
    this.settled = true;
    this.done(outcome);
  }
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
  return inflate(bytes, mostDecoded(bytes.length, limit));
}

/** How long `bytes` may become in `decode`. */
export function mostDecoded(bytes: number, limit: number): number {
  return Math.min(limit, Math.max(SMALL, bytes * MAX_RATIO));
}

function bounded(codec: Codec): Inflate {
  return (bytes, limit) => codec(bytes, { maxOutputLength: limit });
}

/** As zlib says it of a result that is longer than it may become. */
export function isTooLong(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

/** zstd came with Node 22.15. */
function zstdCodec(): [string, Inflate][] {
  const found: unknown = Reflect.get(zlib, "zstdDecompress");
  return typeof found === "function"
    ? [["zstd", bounded(promisify(found as Parameters<typeof promisify>[0]) as Codec)]]
    : [];
}
