import type { LookupFunction } from "node:net";
import { type Dispatcher, Pool as UndiciPool } from "undici";
import { type Breaker, type BreakerProbe, noBreaker } from "./breaker.ts";
import { dial, type PoolTls, readAfterFailedWrite } from "./dial.ts";
import { failure } from "./failure.ts";

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
  /** Most connections at a time. */
  readonly connections: number;
  /** Largest head of a response (64 KiB). */
  readonly headerBytes?: number | undefined;
  /** Makes a breaker that asks by `probe`; without one every call goes out. */
  readonly breaker?: ((probe: BreakerProbe) => Breaker) | undefined;
  /** How names are looked up; by default as the machine does it. */
  readonly lookup?: LookupFunction | undefined;
}

/** The connections to one upstream; shared by translated calls and pass-through. */
export interface Pool {
  /** Sends a call. Beyond `connections` it would wait where it cannot be cancelled: get a slot of the queue first. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  readonly breaker: Breaker;
  /** Scheme, host and port, as `URL.origin`. */
  readonly origin: string;
  /** Stands before every target; begins with `/` and does not end with one, or is empty. */
  readonly basePath: string;
  /** Without brackets, where it is an IPv6 address. */
  readonly hostname: string;
  /** Where connections were made to since the last `renew`: IP addresses. */
  addresses(): ReadonlySet<string>;
  /**
   * From now on calls go over new connections, with `tls` where it is given. What is under way ends on the old
   * ones, which are then closed.
   */
  renew(tls?: PoolTls): void;
  /** Cuts what is still open. To be called when nothing is in flight any more. */
  close(): Promise<void>;
}

/**
 * Own connections, never undici's global ones: certificates are checked, HTTP/1.1 without pipelining, and idle
 * sockets go before a usual server closes them (5 s), so that a write rarely meets a stale one.
 * Throws TypeError for a `url` that is none.
 */
export function createPool(options: PoolOptions): Pool {
  const url = new URL(options.url);
  const retired = new Set<PoolGeneration>();
  let tls = options.tls;
  let current = connect(url.origin, options, tls);
  const basePath = url.pathname.replace(/\/+$/, "");
  // Its connection is its own: those for calls may all be taken by calls that hang.
  const probe = async (): Promise<boolean> => {
    const once = connect(url.origin, { ...options, connections: 1 }, tls);
    retired.add(once);
    const said = await isAnswering(once.pool, basePath);
    retired.delete(once);
    await once.pool.destroy();
    return said;
  };
  const breaker = options.breaker?.(probe) ?? noBreaker();
  return {
    dispatch: (call, handler) => {
      current.pool.dispatch(call, handler);
    },
    breaker,
    origin: url.origin,
    basePath,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    addresses: () => current.addresses,
    renew: (renewed) => {
      tls = renewed ?? tls;
      const old = current;
      current = connect(url.origin, options, tls);
      retired.add(old);
      // It is destroyed by `close` at the latest; what that makes of this is of no interest.
      old.pool.close().then(
        () => retired.delete(old),
        () => retired.delete(old),
      );
    },
    close: async () => {
      breaker.close();
      await Promise.all([current, ...retired].map(({ pool }) => pool.destroy()));
    },
  };
}

/** Connections made with the same certificates and to the same addresses. */
interface PoolGeneration {
  readonly pool: UndiciPool;
  readonly addresses: ReadonlySet<string>;
}

function connect(origin: string, options: PoolOptions, tls: PoolTls | undefined): PoolGeneration {
  const { timeouts, lookup } = options;
  const addresses = new Set<string>();
  const pool = new UndiciPool(origin, {
    connections: options.connections,
    pipelining: 1,
    maxHeaderSize: options.headerBytes ?? 64 * 1024,
    allowH2: false,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    connect: ({ protocol, hostname, port }, callback) => {
      const place = { protocol, host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
      const how = { timeoutMs: timeouts.connectMs, tls, protocols: ["http/1.1"], lookup };
      dial({ ...place, ...how }, (error, socket) => {
        if (socket?.remoteAddress !== undefined) addresses.add(socket.remoteAddress);
        if (socket === undefined) callback(error ?? new Error("no connection"), null);
        else callback(null, readAfterFailedWrite(socket));
      });
    },
  });
  return { pool, addresses };
}

/**
 * One question over `dispatcher`, without a credential; any answer will do, also an error, and also what is no HTTP. `via`
 * keeps it from going round where an upstream leads back to carryover.
 */
export async function isAnswering(dispatcher: Dispatcher, basePath: string): Promise<boolean> {
  const headers = { "user-agent": "carryover", via: "1.1 carryover" };
  const isResponse = (error: unknown) => failure(error, { method: "HEAD", sent: true }).reason === "UPSTREAM_INVALID";
  return new Promise((resolve) => {
    try {
      // Not `request`: the bundle holds no more of undici than dispatching.
      dispatcher.dispatch(
        { method: "HEAD", path: `${basePath}/`, headers },
        {
          onRequestStart: () => {},
          onResponseStart: () => resolve(true),
          onResponseData: () => {},
          onResponseEnd: () => resolve(true),
          onResponseError: (_, error) => resolve(isResponse(error)),
        },
      );
    } catch (error) {
      resolve(isResponse(error));
    }
  });
}
