/** How does a request pass through to an upstream untouched? */
import httpProxy from "@fastify/http-proxy";
import type { FastifyInstance } from "fastify";
import type { Upstream } from "../model/exchange.ts";
import { Problem } from "../model/problem.ts";
import type { Stream, StreamSink } from "../model/stream.ts";
import { relayBody } from "./body.ts";
import { cutOff, sendProblem } from "./errors.ts";
import { returned } from "./headers.ts";
import { writeHead } from "./reply.ts";
import { noteCall, noteProblem, type Visit, visitOf } from "./visit.ts";

export interface PassOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, Stream>>>;
  readonly basePath: string;
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
      relay(visitOf(request.raw), options);
    },
  });
}

function relay(visit: Visit, { upstreams, basePath }: PassOptions): void {
  const { pass, exchange, outgoing, house } = visit;
  const stream = pass === undefined ? undefined : upstreams[pass.upstream];
  if (pass === undefined || stream === undefined) {
    sendProblem(visit, new Problem("INTERNAL", "internal error", { cause: new Error("no such upstream") }));
    return;
  }
  visit.passedAt = house.now();
  // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
  visit.call = stream(
    { method: exchange.method, target: pass.target, headers: outgoing, body: relayBody(visit) },
    sinkOf(visit, basePath),
  );
}

function sinkOf(visit: Visit, basePath: string): StreamSink {
  const { res, exchange } = visit;
  let begun = false;
  return {
    head: (status, statusText, headers) => {
      begun = true;
      noteCall(visit, status);
      if (res.destroyed) return;
      res.sendDate = false;
      writeHead(visit, status, statusText, returned(headers, exchange.requestId, basePath));
      // What came in the same packet has been written by then, and takes the head along.
      queueMicrotask(() => {
        if (exchange.responseBytes === 0 && !res.writableEnded) res.flushHeaders();
      });
    },
    data: (chunk) => {
      exchange.responseBytes += chunk.length;
      if (res.write(chunk)) return true;
      res.once("drain", () => visit.call?.resume());
      return false;
    },
    end: () => {
      res.end();
    },
    fail: (problem) => {
      noteCall(visit, 0);
      if (!begun) return sendProblem(visit, problem);
      noteProblem(exchange, problem);
      cutOff(visit);
    },
  };
}
