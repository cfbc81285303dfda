/** gRPC out: HTTP/2 sessions to one upstream, opened as streams are needed. */
import { type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from "node:http2";
import { createSweep } from "../edge/deadlines.ts";
import { later } from "../model/clock.ts";
import { Problem } from "../model/problem.ts";
import { type Breaker, type BreakerProbe, noBreaker } from "../upstream/breaker.ts";
import type { PoolTls } from "../upstream/dial.ts";
import { failure } from "../upstream/failure.ts";
import { type GrpcSession, openSession, type SessionListener, type SessionOptions } from "./session.ts";
import { createStreamQueue, type QueuedStream, type StreamOrigin } from "./stream-queue.ts";

export interface SessionsOptions {
  /** Only its origin counts: gRPC has no base path. */
  readonly url: string;
  readonly tls?: PoolTls | undefined;
  /** Sessions at most (`upstream.*.connections`). */
  readonly connections: number;
  /** Milliseconds for TCP, TLS and the first HTTP/2 frame together. */
  readonly connectMs: number;
  /** Milliseconds of silence before a session is pinged. Without it, only a session with calls is pinged. */
  readonly pingMs?: number | undefined;
  readonly patience?: SessionOptions["patience"];
  /** Largest block of response headers. */
  readonly headerBytes: number;
  /** Whether the platform has accepted a credential. */
  readonly accepted: (credential: string) => boolean;
  /** Makes a breaker that asks by `probe`; without one every call goes out. */
  readonly breaker?: ((probe: BreakerProbe) => Breaker) | undefined;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** Who wants a stream. */
export interface StreamTaker {
  /** `beganAt` is for the breaker. */
  begin(stream: ClientHttp2Stream, beganAt: number): void;
  refuse(problem: Problem): void;
}

/** A place for one stream. */
export interface StreamPlace {
  /** Makes its stream, a POST: at once where a session has room. The place ends with the stream. */
  open(headers: OutgoingHttpHeaders, taker: StreamTaker): void;
  /** Releases the place, unless it has its stream. */
  leave(): void;
}

/** Work that needs a place. */
export interface StreamWork {
  start(place: StreamPlace): void;
  refuse(problem: Problem): void;
}

/** The HTTP/2 sessions to one upstream. */
export interface GrpcSessions {
  /**
   * Starts `work` when it may have a stream: at once, or later. Refuses with OVERLOADED when all places are taken until the call's time is
   * over, with UPSTREAM_UNREACHABLE or UPSTREAM_TIMEOUT, and with the breaker's Problem while it is open. The function given back stops
   * waiting, and does nothing once the work has started.
   */
  enter(origin: StreamOrigin, work: StreamWork): () => void;
  /**
   * True when the upstream has certainly not looked at the request on `stream`, which is closed: it was refused, or is above the last one
   * that a GOAWAY names (RFC 9113 section 8.7).
   */
  wasRefused(stream: ClientHttp2Stream): boolean;
  /** A call on `stream` got no response in time: new calls avoid its session until that has shown that it is alive. */
  suspect(stream: ClientHttp2Stream): void;
  /** Streams that `credential` has or waits for. */
  usedBy(credential: string): number;
  readonly breaker: Breaker;
  readonly authority: string;
  readonly hostname: string;
  addresses(): ReadonlySet<string>;
  /** New calls use new sessions, with `tls` if given. Calls in progress end on the old ones. */
  renew(tls?: PoolTls): void;
  close(): void;
}

/** After a failed attempt none is made for so long, while there are other sessions. */
const PAUSE_MS = 1_000;

/** A call that has its place, and whose session ended before it had its stream. */
interface Stranded {
  readonly retry: () => void;
  readonly refuse: (error: unknown) => void;
}

export function createGrpcSessions(options: SessionsOptions): GrpcSessions {
  const { connections, now } = options;
  const { origin, protocol, host, hostname: written, port } = new URL(options.url);
  const hostname = written.replace(/^\[|\]$/g, "");
  const address = { protocol, host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  let { tls } = options;
  const addresses = new Set<string>();
  /** Those that have not left. */
  const sessions = new Set<GrpcSession>();
  const pool = {
    ready: 0,
    connecting: 0,
    /** Streams of all sessions, and of those that are ready. */
    open: 0,
    /** Streams that may be open at present: all that the ready sessions take, and those of other sessions until they end. */
    places: 0,
    /** Streams that a session takes, as the upstream last said. */
    usual: Number.MAX_SAFE_INTEGER,
    failedAt: Number.NEGATIVE_INFINITY,
  };
  let stranded: Stranded[] = [];
  const silence = createSweep<GrpcSession>(
    now,
    ({ lookAt }) => lookAt,
    (session) => session.look(),
  );
  const connect = (on: SessionListener): GrpcSession =>
    openSession(
      {
        ...{
          origin,
          headerBytes: options.headerBytes,
          pingMs: options.pingMs,
          patience: options.patience,
          silence,
          now,
        },
        place: { ...address, timeoutMs: options.connectMs, tls },
      },
      on,
    );
  const count = (): void => {
    let [room, used, ready, connecting] = [0, 0, 0, 0];
    for (const session of sessions) {
      if (session.state === "left") sessions.delete(session);
      else if (session.state === "connecting") connecting++;
      else if (session.state === "ready") {
        ready++;
        room += session.limit();
        used += session.streams;
        pool.usual = session.limit();
      }
    }
    pool.ready = ready;
    pool.connecting = connecting;
    pool.places = room + pool.open - used;
  };
  /** Serves those that wait, and connects for those that still do. */
  const settle = (): void => {
    const before = stranded;
    stranded = [];
    for (const { retry } of before) retry();
    queue.pump();
    connectMore();
  };
  const connectMore = (): void => {
    const wanted = queue.waiting() + stranded.length;
    if (wanted === 0 || (pool.ready > 0 && now() - pool.failedAt < PAUSE_MS)) return;
    const each = Math.max(1, pool.usual);
    for (let room = pool.connecting * each; room < wanted; room += each) {
      if (pool.ready + pool.connecting >= connections) return;
      pool.connecting++;
      sessions.add(connect(listener));
    }
  };
  const listener: SessionListener = {
    connected: (from) => from !== undefined && addresses.add(from),
    changed: () => {
      count();
      settle();
    },
    failed: (session, error) => {
      sessions.delete(session);
      pool.failedAt = now();
      count();
      // Others may still serve those that wait.
      if (pool.ready + pool.connecting > 0) return;
      const lost = stranded;
      stranded = [];
      for (const { refuse } of lost) refuse(error);
      for (const { at, work } of queue.takeWaiting()) {
        breaker.failed(at);
        work.refuse(failure(error, UNSENT));
      }
    },
  };
  const queue = createStreamQueue<StreamWork>(
    {
      places: () => pool.places,
      most: () => pool.places + Math.max(0, connections - pool.ready) * pool.usual,
      accepted: options.accepted,
      now,
      later,
      wanted: connectMore,
    },
    (stream) => stream.work.start(placeOf(stream)),
    ({ work }) => work.refuse(pool.ready > 0 ? full() : failure(TOO_LATE, UNSENT)),
  );
  const roomiest = (): GrpcSession | undefined => {
    let best: GrpcSession | undefined;
    for (const session of sessions) {
      if (session.state === "ready" && session.streams < (best?.streams ?? session.limit())) best = session;
    }
    return best;
  };
  const placeOf = (place: QueuedStream<StreamWork>): StreamPlace => {
    let isOpen = false;
    const closed = (session: GrpcSession): void => {
      pool.open--;
      if (session.state !== "ready") pool.places--;
      queue.leave(place);
      if (stranded.length > 0) settle();
    };
    const open = (headers: OutgoingHttpHeaders, taker: StreamTaker): void => {
      if (place.state === "over") return;
      const beganAt = breaker.begin();
      const refuse = (problem: Problem): void => {
        queue.leave(place);
        taker.refuse(problem);
      };
      if (typeof beganAt !== "number") {
        refuse(beganAt);
        return;
      }
      const lost = (error: unknown): void => {
        breaker.failed(beganAt);
        refuse(failure(error, UNSENT));
      };
      const session = roomiest();
      if (session === undefined) {
        stranded.push({ retry: () => open(headers, taker), refuse: lost });
        connectMore();
        return;
      }
      let stream: ClientHttp2Stream;
      try {
        stream = session.request(headers, () => closed(session));
      } catch (error) {
        if (isHeaderFault(error)) refuse(new Problem("INVALID_REQUEST", "a header field cannot be passed on"));
        else {
          session.leave();
          // A session may end between two looks at it: then another one is tried.
          if (isSessionFault(error)) open(headers, taker);
          else lost(error);
        }
        return;
      }
      isOpen = true;
      pool.open++;
      taker.begin(stream, beganAt);
    };
    return {
      open,
      leave: () => {
        if (!isOpen) queue.leave(place);
      },
    };
  };
  const probe: BreakerProbe = () =>
    new Promise((resolve) => {
      connect({
        connected: () => {},
        failed: () => resolve(false),
        changed: (session) => {
          if (session.state === "ready") session.leave();
          resolve(true);
        },
      });
    });
  const breaker = options.breaker?.(probe) ?? noBreaker();
  return {
    enter(origin, work) {
      const open = breaker.isOpen() ? breaker.begin() : 0;
      if (typeof open !== "number") {
        work.refuse(open);
        return () => {};
      }
      const stream = queue.enter(origin, work);
      return () => {
        if (stream.state === "waits") queue.leave(stream);
      };
    },
    wasRefused: ({ rstCode }) => rstCode === constants.NGHTTP2_REFUSED_STREAM,
    suspect: (stream) => {
      for (const session of sessions) if (session.owns(stream)) session.suspect();
    },
    usedBy: queue.usedBy,
    breaker,
    authority: host,
    hostname,
    addresses: () => addresses,
    renew: (renewed) => {
      tls = renewed ?? tls;
      addresses.clear();
      for (const session of [...sessions]) session.leave();
      settle();
    },
    close: () => {
      breaker.close();
      for (const session of [...sessions]) session.destroy();
    },
  };
}

const UNSENT = { method: "POST", sent: false };
const TOO_LATE = Object.assign(new Error("no connection before the call's time was over"), { code: "ETIMEDOUT" });

function full(): Problem {
  return new Problem("OVERLOADED", "all streams to the platform that carryover may open are taken", {
    retryAfter: 1,
    options: ["upstream.*.connections"],
  });
}

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
