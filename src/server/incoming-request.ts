/** One request, from its head to the last byte of its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Arrival } from "../edge/edge.ts";
import { recordCall } from "../model/exchange.ts";
import { type HeaderList, header, type StreamCall } from "../model/http.ts";
import type { PassPlan, PassThroughObserver, RequestContext } from "../model/request.ts";
import type { SignalController } from "../model/signal.ts";
import type { ResponseBatch } from "./response-batch.ts";

/** What all requests of a server share. */
export interface ServerContext {
  /** No connection takes a further request. */
  closing: boolean;
  /** Whole responses that are about to go out. */
  readonly batch: ResponseBatch;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** `headers`: those for an upstream. `target`: below our base path; empty when it is not below it. */
export interface IncomingRequest extends RequestContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The client's fields, as they came. */
  readonly received: HeaderList;
  readonly credential: string;
  readonly deadline: number;
  readonly arrival: Arrival<IncomingRequest>;
  readonly server: ServerContext;
  /** The client waits for `100 Continue` before it sends the body. */
  expects: boolean;
  /** What follows on this connection cannot be relied on: no further request. */
  last: boolean;
  /** The client has pipelined another request after it. */
  followed: boolean;
  /** The whole response has been handed over; the client may still be sending. */
  whole: boolean;
  /** Carryover itself cut the response off. */
  cut: boolean;
  /** Set when the request passes through. */
  pass: PassPlan | undefined;
  /** Sees what passes through. */
  watch: PassThroughObserver | undefined;
  /** When the call to the upstream began; undefined before. */
  passedAt: number | undefined;
  /** The call to the upstream, while it passes through. */
  call: StreamCall | undefined;
  /** Stops a response that carryover is making itself. */
  controller: SignalController | undefined;
}

/** True when nothing can be answered any more: the head has gone out, or the connection. */
export function isAnswered({ req, res }: IncomingRequest): boolean {
  return res.headersSent || res.destroyed || req.socket.destroyed;
}

/** True when the client sends, or will send, a body. */
export function hasBody({ received }: IncomingRequest): boolean {
  const length = header(received, "content-length");
  return length === undefined ? header(received, "transfer-encoding") !== undefined : Number(length) > 0;
}

/** Stops what is under way for `request`; `reason` is for those who listen to its signal. */
export function stopRequest(request: IncomingRequest, reason: unknown): void {
  request.controller?.abort(reason);
  if (request.pass === undefined) return;
  recordPassedCall(request, 0);
  request.call?.cancel();
  request.watch?.over(false);
}

/** Notes the call of a request that passes through: once, when its response begins or it is known that there is none (0). */
export function recordPassedCall({ exchange, pass, passedAt, server }: IncomingRequest, status: number): void {
  if (pass === undefined || passedAt === undefined || exchange.calls.length > 0) return;
  recordCall(
    exchange,
    pass.upstream,
    { method: pass.sent?.method ?? exchange.method, target: pass.target },
    status,
    server.now() - passedAt,
  );
}
