/** What is known of one request while it is here? */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderList, header, type StreamCall } from "../model/http.ts";
import type { Problem } from "../model/problem.ts";
import type { PassPlan, PassThroughObserver } from "../model/request.ts";
import type { SignalController } from "../model/signal.ts";

/** What all visits share. */
export interface ServerContext {
  /** No connection takes a further request. */
  closing: boolean;
  /** Requests in flight. */
  inFlight: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** One request from its head to the last byte of its answer. */
export interface RequestContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The client's fields, as they came. */
  readonly received: HeaderList;
  /** Those for an upstream. */
  readonly headers: HeaderList;
  readonly exchange: Exchange;
  /** Stands for its credential: a keyed digest. */
  readonly credential: string;
  /** When its time is over. */
  readonly deadline: number;
  /** The raw target without our base path; undefined when it is not below it. */
  readonly target: string | undefined;
  readonly server: ServerContext;
  /** The client waits for `100 Continue` before it sends the body. */
  expects: boolean;
  /** What follows on this connection cannot be relied on: no further request. */
  last: boolean;
  /** Another request of this connection was let in behind it (a client that pipelines). */
  followed: boolean;
  /** The whole answer has been handed over; the client may still be sending. */
  whole: boolean;
  /** Carryover itself cut the answer off. */
  cut: boolean;
  /** Set when the request passes through. */
  pass: PassPlan | undefined;
  /** Sees what passes through. */
  watch: PassThroughObserver | undefined;
  /** When the call to the upstream began; undefined before. */
  passedAt: number | undefined;
  /** The call to the upstream, while it passes through. */
  call: StreamCall | undefined;
  /** Stops an answer that carryover is making itself. */
  controller: SignalController | undefined;
}

/** Tells `callers` how the platform answered the calls of a request so far. What is no resource may be open to anybody. */
export function recordCredential({ exchange, credential }: RequestContext, callers: CredentialShares): void {
  if (exchange.resource === "unknown" || exchange.apiVersion === "sts") return;
  for (const { status } of exchange.calls) callers.answered(credential, status);
}

/** True when nothing can be answered any more: the head has gone out, or the connection. */
export function isAnswered({ req, res }: RequestContext): boolean {
  return res.headersSent || res.destroyed || req.socket.destroyed;
}

/** True when the client sends, or will send, a body. */
export function hasBody({ received }: RequestContext): boolean {
  const length = header(received, "content-length");
  return length === undefined ? header(received, "transfer-encoding") !== undefined : Number(length) > 0;
}

/** Stops what is under way for `visit`; `reason` is for those who listen to its signal. */
export function stopRequest(visit: RequestContext, reason: unknown): void {
  visit.controller?.abort(reason);
  if (visit.pass === undefined) return;
  recordCall(visit, 0);
  visit.call?.cancel();
  visit.watch?.over(false);
}

/** Notes the call of a request that passes through: once, when its answer begins or it is known that there is none (0). */
export function recordCall({ exchange, pass, passedAt, server: house }: RequestContext, status: number): void {
  if (pass === undefined || passedAt === undefined || exchange.calls.length > 0) return;
  const query = pass.target.indexOf("?");
  const path = query < 0 ? pass.target : pass.target.slice(0, query);
  const ms = house.now() - passedAt;
  exchange.upstreamMs += ms;
  exchange.calls.push({ upstream: pass.upstream, method: exchange.method, path, status, ms });
}

/** Notes in the exchange that carryover itself answers. */
export function recordProblem(exchange: Exchange, problem: Problem): void {
  exchange.reason = problem.reason;
  exchange.fault = problem.fault;
  exchange.cause = problem.cause;
}
