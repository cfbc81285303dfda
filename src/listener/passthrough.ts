/** How does a request pass through to an upstream untouched? */
import httpProxy, { type FastifyHttpProxyOptions } from "@fastify/http-proxy";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Upstream } from "../model/exchange.ts";
import { Problem } from "../model/problem.ts";
import type { Stream, StreamSink } from "../model/stream.ts";
import { relayBody } from "./body.ts";
import { cutOff, sendProblem } from "./errors.ts";
import { returned } from "./headers.ts";
import { writeHead } from "./reply.ts";
import { noteCall, noteProblem, VISIT, type Visit, visitOf } from "./visit.ts";

export interface PassOptions {
  readonly upstreams: Partial<Readonly<Record<Upstream, Stream>>>;
  readonly basePath: string;
}

/** What the proxy plugin hands to its dispatcher, as far as it is used, and what it wants back. */
interface Dispatched {
  readonly headers: object;
}
interface Answered {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: { destroy(): void };
}
type Callback = (error: Error | null, answer?: Answered) => void;

/**
 * Registers @fastify/http-proxy for everything. Its routing, hooks and failure paths are used; the request target, the
 * fields and the bytes go around its URL parsing and header objects, over our own connections: see `dispatch`.
 */
export function registerPassThrough(server: FastifyInstance, options: PassOptions): void {
  const proxy: FastifyHttpProxyOptions = {
    // Never called: the dispatcher below knows the upstreams. It only lets the plugin check its own URL.
    upstream: "http://upstream.invalid",
    undici: { request: dispatcher(options) as never },
    internalRewriteLocationHeader: false,
    replyOptions: {
      // The plugin's own repeats are many, and wait milliseconds where seconds were asked for.
      retryDelay: () => null,
      rewriteRequestHeaders: (request) => ({ [VISIT]: visitOf(request.raw) }) as never,
      onResponse: (_request, reply) => {
        reply.hijack();
      },
      onError: (reply, { error }) => refuse(reply as FastifyReply, error),
    },
  };
  server.register(httpProxy, proxy);
}

function refuse(reply: FastifyReply, error: Error): void {
  reply.hijack();
  // The plugin wraps what its dispatcher reports.
  sendProblem(visitOf(reply.request.raw), Problem.from(error.cause ?? error));
}

function dispatcher(options: PassOptions): (request: Dispatched, callback: Callback) => void {
  return (request, callback) => {
    const visit = visitOf(request.headers);
    const { pass, exchange, outgoing, house } = visit;
    const stream = pass === undefined ? undefined : options.upstreams[pass.upstream];
    if (pass === undefined || stream === undefined) {
      callback(new Problem("INTERNAL", "internal error", { cause: new Error("no such upstream") }));
      return;
    }
    visit.passedAt = house.now();
    // What stops a call finds it on the visit. A closure kept there would make the collector carry every request along.
    visit.call = stream(
      { method: exchange.method, target: pass.target, headers: outgoing, body: relayBody(visit) },
      sinkOf(visit, options.basePath, callback),
    );
  };
}

function sinkOf(visit: Visit, basePath: string, callback: Callback): StreamSink {
  const { res, exchange } = visit;
  let begun = false;
  return {
    head: (status, statusText, headers) => {
      begun = true;
      noteCall(visit, status);
      // The plugin is told only that there is an answer; its copy of status and fields would lose order and spelling.
      callback(null, { statusCode: 200, headers: {}, body: { destroy: () => visit.call?.cancel() } });
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
      if (!begun) return callback(problem);
      noteProblem(exchange, problem);
      cutOff(visit);
    },
  };
}
