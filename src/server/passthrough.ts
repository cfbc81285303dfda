/** How does a request pass through to an upstream untouched? */
import type { Readable } from "node:stream";
import httpProxy from "@fastify/http-proxy";
import type { FastifyInstance } from "fastify";
import { missingHeaders } from "../model/deprecation.ts";
import type { Upstream } from "../model/exchange.ts";
import type { StreamSend, StreamSink } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { PassThroughObserver } from "../model/request.ts";
import { createStallTimer, STALL_MS, type StallTimer, stallProblem } from "./client-timeouts.ts";
import { addResponseHeaders } from "./headers.ts";
import { type BodyLimits, callerOf, holdUnsent, relayBody } from "./request-body.ts";
import {
  contextOf,
  hasBody,
  type RequestContext,
  recordCall,
  recordCredential,
  stopRequest,
} from "./request-context.ts";
import { sendProblem, writeHead } from "./response.ts";
import type { UploadSlots } from "./upload-limits.ts";

/** Milliseconds. */
export interface PassThroughTimeouts {
  /** How long a client may take nothing of an answer (half a minute). */
  readonly stallMs?: number | undefined;
}

export interface PassThroughOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, StreamSend>>>;
  readonly basePath: string;
  readonly timeouts?: PassThroughTimeouts | undefined;
  readonly bodies: BodyLimits;
  /** Connections of each upstream that bodies may hold. */
  readonly uploads: (upstream: Upstream) => UploadSlots;
  /** Told of what should never happen. */
  readonly log?: ((message: string, cause: unknown) => void) | undefined;
}

/**
 * Registers @fastify/http-proxy for everything. Its routing, hooks and checks are used; the request target, the fields and
 * the bytes go around its URL parsing and header objects, over our own connections.
 */
export function registerPassThrough(server: FastifyInstance, options: PassThroughOptions): void {
  server.register(httpProxy, {
    // Never called: the handler below knows the upstreams. It only lets the plugin check its own URL.
    upstream: "http://upstream.invalid",
    handler: (request, reply) => {
      reply.hijack();
      const visit = contextOf(request.raw);
      try {
        relay(visit, options);
      } catch (error) {
        // Whoever hijacks a reply is not told of by fastify: the client would wait for its whole time.
        sendProblem(visit, Problem.from(error));
      }
    },
  });
}

function relay(visit: RequestContext, options: PassThroughOptions): void {
  const { pass } = visit;
  if (pass?.watch !== undefined)
    visit.watch = guardWatch(pass.watch, (cause) => options.log?.("a watch failed", cause));
  if (!hasBody(visit)) {
    call(visit, undefined, options);
    return;
  }
  // A client that does not send has no connection to the platform: there are few, and others need them.
  relayBody(visit, options.bodies, {
    begin: (body) => {
      try {
        call(visit, body, options);
      } catch (error) {
        sendProblem(visit, Problem.from(error));
      }
    },
    tooSlow: (problem) => endPassThrough(visit, problem),
    uploads: options.uploads(pass?.upstream ?? "v2"),
  });
}

function call(visit: RequestContext, body: Readable | undefined, options: PassThroughOptions): void {
  const { pass, exchange, headers, server: house, credential, deadline } = visit;
  const { upstreams } = options;
  const from = { credential, since: exchange.startedAt, deadline };
  const stream = pass === undefined ? undefined : upstreams[pass.upstream];
  if (pass === undefined || stream === undefined) {
    sendProblem(visit, new Problem("INTERNAL", "internal error", { cause: new Error("no such upstream") }));
    return;
  }
  visit.passedAt = house.now();
  // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
  visit.call = stream({ method: exchange.method, target: pass.target, headers, body, from }, sinkOf(visit, options));
}

function sinkOf(visit: RequestContext, { basePath, timeouts, bodies }: PassThroughOptions): StreamSink {
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

/** How does somebody watch what passes by, and cannot disturb it? */

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
