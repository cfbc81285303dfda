/** Over which connections does carryover reach one upstream? */
import { type Dispatcher, Pool as UndiciPool } from "undici";

/** Contents of PEM files; what is absent is the platform's default. */
export interface PoolTls {
  readonly caFile?: Uint8Array | undefined;
  readonly certFile?: Uint8Array | undefined;
  readonly keyFile?: Uint8Array | undefined;
}

export interface PoolTimeouts {
  /** Milliseconds for TCP and TLS together. */
  readonly connectMs: number;
  /** Milliseconds from the request's last byte to the answer's head. */
  readonly headersMs: number;
  /** Milliseconds between two pieces of an answer's body. */
  readonly bodyMs: number;
}

export interface PoolOptions {
  /** Origin and base path; query, fragment and credentials are not looked at. */
  readonly url: string;
  readonly tls?: PoolTls | undefined;
  readonly timeouts: PoolTimeouts;
  /** Most connections at a time; further calls wait in line. */
  readonly connections: number;
}

/** The connections to one upstream; shared by translated calls and pass-through. */
export interface Pool {
  readonly dispatcher: Dispatcher;
  /** Scheme, host and port, as `URL.origin`. */
  readonly origin: string;
  /** Stands before every target; begins with `/` and does not end with one, or is empty. */
  readonly basePath: string;
  /** Cuts what is still open. To be called when nothing is in flight any more. */
  close(): Promise<void>;
}

/**
 * Own connections, never undici's global ones: certificates are checked, HTTP/1.1 without pipelining, and idle
 * sockets go before a usual server closes them (5 s), so that a write rarely meets a stale one (design: architecture).
 * Throws TypeError for a `url` that is none.
 */
export function createPool(options: PoolOptions): Pool {
  const url = new URL(options.url);
  const { tls, timeouts } = options;
  const dispatcher = new UndiciPool(url.origin, {
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    connect: {
      timeout: timeouts.connectMs,
      rejectUnauthorized: true,
      ...(tls?.caFile === undefined ? {} : { ca: Buffer.from(tls.caFile) }),
      ...(tls?.certFile === undefined ? {} : { cert: Buffer.from(tls.certFile) }),
      ...(tls?.keyFile === undefined ? {} : { key: Buffer.from(tls.keyFile) }),
    },
  });
  return {
    dispatcher,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ""),
    close: () => dispatcher.destroy(),
  };
}
