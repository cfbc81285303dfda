/** gRPC in: HTTP/2 without TLS, its sessions and their limits, and every call from its head to its report. */
import {
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { Socket } from "node:net";
import { acceptWaiting, type ClientPort, openClientPort } from "../edge/client-port.ts";
import { createEdge, type Edge, type EdgeOptions } from "../edge/edge.ts";
import { clientTimeout } from "../edge/headers.ts";
import { endBetweenReads } from "../edge/http2-session.ts";
import { headerValues, onlyValue } from "../model/http.ts";
import { Problem, RpcCode } from "../model/problem.ts";
import { failCall, type GrpcCall, headersOf, KEEP_SPACES, writeHead } from "./call.ts";
import { type Cancels, createCancels, createTokens, RESET_LIMITS } from "./cancels.ts";
import { createLingering, type LingeringTimes } from "./lingering.ts";
import type { StatusCodec } from "./status.ts";

export interface GrpcServerOptions extends EdgeOptions, ClientPort {
  readonly limits: EdgeOptions["limits"] & { readonly headerBytes: number };
  readonly codec: StatusCodec;
  /** Whether the platform has accepted a credential. */
  readonly accepted: (credential: string) => boolean;
  /** Serves a call that was let in. Throws `Problem` for what must be refused. */
  readonly serve: (call: GrpcCall) => void;
  readonly log: (message: string, cause: unknown) => void;
  readonly timeouts?: Partial<SessionTimeouts> | undefined;
}

/** Milliseconds. */
export interface SessionTimeouts extends LingeringTimes {
  /** Between two pings, and for the answer to one. */
  readonly pingMs: number;
  /** Of a session without a call. */
  readonly idleMs: number;
}

const TIMEOUTS: SessionTimeouts = { pingMs: 30_000, idleMs: 300_000, holdMs: 100, lingerMs: 2_000 };
/** Streams of one session at most, and its part of `limits.inFlight`: an ingress sends the calls of many clients over one. */
const STREAMS = 1_000;
const STREAMS_SHARE = 0.5;
/** Beyond this many fields a stream is reset before anybody looks at it. */
const MOST_FIELDS = 128;
/** Frames that are against the protocol, and streams beyond `STREAMS`, before a session ends. */
const MOST_FAULTS = 100;
/** For calls that were just told that they are cut off. */
const LAST_WORDS_MS = 500;
/** Whatever the subtype: messages are read as protobuf, as a server of gRPC that does not know it does. */
const GRPC = /^application\/grpc(?:\s*;|\+|$)/i;
const PATH = /^\/([A-Za-z_][\w.]{0,254})\/([A-Za-z_]\w{0,127})$/;

/**
 * Pieces of fewer than `bytes` that a session may send at once, and then each second. The first ones of each call are free. A piece costs
 * the same however short it is.
 */
const CRUMBS = { burst: 500, perSecond: 1_000, bytes: 64, free: 4 };

const TOO_MANY_CANCELS = new Problem("OVERLOADED", "too many calls of this caller were cancelled", {
  fault: "client",
  retryAfter: 1,
  options: [],
});

export type GrpcServer = ReturnType<typeof createGrpcServer>;

export function createGrpcServer(options: GrpcServerOptions) {
  const { limits, credentialOf = () => "" } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const sessions = new Map<Http2Session, SessionControl>();
  const edge = createEdge<GrpcCall>(options, failCall);
  const lingering = createLingering(options.now, limits.inFlight, timeouts);
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
    ...RESET_LIMITS,
  };
  const server = createServer(settings);
  // A session is made, and told of, while its connection is.
  let connection: Socket | undefined;
  server.prependListener("connection", (socket) => {
    connection = socket;
  });
  server.on("session", (session) => {
    const socket = connection;
    const cut = (): void => void socket?.destroy();
    const peer = socket?.remoteAddress ?? "";
    const crumbs = createTokens(options.now, CRUMBS);
    const end = (): void => {
      if (!session.closed) session.close();
    };
    const cancels = createCancels(options.now);
    sessions.set(session, { peer, credentialOf: rememberLast(credentialOf), cut, end, cancels, crumb: crumbs.take });
    endBetweenReads(session);
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
    const { ":path": path = "", ":method": method = "" } = headers;
    const unfit = GRPC.test(onlyValue(received, "content-type") ?? "") ? (method === "POST" ? undefined : 405) : 415;
    const control = stream.session === undefined ? undefined : sessions.get(stream.session);
    const why = edge.admits(() => credentialOf(onlyValue(received, "authorization") ?? ""));
    const { peer = "", credentialOf: digest } = control ?? {};
    const head = { method, target: path, httpVersion: "2", received, peer, credentialOf: digest };
    const arrival = edge.arrive(head, why);
    let isSent = false;
    const call: GrpcCall = {
      method: "POST",
      target: path,
      headers: arrival.headers,
      credential: arrival.credential,
      deadline: arrival.deadline,
      exchange: arrival.exchange,
      route: undefined,
      arrival,
      stream,
      received,
      codec: options.codec,
      isUnary: false,
      ended: false,
      sent: () => {
        isSent = true;
        arrival.end("whole");
        lingering.close(stream);
      },
      whenWhole: (then) => {
        arrival.end("whole");
        lingering.hold(stream, then);
      },
      stop: undefined,
    };
    arrival.request = call;
    if (control !== undefined) limitCrumbs(call, control.crumb);
    stream.on("close", () => {
      const hasLeft = !call.ended;
      if (hasLeft) {
        call.ended = true;
        call.stop?.(new Error("the client left"));
      }
      if (!isSent && control?.cancels.add(call.credential) === false && !arrival.trusted) control.end();
      arrival.end(hasLeft ? "left" : "whole");
    });
    if (unfit === undefined) serve(call, control);
    else refuseHttp(call, unfit);
  };

  const serve = (call: GrpcCall, control: SessionControl | undefined): void => {
    try {
      const problem = call.arrival.problem ?? tooMuchMetadata(call, limits.headerBytes) ?? malformedTimeout(call);
      if (control?.cancels.refuses(call.credential, options.accepted(call.credential))) {
        if (!control.cancels.refused() && !call.arrival.trusted) control.end();
        throw TOO_MANY_CANCELS;
      }
      const [, service, method] = PATH.exec(call.target) ?? [];
      if (service === undefined || method === undefined) {
        throw new Problem("METHOD_NOT_ALLOWED", "malformed method name: expected /SERVICE/METHOD");
      }
      if (problem !== undefined) throw problem;
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
    /** Rejects if the port cannot be opened. */
    listen: async (): Promise<{ readonly url: string }> => {
      return { url: await openClientPort(server, options) };
    },
    /** Sends GOAWAY to everyone: calls in progress go on, and clients open new connections. */
    beginShutdown: endSessions,
    /** Takes no more connections, lets calls finish for `graceMs`, then ends them. Returns how many were cut off. */
    close: async (graceMs: number): Promise<number> => {
      await acceptWaiting([server], graceMs);
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : Promise.resolve();
      endSessions();
      await emptyWithin(edge, graceMs);
      const left = edge.cut();
      if (left > 0) await emptyWithin(edge, LAST_WORDS_MS);
      // Sessions without a call end by themselves, once their clients have what was written.
      const late = setTimeout(() => {
        for (const { cut } of sessions.values()) cut();
      }, LAST_WORDS_MS);
      await closed;
      clearTimeout(late);
      return left;
    },
  };
}

interface SessionControl {
  /** The address of the client. */
  readonly peer: string;
  /** Digests of Authorization values. */
  readonly credentialOf: (authorization: string) => string;
  /** Ends the connection, whatever its client does. */
  cut(): void;
  /** Takes no more calls, and lets those in progress finish: other clients may have some on the connection of an ingress. */
  end(): void;
  readonly cancels: Cancels;
  /** The client has sent a small piece of a message; false when there were too many. */
  crumb(): boolean;
}

/** As `digest`, which is asked once for equal texts in a row. A connection holds its latest fields anyway (RFC 7541 section 2.3.2). */
function rememberLast(digest: (text: string) => string): (text: string) => string {
  let last: { readonly text: string; readonly digest: string } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, digest: digest(text) };
    return last.digest;
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

/** Resolves once no call is in progress, or after `ms`. */
function emptyWithin({ whenEmpty }: Pick<Edge<GrpcCall>, "whenEmpty">, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    whenEmpty(() => {
      clearTimeout(timer);
      resolve();
    });
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

function ignored(): void {}

/** Node itself only looks at the number of fields. */
function tooMuchMetadata({ target, received }: GrpcCall, headerBytes: number): Problem | undefined {
  const bytes = received.reduce((sum, [name, value]) => sum + name.length + value.length, target.length);
  return bytes > headerBytes ? new Problem("HEADERS_TOO_LARGE", "the call's metadata is too long") : undefined;
}

/** As servers in Go refuse it: without its deadline a call would run for longer than its client waits. */
function malformedTimeout({ received }: GrpcCall): Problem | undefined {
  if (headerValues(received, "grpc-timeout").every((value) => clientTimeout(value) !== undefined)) return undefined;
  return new Problem("INVALID_REQUEST", "malformed grpc-timeout", { code: RpcCode.INTERNAL, options: [] });
}

/** What is no gRPC gets an answer of HTTP (gRPC over HTTP/2, "Responses"). */
function refuseHttp(call: GrpcCall, status: number): void {
  call.exchange.status = status;
  writeHead(call, status, {}, true);
}
