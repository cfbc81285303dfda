import { Readable } from "node:stream";
import { type BodyLimits, callerOf } from "../edge/body-limits.ts";
import { addResponseHeaders } from "../edge/headers.ts";
import { guardWatch, recordCredential } from "../edge/record.ts";
import { missingHeaders } from "../model/deprecation.ts";
import type { Upstream } from "../model/exchange.ts";
import { header, type StreamSend, type StreamSink } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { PassPlan } from "../model/request.ts";
import { hasBody, type IncomingRequest, recordPassedCall } from "./incoming-request.ts";
import { holdUnsent, relayBody } from "./request-body.ts";
import { endWithProblem, sendProblem, writeHead } from "./response.ts";
import { createStallTimer, STALL_MS, type StallTimer, stallProblem } from "./stall-timer.ts";
import type { UploadSlots } from "./upload-slots.ts";

export interface PassThroughOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, StreamSend>>>;
  readonly basePath: string;
  /** `stallMs`: how long a client may take nothing of a response (half a minute). */
  readonly timeouts?: { readonly stallMs?: number | undefined } | undefined;
  readonly bodies: BodyLimits;
  /** Connections of each upstream that bodies may hold. */
  readonly uploads: Readonly<Record<Upstream, UploadSlots>>;
  /** Told of what should never happen. */
  readonly log?: ((message: string, cause: unknown) => void) | undefined;
}

/**
 * Passes a request through untouched: target, fields and bytes as they came, over our own queue and connections. Written by hand, since
 * proxies on top of a URL parser and a header object (@fastify/http-proxy) respell targets and names, and join or drop repeated fields.
 */
export function passThrough(request: IncomingRequest, plan: PassPlan, options: PassThroughOptions): void {
  request.pass = plan;
  if (plan.watch !== undefined) {
    request.watch = guardWatch(plan.watch, (cause) => options.log?.("a watch failed", cause));
  }
  const { sent } = plan;
  if (sent !== undefined || !hasBody(request)) {
    call(request, plan, sent === undefined || sent.body.length === 0 ? undefined : wholeBody(sent.body), options);
    return;
  }
  // A client that does not send has no connection to the platform: there are few, and others need them.
  relayBody(request, options.bodies, {
    begin: (body) => {
      try {
        call(request, plan, body, options);
      } catch (error) {
        sendProblem(request, Problem.from(error));
      }
    },
    tooSlow: (problem) => endWithProblem(request, problem),
    uploads: options.uploads[plan.upstream],
  });
}

function call(request: IncomingRequest, plan: PassPlan, body: Readable | undefined, options: PassThroughOptions): void {
  const { exchange, server, credential, deadline } = request;
  const { method, headers } = plan.sent ?? request;
  const stream = options.upstreams[plan.upstream];
  if (stream === undefined) throw new Error(`no such upstream: ${plan.upstream}`);
  request.passedAt = server.now();
  // What stops a call finds it on the request. A closure kept there would make the collector carry every request along.
  const from = { credential, since: exchange.startedAt, deadline };
  request.call = stream({ method, target: plan.target, headers, body, from }, sinkOf(request, options));
}

/** Its length is known, and sent. */
function wholeBody(bytes: Uint8Array): Readable {
  const body = new Readable({ read: () => {} });
  body.push(bytes);
  body.push(null);
  return body;
}

function sinkOf(request: IncomingRequest, { basePath, timeouts, bodies }: PassThroughOptions): StreamSink {
  const stallMs = timeouts?.stallMs ?? STALL_MS;
  const { callers, memory } = bodies;
  const { res, exchange, server } = request;
  let stated = Number.NaN;
  /** A body that came as a whole with its head. */
  let whole: Uint8Array | undefined;
  let patience: StallTimer | undefined;
  let hold: MemoryReservation | undefined;
  return {
    head: (status, statusText, headers) => {
      recordPassedCall(request, status);
      recordCredential(request, callers);
      request.watch?.head(status, headers);
      if (res.destroyed) return;
      res.sendDate = false;
      stated = Number(header(headers, "content-length"));
      addResponseHeaders(headers, exchange.requestId, basePath);
      headers.push(...missingHeaders(headers, request.pass?.headers ?? []));
      writeHead(request, status, statusText, headers);
      // What came in the same packet has been written by then, and takes the head along.
      queueMicrotask(() => {
        if (exchange.responseBytes === 0 && !res.writableEnded) res.flushHeaders();
      });
    },
    data: (chunk) => {
      exchange.responseBytes += chunk.length;
      request.watch?.data(chunk);
      if (chunk.length === stated) {
        whole = chunk;
        return true;
      }
      if (res.write(chunk)) return true;
      // Most answers are small, and taken at once.
      patience ??= createStallTimer(res, stallMs, () => endWithProblem(request, stallProblem(stallMs)));
      hold ??= memory.open(callerOf(request, callers));
      hold.resize(res.writableLength);
      void patience.taken().then(() => {
        hold?.resize(0);
        request.call?.resume();
      });
      return false;
    },
    end: () => {
      const ended = () => holdUnsent(request, bodies);
      if (whole === undefined) {
        res.end();
        ended();
      } else server.batch.end(res, whole, ended);
      request.watch?.over(true);
    },
    fail: (problem) => {
      recordPassedCall(request, 0);
      request.watch?.over(false);
      sendProblem(request, problem);
    },
  };
}
