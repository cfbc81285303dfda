/** How does one call reach an upstream, and what comes back? */
import type { Dispatcher } from "undici";
import type { ApiRequest, ApiResponse, Send } from "../model/message.ts";
import type { Problem } from "../model/problem.ts";
import { decode } from "./decode.ts";
import { type CallFacts, failure, invalidAnswer } from "./failure.ts";
import { endToEnd, flatHeader, hideOrigin, sendable, toHeaderList } from "./headers.ts";
import type { Pool } from "./pool.ts";

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

const NO_BYTES = new Uint8Array(0);

/**
 * Calls over `pool`. Redirects are answers like any other. Rejects with UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT or
 * UPSTREAM_INVALID (a body over the limit is one), or with the signal's reason when the caller gave up (design: Send).
 */
export function createSend(pool: Pool, limits: SendLimits): Send {
  return async (request, { signal }) => {
    signal.throwIfAborted();
    const answer = await call(pool, request, signal, limits.maxResponseBytes);
    hideOrigin(answer.headers, pool.origin, pool.basePath);
    const encoding = flatHeader(answer.headers, "content-encoding");
    if (encoding === undefined || answer.body.length === 0 || encoding.trim().toLowerCase() === "identity") {
      return { status: answer.status, headers: toHeaderList(answer.headers), body: answer.body };
    }
    return decoded(answer, encoding, { method: request.method, sent: true }, limits.maxResponseBytes);
  };
}

async function decoded(answer: RawAnswer, encoding: string, facts: CallFacts, limit: number): Promise<ApiResponse> {
  try {
    const body = await decode(encoding, answer.body, limit);
    const headers = toHeaderList(answer.headers).filter(
      ([name]) => name !== "content-encoding" && name !== "content-length",
    );
    return { status: answer.status, headers, body };
  } catch (error) {
    throw invalidAnswer("compressed answer", facts, error);
  }
}

function call(pool: Pool, request: ApiRequest, signal: AbortSignal, maxBytes: number): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const collector = collect(request.method, maxBytes, {
      done: (answer) => {
        signal.removeEventListener("abort", onAbort);
        resolve(answer);
      },
      failed: (problem) => {
        signal.removeEventListener("abort", onAbort);
        reject(problem);
      },
    });
    const onAbort = () => {
      reject(signal.reason);
      collector.cancel();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const { body } = request;
    pool.dispatcher.dispatch(
      {
        path: pool.basePath + request.target,
        method: request.method as Dispatcher.HttpMethod,
        headers: sendable(request.headers),
        body: body === undefined || body.length === 0 ? null : Buffer.from(body.buffer, body.byteOffset, body.length),
      },
      collector.handler,
    );
  });
}

interface Outcome {
  done(answer: RawAnswer): void;
  failed(problem: Problem): void;
}

interface Collector {
  readonly handler: Dispatcher.DispatchHandler;
  /** Stops the call, at once or as soon as it gets a connection; no outcome is reported any more. */
  cancel(): void;
}

/** Gathers one answer and reports once. */
function collect(method: string, maxBytes: number, outcome: Outcome): Collector {
  let control: Dispatcher.DispatchController | undefined;
  let settled = false;
  let status = 0;
  let headers: string[] = [];
  const chunks: Uint8Array[] = [];
  let length = 0;

  const finish = () => {
    if (settled) return;
    settled = true;
    outcome.done({
      status,
      headers,
      body: chunks.length > 1 ? Buffer.concat(chunks, length) : (chunks[0] ?? NO_BYTES),
    });
  };
  const fail = (problem: Problem) => {
    if (settled) return;
    settled = true;
    outcome.failed(problem);
  };
  const refuse = (why: string) => {
    fail(invalidAnswer(why, { method, sent: true }));
    control?.abort(new Error(why));
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      control = controller;
      if (settled) controller.abort(new Error("cancelled before it was sent"));
    },
    onResponseStart(controller, code) {
      if (code < 200) return;
      status = code;
      headers = endToEnd(controller.rawHeaders as Buffer[]);
      if (code > 599) refuse("status code out of range");
      else if (Number(flatHeader(headers, "content-length")) > maxBytes && method !== "HEAD")
        refuse("body over the limit");
      // These have no body, whatever their fields say; a stated length must not turn them into an error.
      else if (code === 204 || code === 304) finish();
    },
    onResponseData(_controller, chunk) {
      length += chunk.length;
      if (length > maxBytes) refuse("body over the limit");
      else chunks.push(chunk);
    },
    onResponseEnd: finish,
    onResponseError(_controller, error) {
      fail(failure(error, { method, sent: control !== undefined }));
    },
  };
  const cancel = () => {
    settled = true;
    control?.abort(new Error("cancelled by the caller"));
  };
  return { handler, cancel };
}
