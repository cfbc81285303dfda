/** One HTTP/2 session to an upstream: how it begins, and whether it is alive. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import type { Sweep } from "../edge/deadlines.ts";
import { endBetweenReads } from "../edge/http2-session.ts";
import { type DialOptions, dial } from "../upstream/dial.ts";
import { KEEP_SPACES } from "./call.ts";

export interface SessionOptions {
  readonly origin: string;
  /** `timeoutMs`: for TCP, TLS and the first HTTP/2 frame together. */
  readonly place: Omit<DialOptions, "protocols" | "lookup">;
  /** Largest block of response headers. */
  readonly headerBytes: number;
  /** Milliseconds of silence before a ping. Without it, only a session with calls is pinged. */
  readonly pingMs?: number | undefined;
  readonly patience?: Partial<SessionPatience> | undefined;
  readonly silence: Sweep<GrpcSession>;
  readonly now: () => number;
}

/** Milliseconds. */
export interface SessionPatience {
  /** Longest silence after a call. */
  readonly silentMs: number;
  /** From a ping to its acknowledgement. */
  readonly pongMs: number;
}

export interface SessionListener {
  /** Its state has changed, or the number of streams that it takes. */
  changed(session: GrpcSession): void;
  /** It could not be connected. */
  failed(session: GrpcSession, error: unknown): void;
  connected(address: string | undefined): void;
}

export interface GrpcSession {
  /** `avoided`: it has to show that it is alive. `left`: it takes no further streams. */
  readonly state: "connecting" | "ready" | "avoided" | "left";
  /** Open streams. */
  readonly streams: number;
  /** Streams that it takes at a time; 0 until it is connected. */
  limit(): number;
  /** Makes a stream. Throws for fields that node:http2 does not send, and when the session has ended. */
  request(headers: OutgoingHttpHeaders, closed: () => void): ClientHttp2Stream;
  owns(stream: ClientHttp2Stream): boolean;
  /** When its silence is looked at. */
  readonly lookAt: number;
  look(): void;
  /** Avoids it until it acknowledges a ping, and ends it if it does not. */
  suspect(): void;
  /** Ends it once its streams are over. */
  leave(): void;
  destroy(): void;
}

const PATIENCE: SessionPatience = { silentMs: 3_000, pongMs: 5_000 };
/** A grpc-go server closes the connection at the fourth ping without a response in between, within five minutes. */
const MOST_PINGS = 3;
/** Fields of one response; their bytes have a limit of their own. */
const MOST_FIELDS = 2_000;
/** MiB of one session: hundreds of calls share it, and Node refuses streams beyond. */
const SESSION_MIB = 64;

export function openSession(options: SessionOptions, on: SessionListener): GrpcSession {
  const { origin, place, headerBytes, pingMs, silence, now } = options;
  const { silentMs, pongMs } = { ...PATIENCE, ...options.patience };
  const began = performance.now();
  let state: GrpcSession["state"] = "connecting";
  let http2: ClientHttp2Session | undefined;
  let socket: Socket | undefined;
  let streams = 0;
  /** Pings since a stream was served to its end. */
  let pings = 0;
  let pinging: NodeJS.Timeout | undefined;
  let lookAt = 0;
  /** Bytes that had been read when a call began, while it is not known whether more have come. */
  let readBefore: number | undefined;
  const turn = (next: GrpcSession["state"]): void => {
    if (state === next || state === "left") return;
    state = next;
    on.changed(session);
  };
  const left = (): void => {
    silence.delete(session);
    turn("left");
  };
  /** Where carryover itself was held up, the acknowledgement is there and still unread: what has come is read first. */
  const unacknowledged = (): void => {
    const waited = pinging;
    setImmediate(() => {
      if (pinging === waited) http2?.destroy();
    });
  };
  const ping = (): void => {
    if (http2 === undefined || http2.destroyed || pinging !== undefined) return;
    const ended = (error?: Error | null): void => {
      clearTimeout(pinging);
      pinging = undefined;
      if (error == null && state === "avoided") turn("ready");
    };
    pinging = setTimeout(unacknowledged, pongMs);
    if (!http2.ping(ended)) ended();
  };
  const listen = (): void => {
    readBefore = socket?.bytesRead;
    lookAt = now() + silentMs;
    silence.add(session);
  };
  const session: GrpcSession = {
    get state() {
      return state;
    },
    get streams() {
      return streams;
    },
    get lookAt() {
      return lookAt;
    },
    limit: () => http2?.remoteSettings.maxConcurrentStreams ?? 0,
    request(headers, closed) {
      if (http2 === undefined) throw new Error("the session is not connected");
      const stream = http2.request(headers);
      streams++;
      stream.on("close", () => {
        streams--;
        if (stream.rstCode === 0) pings = 0;
        closed();
      });
      if (readBefore === undefined) listen();
      return stream;
    },
    owns: (stream) => stream.session === http2,
    look() {
      silence.delete(session);
      const isSilent = socket?.bytesRead === readBefore;
      readBefore = undefined;
      // Bytes may have come before the session broke: node:http2 stops reading after some frames that break HTTP/2, and tells nobody.
      if (!isSilent && streams > 0) listen();
      // Not at each silent call: the server may be slow, and count pings.
      if (isSilent && pings === 0) session.suspect();
    },
    suspect() {
      if (state !== "ready") return;
      if (pings === MOST_PINGS) {
        session.leave();
        return;
      }
      pings++;
      turn("avoided");
      ping();
    },
    leave() {
      left();
      if (http2 === undefined) giveUp();
      else http2.close();
    },
    destroy() {
      left();
      if (http2 === undefined) giveUp();
      else http2.destroy();
    },
  };
  const fail = (error: unknown): void => {
    if (state !== "connecting") return;
    state = "left";
    http2?.destroy();
    on.failed(session, error);
  };
  const giveUp = dial({ ...place, protocols: ["h2"] }, (error, dialled) => {
    if (dialled === undefined) return fail(error);
    socket = dialled;
    on.connected(dialled.remoteAddress);
    http2 = connect(origin, {
      createConnection: () => dialled,
      settings: { enablePush: false, maxHeaderListSize: headerBytes },
      maxHeaderListPairs: MOST_FIELDS,
      ...KEEP_SPACES,
      maxSessionMemory: SESSION_MIB,
    });
    endBetweenReads(http2, () => {
      if (state !== "connecting") left();
    });
    const pulse = pingMs === undefined ? undefined : beat(pingMs, dialled, ping);
    const late = setTimeout(
      () => fail(Object.assign(new Error("the upstream does not speak HTTP/2 in time"), { code: "ETIMEDOUT" })),
      Math.max(1, place.timeoutMs - (performance.now() - began)),
    );
    // The upstream has said how many streams it takes: before that, a crowd would run into REFUSED_STREAM.
    http2.on("remoteSettings", () => {
      clearTimeout(late);
      if (state === "connecting") turn("ready");
      else on.changed(session);
    });
    // Streams tell what goes wrong with them.
    http2.on("error", (error) => {
      fail(error);
      left();
    });
    // nghttp2 has closed the streams that the upstream did not look at, with REFUSED_STREAM.
    http2.on("goaway", left);
    http2.once("close", () => {
      clearTimeout(late);
      clearTimeout(pinging);
      clearInterval(pulse);
      fail(new Error("the upstream closed the connection"));
      left();
    });
  });
  return session;
}

/** Calls `ping` after each `ms` without a byte. */
function beat(ms: number, socket: Socket, ping: () => void): NodeJS.Timeout {
  let before = -1;
  return setInterval(() => {
    if (socket.bytesRead === before) ping();
    before = socket.bytesRead;
  }, ms).unref();
}
