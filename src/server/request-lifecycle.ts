/** What happens to every request before it is routed, and after it is answered? */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { CLIENT_LEFT, createExchange, type Exchange } from "../model/exchange.ts";
import { type HeaderList, header, isSafe, readHeaders } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { createLoadShedder, plainRequestId, type ShedReason, shedProblem } from "./admission.ts";
import { createConnections } from "./connections.ts";
import {
  clientTimeout,
  createTrustedProxies,
  givenRequestId,
  onlyValue,
  requestHeaders,
  type TrustedProxy,
} from "./headers.ts";
import { checkRequest } from "./request-checks.ts";
import { type RequestContext, recordProblem, type ServerContext, stopRequest } from "./request-context.ts";
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
  accept(req: IncomingMessage, res: ServerResponse, expectation: Expectation): RequestContext | undefined;
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
  // A number, no set of visits: the tables that a busy set leaves behind would carry requests into the old generation.
  const house: ServerContext = { closing: false, inFlight: 0, now };
  const {
    admit = (here: number) => (here >= limits.inFlight ? "shed-in-flight" : undefined),
    credentialOf = () => "",
  } = options;
  const shed = createLoadShedder({ ...options, observe: (exchange) => report(exchange, options) });
  let onEmpty: (() => void) | undefined;
  return {
    accept(req, res, expectation) {
      const why = admit(house.inFlight, () => credentialOf(authorizationOf(req.rawHeaders)));
      // One that waits behind another answer has no socket yet. What breaks its connection has to know of it, to wait its turn.
      if (why !== undefined && expectation === "none" && !house.closing && res.socket !== null) {
        const id = plainRequestId(req);
        if (id !== undefined) {
          shed.refuse(req, res, why, id);
          return undefined;
        }
      }
      const received = readHeaders(req.rawHeaders, true);
      const lifeMs = lifetimeOf(received, limits.requestSeconds);
      const visit = createRequestContext(req, res, { received, house, lifeMs, credentialOf, trusts }, options);
      visit.expects = expectation === "continue";
      // Node forgets what came in one packet behind an offer to upgrade: better no second request than one in silence.
      if (header(received, "upgrade") !== undefined) visit.last = true;
      house.inFlight++;
      const timer = setTimeout(() => expire(visit), lifeMs);
      const first = peers.add(visit, () => {
        clearTimeout(timer);
        house.inFlight--;
        responseClosed(visit);
        report(visit.exchange, options);
        if (house.inFlight === 0) onEmpty?.();
      });
      if (first && isRefused(visit, expectation, limits, why)) return undefined;
      if (first && peers.admits(visit)) return visit;
      // Its connection ends before it: who sent it must be able to rely on nothing having been done (RFC 9112 section 9.6).
      sendProblem(visit, new Problem("OVERLOADED", "the connection is ending", { retryAfter: 1 }));
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
      house.closing = true;
      shed.flush();
    },
    endIdle: peers.endIdle,
    close(whenEmpty) {
      shed.settle();
      onEmpty = whenEmpty;
      if (house.inFlight === 0) whenEmpty();
    },
    cut() {
      const visits = peers.requests();
      for (const visit of visits) giveUp(visit, "carryover is stopping, and the request's time is over");
      return visits.length;
    },
    inFlight: () => house.inFlight,
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
  visit: RequestContext,
  expectation: Expectation,
  limits: RequestLifecycleOptions["limits"],
  why: ShedReason | undefined,
): boolean {
  // The gate goes first: after some of what it refuses the connection may not go on.
  const faulty = problemWith(visit, limits);
  const problem = faulty ?? (why === undefined ? undefined : shedProblem(why));
  if (faulty === undefined && why !== undefined) visit.exchange.notes.push(why);
  if (problem !== undefined) sendProblem(visit, problem);
  else if (expectation === "unknown") sendProblem(visit, new Problem("INVALID_REQUEST", "Expect: unknown"), 417);
  else return false;
  return true;
}

/** Why a request is not let in, if it is not. */
function problemWith(
  { req, received, target, exchange }: RequestContext,
  limits: RequestLifecycleOptions["limits"],
): Problem | undefined {
  const { method = "", url = "", httpVersion } = req;
  const problem = checkRequest({ method, target: url, httpVersion, received }, limits);
  if (problem?.reason === "GRPC_UNSUPPORTED") exchange.notes.push("grpc");
  return problem ?? (target === undefined ? new Problem("UNKNOWN_PATH", "no such path") : undefined);
}

/** The answer has been sent, or never will be. */
function responseClosed(visit: RequestContext): void {
  const { exchange, res } = visit;
  if (res.writableFinished) return;
  exchange.aborted = !visit.cut;
  if (exchange.status === 0) exchange.status = CLIENT_LEFT;
  stopRequest(visit, new Error("the client left"));
}

/** The first one: whether there are more is for the gate to say. */
function authorizationOf(rawHeaders: readonly string[]): string {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 13 && name.toLowerCase() === "authorization") return rawHeaders[i + 1] ?? "";
  }
  return "";
}

/** What is known of a request besides Node's own. */
interface RequestStart {
  readonly received: HeaderList;
  readonly house: ServerContext;
  readonly lifeMs: number;
  readonly credentialOf: (authorization: string) => string;
  readonly trusts: TrustedProxy;
}

function createRequestContext(
  req: IncomingMessage,
  res: ServerResponse,
  { received, house, lifeMs, credentialOf, trusts }: RequestStart,
  options: RequestLifecycleOptions,
): RequestContext {
  const { method = "", url = "" } = req;
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  const requestId = givenRequestId(received) ?? options.newRequestId();
  const exchange = createExchange(requestId, options.now(), method, path);
  const peer = req.socket.remoteAddress ?? "";
  const facts = { requestId, peer, trusted: trusts(peer), newId: options.newRequestId };
  const { headers, odd } = requestHeaders(received, facts);
  if (odd > 0) exchange.notes.push("odd-header-name");
  const target = withoutBase(url, options.basePath);
  return {
    req,
    res,
    received,
    headers,
    exchange,
    credential: credentialOf(onlyValue(received, "authorization") ?? ""),
    deadline: exchange.startedAt + lifeMs,
    target,
    server: house,
    expects: false,
    last: false,
    followed: false,
    whole: false,
    cut: false,
    pass: undefined,
    watch: undefined,
    passedAt: undefined,
    call: undefined,
    controller: undefined,
  };
}

/** The target below our base path, or undefined when it is not below it. */
function withoutBase(url: string, basePath: string): string | undefined {
  if (basePath === "") return url;
  if (!url.startsWith(basePath)) return undefined;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : undefined;
}

function lifetimeOf(received: HeaderList, requestSeconds: number): number {
  const own = requestSeconds * 1_000;
  return Math.min(own, clientTimeout(onlyValue(received, "grpc-timeout")) ?? own);
}

function expire(visit: RequestContext): void {
  giveUp(visit, "the request's time is over");
}

function giveUp(visit: RequestContext, why: string): void {
  const method = visit.exchange.method;
  const safe = isSafe(method);
  const metadata = safe ? {} : { state: "unknown" };
  const problem = new Problem("UPSTREAM_TIMEOUT", why, { metadata });
  stopRequest(visit, problem);
  sendProblem(visit, problem);
}
