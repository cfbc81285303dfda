/** gRPC in: HTTP/2 without TLS, its sessions and their limits, and every call from its head to its report. */
import { once } from "node:events";
import {
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { type Admit, shedProblem } from "../edge/admission.ts";
import { clientTimeout, createTrustedProxies, givenRequestId, requestHeaders } from "../edge/headers.ts";
import { checkRequest } from "../edge/request-checks.ts";
import { CLIENT_LEFT, createExchange, type Exchange } from "../model/exchange.ts";
import { onlyValue } from "../model/http.ts";
import { Problem, RpcCode } from "../model/problem.ts";
import { failCall, type GrpcCall, headersOf, KEEP_SPACES, writeHead } from "./call.ts";
import { createLingering } from "./lingering.ts";
import type { StatusCodec } from "./status.ts";
import { createSweep } from "./sweep.ts";

export interface GrpcServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly limits: {
    readonly headerBytes: number;
    readonly uriBytes: number;
    readonly inFlight: number;
    readonly requestSeconds: number;
  };
  readonly trustedProxies: readonly string[];
  readonly codec: StatusCodec;
  /** `here`: calls on this port. */
  readonly admit: Admit;
  /** A keyed digest of an Authorization value. */
  readonly credentialOf: (authorization: string) => string;
  /** Serves a call that was let in. Throws `Problem` for what must be refused. */
  readonly serve: (call: GrpcCall) => void;
  /** Called once per call, when it is over. */
  readonly observe: (exchange: Exchange) => void;
  readonly newRequestId: () => string;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  readonly log: (message: string, cause: unknown) => void;
  readonly timeouts?: Partial<SessionTimeouts> | undefined;
}

/** Milliseconds. */
export interface SessionTimeouts {
  /** Between two pings, and for the answer to one. */
  readonly pingMs: number;
  /** Of a session without a call. */
  readonly idleMs: number;
}

export interface GrpcServer {
  /** Rejects when the port cannot be had. */
  listen(): Promise<{ readonly url: string }>;
  /** Sends GOAWAY to everyone: calls in progress go on, and clients connect anew. */
  beginShutdown(): void;
  /** Takes no more connections, lets calls finish for `graceMs`, then ends them. Gives how many were cut off. */
  close(graceMs: number): Promise<number>;
  inFlight(): number;
}

const TIMEOUTS: SessionTimeouts = { pingMs: 30_000, idleMs: 300_000 };
/** Streams of one session at most, and its part of `limits.inFlight`: an ingress sends the calls of many clients over one. */
const STREAMS = 1_000;
const STREAMS_SHARE = 0.5;
/** Beyond this many fields a stream is reset before anybody looks at it. */
const MOST_FIELDS = 128;
/** Frames that are against the protocol, and streams beyond `STREAMS`, before a session ends. */
const MOST_FAULTS = 100;
/** For calls that were just told that they are cut off. */
const LAST_WORDS_MS = 500;
const BACKLOG = 65_535;
/** Whatever the subtype: messages are read as protobuf, as a server of gRPC that does not know it does. */
const GRPC = /^application\/grpc(?:\s*;|\+|$)/i;
const PATH = /^\/([A-Za-z_][\w.]{0,254})\/([A-Za-z_]\w{0,127})$/;

/**
 * Calls that a session may cancel at once, and then each second. nghttp2 has a limit of its own, but leaves the connection open. Beyond it,
 * a client makes others work for nothing (CVE-2023-44487).
 */
const RESETS = { burst: 500, perSecond: 100 };

/**
 * Pieces of fewer than `bytes` that a session may send at once, and then each second. The first ones of each call are free. A piece costs
 * the same however short it is.
 */
const CRUMBS = { burst: 500, perSecond: 1_000, bytes: 64, free: 4 };

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { limits } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const trusts = createTrustedProxies(options.trustedProxies);
  const sessions = new Map<Http2Session, SessionControl>();
  const requestMs = limits.requestSeconds * 1_000;
  // A call may go on while something of it moves.
  const running = createSweep<GrpcCall>(
    options.now,
    (call) => (call.ended ? Number.POSITIVE_INFINITY : Math.min(call.clientAt, call.aliveAt + requestMs)),
    (call) => failCall(call, expired(call, options.now())),
  );
  const calls = running.all;
  const lingering = createLingering(options.now, limits.inFlight);
  const settings: ServerOptions = {
    settings: {
      enablePush: false,
      maxConcurrentStreams: Math.min(STREAMS, Math.ceil(limits.inFlight * STREAMS_SHARE)),
      maxHeaderListSize: limits.headerBytes,
    },
    maxHeaderListPairs: MOST_FIELDS,
    maxSessionInvalidFrames: MOST_FAULTS,
    ...KEEP_SPACES,
    maxSessionRejectedStreams: MOST_FAULTS,
  };
  const server = createServer(settings);
  const state = { whenEmpty: () => {} };
  // A session is made, and told of, while its connection is.
  let connection: Socket | undefined;
  server.prependListener("connection", (socket) => {
    connection = socket;
  });
  server.on("session", (session) => {
    const socket = connection;
    const cut = (): void => void socket?.destroy();
    const peer = socket?.remoteAddress ?? "";
    const [resets, crumbs] = [createTokens(options.now, RESETS), createTokens(options.now, CRUMBS)];
    sessions.set(session, { peer, cut, cancelled: () => resets() || cut(), crumb: crumbs });
    watchSession(session, cut, timeouts);
    session.once("close", () => sessions.delete(session));
  });
  server.on("stream", ((stream, headers, _flags, raw: readonly string[]) => {
    // Told as well by `close`, which every stream has.
    stream.on("error", ignored);
    try {
      accept(stream, headers, raw);
    } catch (cause) {
      options.log("a gRPC call could not be taken in", cause);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }) as (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, ...rest: never[]) => void);

  const accept = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void => {
    const received = headersOf(raw);
    const authority = headers[":authority"];
    if (authority !== undefined && headers.host === undefined) received.push(["host", authority]);
    const path = headers[":path"] ?? "";
    const isGrpc = headers[":method"] === "POST" && GRPC.test(onlyValue(received, "content-type") ?? "");
    const ownId = givenRequestId(received);
    const requestId = ownId ?? options.newRequestId();
    const exchange = createExchange(requestId, options.now(), headers[":method"] ?? "", path);
    const control = stream.session === undefined ? undefined : sessions.get(stream.session);
    const peer = control?.peer ?? "";
    const facts = { requestId, isOwnId: ownId !== undefined, peer, trusted: trusts(peer) };
    const { headers: forwarded, odd } = requestHeaders(received, facts);
    if (odd > 0) exchange.notes.push("odd-header-name");
    const ownMs = clientTimeout(onlyValue(received, "grpc-timeout")) ?? Number.POSITIVE_INFINITY;
    let isSent = false;
    const call: GrpcCall = {
      method: "POST",
      target: path,
      headers: forwarded,
      credential: options.credentialOf(onlyValue(received, "authorization") ?? ""),
      deadline: exchange.startedAt + Math.min(requestMs, ownMs),
      exchange,
      route: undefined,
      stream,
      received,
      codec: options.codec,
      clientAt: exchange.startedAt + ownMs,
      aliveAt: exchange.startedAt,
      ended: false,
      sent: () => {
        isSent = true;
        over(call);
        lingering.close(stream);
      },
      whenWhole: (then) => {
        over(call);
        lingering.hold(stream, then);
      },
      stop: undefined,
    };
    running.add(call);
    if (control !== undefined) limitCrumbs(call, control.crumb);
    stream.on("close", () => {
      if (!call.ended) clientLeft(call);
      if (!isSent) control?.cancelled();
      over(call);
    });
    if (!isGrpc) refuseMedia(call);
    else serve(call, calls.size - 1);
  };

  /** The response is on its way, or the client has left: nothing waits for what the client may still send. */
  const over = (call: GrpcCall): void => {
    if (!calls.has(call)) return;
    running.delete(call);
    report(call.exchange, options);
    if (calls.size === 0) state.whenEmpty();
  };
  const serve = (call: GrpcCall, here: number): void => {
    try {
      const problem = refusalOf(call, options, here) ?? malformedTimeout(call);
      if (problem !== undefined) throw problem;
      const [, service, method] = PATH.exec(call.target) ?? [];
      if (service === undefined || method === undefined) {
        throw new Problem("INVALID_PATH", "expected a path of the form /SERVICE/METHOD");
      }
      call.exchange.rpc = { service, method, code: RpcCode.UNKNOWN };
      options.serve(call);
    } catch (error) {
      failCall(call, Problem.from(error));
    }
  };
  const endSessions = (): void => {
    for (const session of sessions.keys()) if (!session.closed) session.close();
  };
  return {
    listen: async () => {
      server.listen({ host: options.host, port: options.port, backlog: BACKLOG });
      await once(server, "listening");
      const { address, family, port } = server.address() as AddressInfo;
      const host = address === "0.0.0.0" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
      return { url: `http://${host}:${port}` };
    },
    beginShutdown: endSessions,
    close: async (graceMs) => {
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : Promise.resolve();
      endSessions();
      const left = await emptyWithin(state, calls, graceMs);
      for (const call of [...calls]) {
        failCall(
          call,
          new Problem("OVERLOADED", "carryover is stopping, and the call's time is over", { options: [] }),
        );
      }
      if (left > 0) await emptyWithin(state, calls, LAST_WORDS_MS);
      // Sessions without a call end by themselves, once their clients have what was written.
      const late = setTimeout(() => {
        for (const { cut } of sessions.values()) cut();
      }, LAST_WORDS_MS);
      await closed;
      clearTimeout(late);
      return left;
    },
    inFlight: () => calls.size,
  };
}

interface SessionControl {
  /** The address of the client. */
  readonly peer: string;
  /** Ends the connection, whatever its client does. */
  cut(): void;
  /** The client has cancelled a call. */
  cancelled(): void;
  /** The client has sent a small piece of a message; false when there were too many. */
  crumb(): boolean;
}

/** A token bucket: false when it is empty. */
function createTokens(
  now: () => number,
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
): () => boolean {
  let left = burst;
  let at = now();
  return () => {
    const time = now();
    left = Math.max(-1, Math.min(burst, left + ((time - at) * perSecond) / 1_000) - 1);
    at = time;
    return left >= 0;
  };
}

/** Ends a call whose message comes in crumbs. They are counted as they come: of a paused stream, too, Node keeps each as an object. */
function limitCrumbs(call: GrpcCall, crumb: () => boolean): void {
  const { stream } = call;
  const { push } = stream;
  let pieces = 0;
  stream.push = (piece: Uint8Array | null) => {
    if (piece === null || call.ended || ++pieces <= CRUMBS.free || piece.length >= CRUMBS.bytes || crumb()) {
      return push.call(stream, piece);
    }
    failCall(call, new Problem("INVALID_REQUEST", "the message comes in too many small pieces", { options: [] }));
    return false;
  };
}

/** Resolves once no call is in progress, or after `ms`; gives how many are left. */
function emptyWithin(state: { whenEmpty: () => void }, calls: ReadonlySet<GrpcCall>, ms: number): Promise<number> {
  if (calls.size === 0) return Promise.resolve(0);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(calls.size), Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    state.whenEmpty = () => {
      clearTimeout(timer);
      resolve(0);
    };
  });
}

/** Ends connections that say nothing, have nothing to do, or whose other side is gone without a word. */
function watchSession(session: ServerHttp2Session, cut: () => void, { pingMs, idleMs }: SessionTimeouts): void {
  session.on("error", () => {});
  session.setTimeout(idleMs, () => session.close());
  let unanswered = false;
  const pings = setInterval(() => {
    if (unanswered || session.destroyed) {
      cut();
      return;
    }
    unanswered = true;
    // Only one ping is under way at a time, so there is always room for it.
    session.ping(() => {
      unanswered = false;
    });
  }, pingMs);
  session.once("close", () => clearInterval(pings));
}

/** For the client's deadline, and for a call in which nothing has moved for `limits.requestSeconds`. */
function expired({ clientAt }: GrpcCall, now: number): Problem {
  return new Problem("UPSTREAM_TIMEOUT", "the call's time is over", {
    metadata: { state: "unknown" },
    options: clientAt <= now ? [] : ["limits.requestSeconds"],
  });
}

function ignored(): void {}

/** Why a call is not let in, if it is not. */
function refusalOf(
  { target, received, exchange, credential }: GrpcCall,
  { limits, admit }: GrpcServerOptions,
  here: number,
): Problem | undefined {
  // Node itself only looks at the number of fields.
  let bytes = target.length;
  for (const [name, value] of received) bytes += name.length + value.length;
  if (bytes > limits.headerBytes) {
    return new Problem("HEADERS_TOO_LARGE", "the call's metadata is too long");
  }
  const problem = checkRequest({ method: "POST", target, httpVersion: "2", received }, limits);
  if (problem !== undefined) return problem;
  const why = admit(here, () => credential);
  if (why === undefined) return undefined;
  exchange.notes.push(why);
  return shedProblem(why);
}

/** As servers in Go refuse it: without its deadline a call would run for longer than its client waits. */
function malformedTimeout({ received }: GrpcCall): Problem | undefined {
  const timeout = onlyValue(received, "grpc-timeout");
  if (timeout === undefined || clientTimeout(timeout) !== undefined) return undefined;
  return new Problem("INVALID_REQUEST", "malformed grpc-timeout", { code: RpcCode.INTERNAL, options: [] });
}

/** What is no gRPC gets an answer of HTTP (gRPC over HTTP/2, "Responses"). */
function refuseMedia(call: GrpcCall): void {
  call.exchange.status = 415;
  writeHead(call, 415, {}, true);
}

function clientLeft(call: GrpcCall): void {
  const { exchange } = call;
  call.ended = true;
  exchange.aborted = true;
  exchange.status = CLIENT_LEFT;
  if (exchange.rpc !== undefined) exchange.rpc.code = RpcCode.CANCELLED;
  call.stop?.(new Error("the client left"));
}

function report(exchange: Exchange, { observe, log }: GrpcServerOptions): void {
  try {
    observe(exchange);
  } catch (cause) {
    log("an observer failed", cause);
  }
}
