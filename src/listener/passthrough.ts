/** How does a request pass through to an upstream untouched? */
import httpProxy from "@fastify/http-proxy";
import type { FastifyInstance } from "fastify";
import { lackingIn } from "../cutover/deprecation.ts";
import type { Upstream } from "../model/exchange.ts";
import type { HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Stream, StreamSink } from "../model/stream.ts";
import { relayBody } from "./body.ts";
import { cutOff, sendProblem } from "./errors.ts";
import { pairs, returned } from "./headers.ts";
import { createPatience, type Patience, STALL_MS, stalled } from "./patience.ts";
import { writeHead } from "./reply.ts";
import { noteCall, noteProblem, stop, type Visit, visitOf } from "./visit.ts";
import { guarded } from "./watched.ts";

export interface PassOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, Stream>>>;
  readonly basePath: string;
  /** How long a client may take nothing of an answer, milliseconds (half a minute). */
  readonly timeouts?: { readonly stallMs?: number | undefined } | undefined;
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

function relay(visit: Visit, { upstreams, basePath, timeouts, log }: PassOptions): void {
  const { pass, exchange, outgoing, house } = visit;
  const stream = pass === undefined ? undefined : upstreams[pass.upstream];
  if (pass === undefined || stream === undefined) {
    sendProblem(visit, new Problem("INTERNAL", "internal error", { cause: new Error("no such upstream") }));
    return;
  }
  visit.passedAt = house.now();
  if (pass.watch !== undefined) visit.watch = guarded(pass.watch, (cause) => log?.("a watch failed", cause));
  // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
  visit.call = stream(
    { method: exchange.method, target: pass.target, headers: outgoing, body: relayBody(visit) },
    sinkOf(visit, basePath, timeouts?.stallMs ?? STALL_MS),
  );
}

function sinkOf(visit: Visit, basePath: string, stallMs: number): StreamSink {
  const { res, exchange } = visit;
  let begun = false;
  let patience: Patience | undefined;
  return {
    head: (status, statusText, headers) => {
      begun = true;
      noteCall(visit, status);
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
      patience ??= createPatience(res, stallMs, () => leave(visit, stallMs));
      void patience.taken().then(() => visit.call?.resume());
      return false;
    },
    end: () => {
      res.end();
      visit.watch?.over(true);
    },
    fail: (problem) => {
      noteCall(visit, 0);
      visit.watch?.over(false);
      if (!begun) return sendProblem(visit, problem);
      noteProblem(exchange, problem);
      cutOff(visit);
    },
  };
}

/** Nobody reads this answer: it is given up, and what is still to come of it. */
function leave(visit: Visit, stallMs: number): void {
  const problem = stalled(stallMs);
  stop(visit, problem);
  sendProblem(visit, problem);
}

/** `flat` with the plan's own fields behind it, but for those that may stand once and are there. Changes and returns `flat`. */
function withOwn(flat: string[], own: HeaderList | undefined): string[] {
  if (own === undefined) return flat;
  for (const [name, value] of lackingIn(pairs(flat), own)) flat.push(name, value);
  return flat;
}
