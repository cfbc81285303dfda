import type { Readable } from "node:stream";
import { missingHeaders } from "../model/deprecation.ts";
import type { Upstream } from "../model/exchange.ts";
import type { StreamSend, StreamSink } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { PassPlan, PassThroughObserver } from "../model/request.ts";
import { createStallTimer, STALL_MS, type StallTimer, stallProblem } from "./client-timeouts.ts";
import { addResponseHeaders } from "./headers.ts";
import { type BodyLimits, callerOf, holdUnsent, relayBody } from "./request-body.ts";
import { hasBody, type RequestContext, recordCall, recordCredential, stopRequest } from "./request-context.ts";
import { sendProblem, writeHead } from "./response.ts";
import type { UploadSlots } from "./upload-limits.ts";

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
export function passThrough(visit: RequestContext, plan: PassPlan, options: PassThroughOptions): void {
  visit.pass = plan;
  if (plan.watch !== undefined) {
    visit.watch = guardWatch(plan.watch, (cause) => options.log?.("a watch failed", cause));
  }
  if (!hasBody(visit)) {
    call(visit, plan, undefined, options);
    return;
  }
  // A client that does not send has no connection to the platform: there are few, and others need them.
  relayBody(visit, options.bodies, {
    begin: (body) => {
      try {
        call(visit, plan, body, options);
      } catch (error) {
        sendProblem(visit, Problem.from(error));
      }
    },
    tooSlow: (problem) => endPassThrough(visit, problem),
    uploads: options.uploads[plan.upstream],
  });
}

function call(
  visit: RequestContext,
  plan: PassPlan,
  body: Readable | undefined,
  { upstreams, ...options }: PassThroughOptions,
): void {
  const { exchange, headers, server: house, credential, deadline } = visit;
  const { method, startedAt: since } = exchange;
  const stream = upstreams[plan.upstream];
  if (stream === undefined) throw new Error(`no such upstream: ${plan.upstream}`);
  visit.passedAt = house.now();
  // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
  const from = { credential, since, deadline };
  visit.call = stream({ method, target: plan.target, headers, body, from }, sinkOf(visit, options));
}

function sinkOf(
  visit: RequestContext,
  { basePath, timeouts, bodies }: Omit<PassThroughOptions, "upstreams">,
): StreamSink {
  const stallMs = timeouts?.stallMs ?? STALL_MS;
  const { callers, memory } = bodies;
  const { res, exchange } = visit;
  let patience: StallTimer | undefined;
  let hold: MemoryReservation | undefined;
  return {
    head: (status, statusText, headers) => {
      recordCall(visit, status);
      recordCredential(visit, callers);
      visit.watch?.head(status, headers);
      if (res.destroyed) return;
      res.sendDate = false;
      addResponseHeaders(headers, exchange.requestId, basePath);
      headers.push(...missingHeaders(headers, visit.pass?.headers ?? []));
      writeHead(visit, status, statusText, headers);
      // What came in the same packet has been written by then, and takes the head along.
      queueMicrotask(() => {
        if (exchange.responseBytes === 0 && !res.writableEnded) res.flushHeaders();
      });
    },
    data: (chunk) => {
      exchange.responseBytes += chunk.length;
      visit.watch?.data(chunk);
      if (res.write(chunk)) return true;
      // Most answers are small, and taken at once.
      patience ??= createStallTimer(res, stallMs, () => endPassThrough(visit, stallProblem(stallMs)));
      hold ??= memory.open(callerOf(visit, callers));
      hold.resize(res.writableLength);
      void patience.taken().then(() => {
        hold?.resize(0);
        visit.call?.resume();
      });
      return false;
    },
    end: () => {
      res.end();
      holdUnsent(visit, bodies);
      visit.watch?.over(true);
    },
    fail: (problem) => {
      recordCall(visit, 0);
      visit.watch?.over(false);
      sendProblem(visit, problem);
    },
  };
}

/** The client does not do its part: the call ends, and what is still to come of it. */
function endPassThrough(visit: RequestContext, problem: Problem): void {
  stopRequest(visit, problem);
  sendProblem(visit, problem);
}

/** `watch`, heard once of the end; what it throws ends the watching and nothing else. */
export function guardWatch(watch: PassThroughObserver, failed: (error: unknown) => void): PassThroughObserver {
  let watching = true;
  const tell = (what: () => void): void => {
    if (!watching) return;
    try {
      what();
    } catch (error) {
      watching = false;
      failed(error);
    }
  };
  return {
    sent: (chunk) => tell(() => watch.sent(chunk)),
    head: (status, headers) => tell(() => watch.head(status, headers)),
    data: (chunk) => tell(() => watch.data(chunk)),
    over: (whole) =>
      tell(() => {
        watching = false;
        watch.over(whole);
      }),
  };
}
