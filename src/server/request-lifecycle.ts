/** What happens to every request before it is routed, and after its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { CLIENT_LEFT, createExchange, type Exchange } from "../model/exchange.ts";
import { type HeaderList, header, isSafe, readHeaders } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { createLoadShedder, plainRequestId, type ShedReason, shedProblem } from "./admission.ts";
import { createConnections } from "./connections.ts";
import { clientTimeout, createTrustedProxies, givenRequestId, onlyValue, requestHeaders } from "./headers.ts";
import { type IncomingRequest, recordProblem, type ServerContext, stopRequest } from "./incoming-request.ts";
import { checkRequest } from "./request-checks.ts";
import { sendProblem } from "./response.ts";

export interface RequestLifecycleOptions {
  readonly basePath: string;
  /** CIDR networks whose `X-Forwarded-*` are believed. */
  readonly trustedProxies: readonly string[];
  readonly limits: { readonly uriBytes: number; readonly inFlight: number; readonly requestSeconds: number };
  /** How long Node keeps a connection without a request. */
  readonly keepAliveMs: number;
  /** Why a request is not let in, asked before anything is made for it; `here`: requests in the process. By default `inFlight` decides. */
  readonly admit?: ((here: number, credentialOf: () => string) => ShedReason | undefined) | undefined;
  /** A keyed digest of an Authorization value. */
  readonly credentialOf?: ((authorization: string) => string) | undefined;
  readonly observe: (exchange: Exchange) => void;
  readonly newRequestId: () => string;
  readonly now: () => number;
  readonly log: (message: string, cause: unknown) => void;
}

/** What the client said with `Expect`. */
export type Expectation = "none" | "continue" | "unknown";

export interface RequestLifecycle {
  /** Lets a request in, or answers it: then undefined. */
  accept(req: IncomingMessage, res: ServerResponse, expectation: Expectation): IncomingRequest | undefined;
  /** A connection could not be read any further. */
  broken(error: NodeJS.ErrnoException, socket: Socket): void;
  /** From now on every answer is the last of its connection. */
  beginShutdown(): void;
  /** Ends the connections that have had a request and have none. */
  endIdle(): void;
  /** `whenEmpty` is called now or later, each time nothing is in flight any more. */
  close(whenEmpty: () => void): void;
  /** Ends what is in flight so that no client takes its answer for whole; gives how many requests that were. */
  cut(): number;
  inFlight(): number;
}

/** The gate, the count of what is in flight, the deadlines, and the one report per request. */
export function createRequestLifecycle(options: RequestLifecycleOptions): RequestLifecycle {
  const { limits, now } = options;
  const peers = createConnections();
  const trusts = createTrustedProxies(options.trustedProxies);
  // A number, no set of requests: the tables that a busy set leaves behind would carry requests into the old generation.
  const server: ServerContext = { closing: false, inFlight: 0, now };
  const {
    admit = (here: number) => (here >= limits.inFlight ? "shed-in-flight" : undefined),
    credentialOf = () => "",
  } = options;
  const shed = createLoadShedder({ ...options, observe: (exchange) => report(exchange, options) });
  let onEmpty: (() => void) | undefined;
  const createRequest = (
    req: IncomingMessage,
    res: ServerResponse,
    received: HeaderList,
    expects: boolean,
  ): IncomingRequest => {
    const { method = "", url = "", httpVersion } = req;
    const query = url.indexOf("?");
    const requestId = givenRequestId(received) ?? options.newRequestId();
    const exchange = createExchange(requestId, now(), method, query < 0 ? url : url.slice(0, query));
    const peer = req.socket.remoteAddress ?? "";
    const facts = { requestId, peer, trusted: trusts(peer), newId: options.newRequestId };
    const { headers, odd } = requestHeaders(received, facts);
    if (odd > 0) exchange.notes.push("odd-header-name");
    return {
      method,
      target: withoutBase(url, options.basePath),
      headers,
      httpVersion,
      credential: credentialOf(onlyValue(received, "authorization") ?? ""),
      deadline: exchange.startedAt + lifetimeOf(received, limits.requestSeconds),
      exchange,
      route: undefined,
      req,
      res,
      received,
      server,
      expects,
      // Node forgets what came in one packet behind an offer to upgrade: better no second request than one in silence.
      last: header(received, "upgrade") !== undefined,
      followed: false,
      whole: false,
      cut: false,
      pass: undefined,
      watch: undefined,
      passedAt: undefined,
      call: undefined,
      controller: undefined,
    };
  };
  return {
    accept(req, res, expectation) {
      const why = admit(server.inFlight, () => credentialOf(authorizationOf(req.rawHeaders)));
      // One that waits behind another answer has no socket yet. What breaks its connection has to know of it, to wait its turn.
      if (why !== undefined && expectation === "none" && !server.closing && res.socket !== null) {
        const id = plainRequestId(req);
        if (id !== undefined) {
          shed.refuse(req, res, why, id);
          return undefined;
        }
      }
      const received = readHeaders(req.rawHeaders, true);
      const request = createRequest(req, res, received, expectation === "continue");
      server.inFlight++;
      const timer = setTimeout(
        () => giveUp(request, "the request's time is over"),
        request.deadline - request.exchange.startedAt,
      );
      const first = peers.add(request, () => {
        clearTimeout(timer);
        server.inFlight--;
        responseClosed(request);
        report(request.exchange, options);
        if (server.inFlight === 0) onEmpty?.();
      });
      if (first && isRefused(request, expectation, limits, why)) return undefined;
      if (first && peers.admits(request)) return request;
      // Its connection ends before it: who sent it must be able to rely on nothing having been done (RFC 9112 section 9.6).
      sendProblem(request, new Problem("OVERLOADED", "the connection is ending", { retryAfter: 1 }));
      return undefined;
    },
    broken(error, socket) {
      shed.flush();
      const problem = peers.fail(error, socket);
      if (problem === undefined) return;
      const exchange = createExchange(options.newRequestId(), now(), "", "");
      exchange.status = problem.http;
      recordProblem(exchange, problem);
      report(exchange, options);
    },
    beginShutdown() {
      server.closing = true;
      shed.flush();
    },
    endIdle: peers.endIdle,
    close(whenEmpty) {
      shed.settle();
      onEmpty = whenEmpty;
      if (server.inFlight === 0) whenEmpty();
    },
    cut() {
      const requests = peers.requests();
      for (const request of requests) giveUp(request, "carryover is stopping, and the request's time is over");
      return requests.length;
    },
    inFlight: () => server.inFlight,
  };
}

function report(exchange: Exchange, { observe, log }: RequestLifecycleOptions): void {
  try {
    observe(exchange);
  } catch (cause) {
    log("an observer failed", cause);
  }
}

/** True when the request is not let in, and has been answered. */
function isRefused(
  request: IncomingRequest,
  expectation: Expectation,
  limits: RequestLifecycleOptions["limits"],
  why: ShedReason | undefined,
): boolean {
  // The gate goes first: after some of what it refuses the connection may not go on.
  const faulty = problemWith(request, limits);
  const problem = faulty ?? (why === undefined ? undefined : shedProblem(why));
  if (faulty === undefined && why !== undefined) request.exchange.notes.push(why);
  if (problem !== undefined) sendProblem(request, problem);
  else if (expectation === "unknown") sendProblem(request, new Problem("INVALID_REQUEST", "Expect: unknown"), 417);
  else return false;
  return true;
}

/** Why a request is not let in, if it is not. */
function problemWith(
  { req, received, target, exchange }: IncomingRequest,
  limits: RequestLifecycleOptions["limits"],
): Problem | undefined {
  const { method = "", url = "", httpVersion } = req;
  const problem = checkRequest({ method, target: url, httpVersion, received }, limits);
  if (problem?.reason === "GRPC_UNSUPPORTED") exchange.notes.push("grpc");
  return problem ?? (target === "" ? new Problem("UNKNOWN_PATH", "no such path") : undefined);
}

/** The answer has been sent, or never will be. */
function responseClosed(request: IncomingRequest): void {
  const { exchange, res } = request;
  if (res.writableFinished) return;
  exchange.aborted = !request.cut;
  if (exchange.status === 0) exchange.status = CLIENT_LEFT;
  stopRequest(request, new Error("the client left"));
}

/** The first one: whether there are more is for the gate to say. */
function authorizationOf(rawHeaders: readonly string[]): string {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 13 && name.toLowerCase() === "authorization") return rawHeaders[i + 1] ?? "";
  }
  return "";
}

/** The target below our base path, or empty when it is not below it. */
function withoutBase(url: string, basePath: string): string {
  if (basePath === "") return url;
  if (!url.startsWith(basePath)) return "";
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : "";
}

function lifetimeOf(received: HeaderList, requestSeconds: number): number {
  const own = requestSeconds * 1_000;
  return Math.min(own, clientTimeout(onlyValue(received, "grpc-timeout")) ?? own);
}

function giveUp(request: IncomingRequest, why: string): void {
  const method = request.exchange.method;
  const safe = isSafe(method);
  const metadata = safe ? {} : { state: "unknown" };
  const problem = new Problem("UPSTREAM_TIMEOUT", why, { metadata });
  stopRequest(request, problem);
  sendProblem(request, problem);
}
