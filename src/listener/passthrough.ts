/** How does a request pass through to an upstream untouched? */
import type { Readable } from "node:stream";
import httpProxy from "@fastify/http-proxy";
import type { FastifyInstance } from "fastify";
import { lackingIn } from "../cutover/deprecation.ts";
import type { Upstream } from "../model/exchange.ts";
import { toHeaderList } from "../model/http.ts";
import type { Hold } from "../model/memory-budget.ts";
import type { HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Stream, StreamSink } from "../model/stream.ts";
import { type BodyParts, callerOf, holdUntaken, relayBody } from "./body.ts";
import { sendProblem } from "./errors.ts";
import { returned } from "./headers.ts";
import { createPatience, type Patience, STALL_MS, stalled } from "./patience.ts";
import { writeHead } from "./reply.ts";
import type { Uploads } from "./uploads.ts";
import { hasBody, noteCall, noteCredential, stop, type Visit, visitOf } from "./visit.ts";
import { guarded } from "./watched.ts";

/** Milliseconds. */
export interface PassTimeouts {
  /** How long a client may take nothing of an answer (half a minute). */
  readonly stallMs?: number | undefined;
}

export interface PassOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, Stream>>>;
  readonly basePath: string;
  readonly timeouts?: PassTimeouts | undefined;
  readonly bodies: BodyParts;
  /** Connections of each upstream that bodies may hold. */
  readonly uploads: (upstream: Upstream) => Uploads;
  /** Told of what should never happen. */
  readonly log?: ((message: string, cause: unknown) => void) | undefined;
}

/**
 * Registers @fastify/http-proxy for everything. Its routing, hooks and checks are used; the request target, the fields and
 * the bytes go around its URL parsing and header objects, over our own connections.
 */
export function registerPassThrough(server: FastifyInstance, options: PassOptions): void {
  server.register(httpProxy, {
    // Never called: the handler below knows the upstreams. It only lets the plugin check its own URL.
    upstream: "http://upstream.invalid",
    handler: (request, reply) => {
      reply.hijack();
      const visit = visitOf(request.raw);
      try {
        relay(visit, options);
      } catch (error) {
        // Whoever hijacks a reply is not told of by fastify: the client would wait for its whole time.
        sendProblem(visit, Problem.from(error));
      }
    },
  });
}

function relay(visit: Visit, options: PassOptions): void {
  const { pass } = visit;
  if (pass?.watch !== undefined) visit.watch = guarded(pass.watch, (cause) => options.log?.("a watch failed", cause));
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
    tooSlow: (problem) => giveUp(visit, problem),
    uploads: options.uploads(pass?.upstream ?? "v2"),
  });
}

function call(visit: Visit, body: Readable | undefined, options: PassOptions): void {
  const { pass, exchange, outgoing, house, credential, deadline } = visit;
  const { upstreams } = options;
  const from = { credential, since: exchange.startedAt, deadline };
  const stream = pass === undefined ? undefined : upstreams[pass.upstream];
  if (pass === undefined || stream === undefined) {
    sendProblem(visit, new Problem("INTERNAL", "internal error", { cause: new Error("no such upstream") }));
    return;
  }
  visit.passedAt = house.now();
  // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
  visit.call = stream(
    { method: exchange.method, target: pass.target, headers: outgoing, body, from },
    sinkOf(visit, options),
  );
}

function sinkOf(visit: Visit, { basePath, timeouts, bodies }: PassOptions): StreamSink {
  const stallMs = timeouts?.stallMs ?? STALL_MS;
  const { callers, memory } = bodies;
  const { res, exchange } = visit;
  let patience: Patience | undefined;
  let hold: Hold | undefined;
  return {
    head: (status, statusText, headers) => {
      noteCall(visit, status);
      noteCredential(visit, callers);
      visit.watch?.head(status, headers);
      if (res.destroyed) return;
      res.sendDate = false;
      writeHead(
        visit,
        status,
        statusText,
        withOwn(returned(headers, exchange.requestId, basePath), visit.pass?.headers),
      );
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
      patience ??= createPatience(res, stallMs, () => giveUp(visit, stalled(stallMs)));
      hold ??= memory.open(callerOf(visit, callers));
      hold.set(res.writableLength);
      void patience.taken().then(() => {
        hold?.set(0);
        visit.call?.resume();
      });
      return false;
    },
    end: () => {
      res.end();
      holdUntaken(visit, bodies);
      visit.watch?.over(true);
    },
    fail: (problem) => {
      noteCall(visit, 0);
      visit.watch?.over(false);
      sendProblem(visit, problem);
    },
  };
}

/** The client does not do its part: the call ends, and what is still to come of it. */
function giveUp(visit: Visit, problem: Problem): void {
  stop(visit, problem);
  sendProblem(visit, problem);
}

/** `flat` with the plan's own fields behind it, but for those that may stand once and are there. Changes and returns `flat`. */
function withOwn(flat: string[], own: HeaderList | undefined): string[] {
  if (own === undefined) return flat;
  for (const [name, value] of lackingIn(toHeaderList(flat), own)) flat.push(name, value);
  return flat;
}
