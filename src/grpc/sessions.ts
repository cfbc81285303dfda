/** gRPC out: HTTP/2 sessions to one upstream, opened as they are needed. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Http2Session,
  type OutgoingHttpHeaders,
} from "node:http2";
import { Problem } from "../model/problem.ts";
import { type Breaker, type BreakerProbe, noBreaker } from "../upstream/breaker.ts";
import { dial, type PoolTls } from "../upstream/dial.ts";
import { failure } from "../upstream/failure.ts";
import { KEEP_SPACES } from "./call.ts";

export interface SessionsOptions {
  /** Only its origin counts: gRPC has no base path. */
  readonly url: string;
  readonly tls?: PoolTls | undefined;
  /** Milliseconds for TCP, TLS and the first HTTP/2 frame together. */
  readonly connectMs: number;
  /** Largest block of response headers. */
  readonly headerBytes: number;
  /** Makes a breaker that asks by `probe`; without one every call goes out. */
  readonly breaker?: ((probe: BreakerProbe) => Breaker) | undefined;
}

/** Who wants a stream. */
export interface StreamTaker {
  /** `beganAt` is for the breaker. */
  begin(stream: ClientHttp2Stream, beganAt: number): void;
  refuse(problem: Problem): void;
}

/** The HTTP/2 sessions to one upstream. */
export interface GrpcSessions {
  /**
   * Gives `taker` a new stream for a POST on a session with room: at once where there is one. Refuses with UPSTREAM_UNREACHABLE or
   * UPSTREAM_TIMEOUT, and with the breaker's Problem while it is open.
   */
  open(headers: OutgoingHttpHeaders, taker: StreamTaker): void;
  /**
   * True when the upstream has certainly not looked at the request on `stream`, which is closed: it was refused, or is above the last one
   * that a GOAWAY names (RFC 9113 section 8.7). `session`: the stream's own, before it was closed.
   */
  wasRefused(stream: ClientHttp2Stream, session: Http2Session | undefined): boolean;
  /** A call on `stream` got no response in time: its session has to show that it is alive. */
  suspect(stream: ClientHttp2Stream): void;
  readonly breaker: Breaker;
  readonly authority: string;
  readonly hostname: string;
  addresses(): ReadonlySet<string>;
  /** New calls use new sessions, with `tls` if given. Calls in progress end on the old ones. */
  renew(tls?: PoolTls): void;
  close(): void;
}

interface Session {
  /** Undefined while it is being connected. */
  http2: ClientHttp2Session | undefined;
  readonly ready: Promise<ClientHttp2Session>;
  isReady: boolean;
  /** Streams that are open, and those that wait for `ready`. */
  streams: number;
  /** Takes no further streams. */
  retired: boolean;
  /** A stream has ended. */
  readonly left: () => void;
}

/** Sessions to one upstream at most; beyond their streams, calls wait within HTTP/2. */
const MOST_SESSIONS = 16;
/** So long a suspected session has for its answer to a ping. */
const PING_MS = 5_000;
/** Fields of one response; their bytes have a limit of their own. */
const MOST_FIELDS = 2_000;
/** MiB of one session: hundreds of calls share it, and Node refuses streams beyond. */
const SESSION_MIB = 64;

export function createGrpcSessions(options: SessionsOptions): GrpcSessions {
  const { origin, protocol, host, hostname: written, port } = new URL(options.url);
  const hostname = written.replace(/^\[|\]$/g, "");
  const place = { protocol, host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  let { tls } = options;
  let sessions: Session[] = [];
  const addresses = new Set<string>();
  /** Of sessions that received GOAWAY. */
  const lastStreams = new WeakMap<Http2Session, number>();
  const retire = (session: Session): void => {
    session.retired = true;
    sessions = sessions.filter((other) => other !== session);
  };
  const openSession = (): Session => {
    const began = performance.now();
    const { connectMs: timeoutMs } = options;
    const connected = new Promise<ClientHttp2Session>((resolve, reject) => {
      dial({ ...place, timeoutMs, tls, protocols: ["h2"] }, (error, socket) => {
        if (socket === undefined) return reject(error);
        if (socket.remoteAddress !== undefined) addresses.add(socket.remoteAddress);
        const http2 = connect(origin, {
          createConnection: () => socket,
          settings: { enablePush: false, maxHeaderListSize: options.headerBytes },
          maxHeaderListPairs: MOST_FIELDS,
          ...KEEP_SPACES,
          maxSessionMemory: SESSION_MIB,
        });
        session.http2 = http2;
        // Streams and `ready` tell what goes wrong.
        http2.on("error", () => retire(session));
        http2.on("goaway", (_code, lastStream) => {
          lastStreams.set(http2, lastStream);
          retire(session);
        });
        http2.once("close", () => retire(session));
        const left = Math.max(1, timeoutMs - (performance.now() - began));
        readyOf(http2, left).then(() => resolve(http2), reject);
      });
    });
    const session: Session = {
      http2: undefined,
      ready: connected,
      isReady: false,
      streams: 0,
      retired: false,
      left: () => {
        session.streams--;
      },
    };
    session.ready.then(
      () => {
        session.isReady = true;
      },
      () => {
        retire(session);
        session.http2?.destroy();
      },
    );
    sessions.push(session);
    return session;
  };
  /** The session with the fewest streams, or a new one where none has room. */
  const pick = (): Session => {
    let best: Session | undefined;
    for (const session of sessions) if (best === undefined || session.streams < best.streams) best = session;
    const room = best === undefined ? 0 : (best.http2?.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY);
    if (best !== undefined && (best.streams < room || sessions.length >= MOST_SESSIONS)) return best;
    return openSession();
  };
  const openOn = (
    session: Session,
    headers: OutgoingHttpHeaders,
    taker: StreamTaker,
    beganAt: number,
    isFirst: boolean,
  ): void => {
    const request = (http2: ClientHttp2Session): void => {
      let stream: ClientHttp2Stream;
      try {
        stream = http2.request(headers);
      } catch (error) {
        lost(error);
        return;
      }
      stream.on("close", session.left);
      taker.begin(stream, beganAt);
    };
    const lost = (error: unknown): void => {
      session.left();
      if (isHeaderFault(error)) {
        taker.refuse(new Problem("INVALID_REQUEST", "a header field cannot be passed on"));
        return;
      }
      retire(session);
      // A session may end between two looks at it: then a new one is tried.
      if (isFirst && isSessionFault(error)) {
        openOn(openSession(), headers, taker, beganAt, false);
        return;
      }
      breaker.failed(beganAt);
      taker.refuse(failure(error, { method: "POST", sent: false }));
    };
    session.streams++;
    if (session.isReady && session.http2 !== undefined) request(session.http2);
    else session.ready.then(request, lost);
  };
  const probe = async (): Promise<boolean> => {
    const session = openSession();
    try {
      await session.ready;
      return true;
    } catch {
      return false;
    } finally {
      retire(session);
      session.http2?.close();
    }
  };
  const breaker = options.breaker?.(probe) ?? noBreaker();
  return {
    open(headers, taker) {
      const beganAt = breaker.begin();
      if (typeof beganAt === "number") openOn(pick(), headers, taker, beganAt, true);
      else taker.refuse(beganAt);
    },
    wasRefused: ({ id, rstCode }, session) => {
      const last = session === undefined ? undefined : lastStreams.get(session);
      return rstCode === constants.NGHTTP2_REFUSED_STREAM || (last !== undefined && id !== undefined && id > last);
    },
    suspect: ({ session }) => {
      if (session === undefined || session.destroyed) return;
      const timer = setTimeout(() => session.destroy(), PING_MS);
      if (!session.ping(() => clearTimeout(timer))) clearTimeout(timer);
    },
    breaker,
    authority: host,
    hostname,
    addresses: () => addresses,
    renew: (renewed) => {
      tls = renewed ?? tls;
      addresses.clear();
      for (const session of [...sessions]) {
        retire(session);
        // What still waits for the connection goes out on it first.
        session.ready.then((http2) => http2.close(), ignored);
      }
    },
    close: () => {
      breaker.close();
      for (const session of [...sessions]) {
        if (session.http2 === undefined) session.ready.then((http2) => http2.destroy(), ignored);
        else session.http2.destroy();
      }
    },
  };
}

/** The upstream has said how many streams it takes: before that, a crowd would run into REFUSED_STREAM. */
function readyOf(http2: ClientHttp2Session, connectMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(Object.assign(new Error("the upstream does not speak HTTP/2 in time"), { code: "ETIMEDOUT" }));
    }, connectMs);
    const end = (settle: () => void) => () => {
      clearTimeout(timer);
      settle();
    };
    http2.once("remoteSettings", end(resolve));
    http2.once("error", (error) => end(() => reject(error))());
    http2.once(
      "close",
      end(() => reject(new Error("the upstream closed the connection"))),
    );
  });
}

function ignored(): void {}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** What node:http2 refuses to send, such as two `user-agent`: the client's fault, and no session's. */
function isHeaderFault(error: unknown): boolean {
  return /^ERR_(?:HTTP2_HEADER|HTTP2_INVALID_(?:HEADER|CONNECTION|PSEUDO)|INVALID_CHAR|INVALID_HTTP_TOKEN)/.test(
    codeOf(error),
  );
}

function isSessionFault(error: unknown): boolean {
  return /^ERR_HTTP2_(?:INVALID_SESSION|GOAWAY_SESSION)$/.test(codeOf(error));
}
