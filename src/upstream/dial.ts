/** Opens connections: TCP to all addresses of a name, without giving up the slow ones (RFC 8305), and TLS on top of it. */
import { lookup as ofMachine } from "node:dns";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Contents of PEM files; what is absent is the platform's default. */
export interface PoolTls {
  readonly caFile?: Uint8Array | undefined;
  readonly certFile?: Uint8Array | undefined;
  readonly keyFile?: Uint8Array | undefined;
}

export interface DialOptions {
  /** `https:` for TLS. */
  readonly protocol: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Milliseconds for everything together. */
  readonly timeoutMs: number;
  readonly tls?: PoolTls | undefined;
  /** For TLS, in the order of preference (ALPN). */
  readonly protocols: readonly string[];
  /** How names are looked up; by default as the machine does it. */
  readonly lookup?: LookupFunction | undefined;
}

type Dialled = (error: Error | undefined, socket: Socket | undefined) => void;

/** After so long without a connection the next address is tried as well. The one before it goes on. */
const ATTEMPT_MS = 250;
const KEEP_ALIVE_MS = 60_000;

/**
 * Calls `done` once, with a socket that is connected and secure, or with an error that has a `code`. Returns a function that gives the
 * attempt up.
 */
export function dial(options: DialOptions, done: Dialled): () => void {
  const { protocol, host, timeoutMs } = options;
  let giveUp = (): void => {};
  let over = false;
  const end: Dialled = (error, socket) => {
    if (over) {
      socket?.destroy();
      return;
    }
    over = true;
    clearTimeout(timer);
    done(error, socket);
  };
  const stop = (error: Error): void => {
    giveUp();
    end(error, undefined);
  };
  const timer = setTimeout(() => {
    stop(Object.assign(new Error(`${host}: no connection within ${timeoutMs} ms`), { code: "ETIMEDOUT" }));
  }, timeoutMs);
  giveUp = connectAny(options, (error, socket) => {
    if (over || socket === undefined || protocol !== "https:") return end(error, socket);
    const secured = secure(socket, options, end);
    giveUp = () => secured.destroy();
  });
  return () => stop(new Error("not wanted any more"));
}

/** A TCP connection to the first address that takes one. */
function connectAny({ host, port, lookup = ofMachine }: DialOptions, done: Dialled): () => void {
  const trying = new Set<Socket>();
  const errors: Error[] = [];
  let waiting: readonly string[] = [];
  let next: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(next);
    waiting = [];
    for (const socket of trying) socket.destroy();
    trying.clear();
  };
  const attempt = (): void => {
    clearTimeout(next);
    const [address, ...rest] = waiting;
    waiting = rest;
    const socket = connectTcp({
      host: address,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    trying.add(socket);
    // This listener stays: without one, an error would end the process.
    socket.on("error", (error) => {
      if (!trying.delete(socket)) return;
      errors.push(error);
      if (waiting.length > 0) attempt();
      else if (trying.size === 0) done(errorOf(errors), undefined);
    });
    socket.once("connect", () => {
      if (!trying.delete(socket)) return;
      stop();
      done(undefined, socket);
    });
    if (rest.length > 0) next = setTimeout(attempt, ATTEMPT_MS);
  };
  let stopped = false;
  const begin = (addresses: readonly string[]): void => {
    if (stopped) return;
    waiting = addresses;
    attempt();
  };
  if (isIP(host) !== 0) begin([host]);
  else {
    lookup(host, { all: true }, (error, found) => {
      const all = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
      if (error !== null) done(error, undefined);
      else if (all.length === 0)
        done(Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }), undefined);
      else begin(alternating(all));
    });
  }
  return () => {
    stopped = true;
    stop();
  };
}

/** The families take turns, beginning with the first one's; within each the order stays. */
function alternating(addresses: readonly string[]): readonly string[] {
  const first = isIP(addresses[0] ?? "");
  const own = addresses.filter((address) => isIP(address) === first);
  const other = addresses.filter((address) => isIP(address) !== first);
  const turns = Array.from({ length: Math.max(own.length, other.length) }, (_, at) => [own[at], other[at]]);
  return turns.flat().filter((address) => address !== undefined);
}

function errorOf(errors: readonly Error[]): Error {
  const [first] = errors;
  if (first === undefined || errors.length === 1) return first ?? new Error("no connection");
  const code = "code" in first ? first.code : undefined;
  return Object.assign(new AggregateError(errors, `no address takes a connection: ${first.message}`), { code });
}

function secure(socket: Socket, { host, tls, protocols }: DialOptions, done: Dialled): Socket {
  const secured = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: [...protocols],
    rejectUnauthorized: true,
    ...(tls?.caFile === undefined ? {} : { ca: Buffer.from(tls.caFile) }),
    ...(tls?.certFile === undefined ? {} : { cert: Buffer.from(tls.certFile) }),
    ...(tls?.keyFile === undefined ? {} : { key: Buffer.from(tls.keyFile) }),
  });
  secured.on("error", (error) => done(error, undefined));
  secured.once("close", () =>
    done(Object.assign(new Error("cut off in the handshake"), { code: "ECONNRESET" }), undefined),
  );
  secured.once("secureConnect", () => done(undefined, secured));
  return secured;
}

/** So long the other side may take to say why it does not read any more. */
const LAST_WORDS_MS = 1_000;
const BROKEN: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Makes `socket` outlive a failed write for a moment. An upstream that refuses a long body closes the connection behind its response; Node
 * would end the socket with the write that meets this, before the response is read.
 */
export function readAfterFailedWrite<S extends Socket>(socket: S): S {
  let timer: NodeJS.Timeout | undefined;
  socket.once("close", () => clearTimeout(timer));
  const later =
    (told: (error?: Error | null) => void) =>
    (error?: Error | null): void => {
      if (error == null || !("code" in error) || !BROKEN.has(String(error.code))) {
        told(error);
        return;
      }
      // Nothing more is written meanwhile: the one before has not been acknowledged.
      timer = setTimeout(() => told(error), LAST_WORDS_MS);
    };
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, told) => write(chunk, encoding, later(told));
  const writev = socket._writev?.bind(socket);
  if (writev !== undefined) socket._writev = (chunks, told) => writev(chunks, later(told));
  return socket;
}
