/** Over which connection do the probes reach one upstream? (The same pool, send and retry as `serve`.) */
import type { Config } from "../config.ts";
import { compose, type HeaderList, type SendLayer } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { createStopper, type Signal } from "../model/signal.ts";
import { createBudget } from "../upstream/budget.ts";
import { createSend } from "../upstream/client.ts";
import { pause } from "../upstream/pause.ts";
import { createPool } from "../upstream/pool.ts";
import { createRetry } from "../upstream/retry.ts";
import { type Api, answerOf } from "./api.ts";

/** Where one upstream is and how it is called. */
export type Settings = NonNullable<Config["upstream"]["v1"]>;

export interface Connection {
  readonly api: Api;
  close(): Promise<void>;
}

/** Largest answer that is read: that of `serve`. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** `token` goes out as a bearer token with every call; without one nothing does. */
export function createConnection(
  { url, tls, timeouts }: Settings,
  token: string | undefined,
  signal: Signal,
  random: () => number,
): Connection {
  const pool = createPool({
    url,
    tls,
    connections: 4,
    timeouts: {
      connectMs: timeouts.connectSeconds * 1000,
      headersMs: timeouts.headersSeconds * 1000,
      bodyMs: timeouts.bodySeconds * 1000,
    },
  });
  const retry = createRetry({ budget: createBudget(), now: () => Date.now(), random, sleep: pause });
  const patience = (timeouts.connectSeconds + timeouts.headersSeconds + timeouts.bodySeconds) * 1000;
  const send = compose([bounded(patience), retry], createSend(pool, { maxResponseBytes: MAX_RESPONSE_BYTES }));
  // A write that was begun is waited for, also when the check is stopped: what nobody waits for cannot be tidied up.
  const unstopped = createStopper().signal;
  const headers: HeaderList = [
    ["accept", "application/json"],
    ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
  ];
  return {
    api: {
      get: async (target) => answerOf(await send({ method: "GET", target, headers }, { signal })),
      async write(method, target, body) {
        signal.throwIfAborted();
        const typed: HeaderList = body === undefined ? headers : [...headers, ["content-type", "application/json"]];
        const bytes = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) };
        return answerOf(await send({ method, target, headers: typed, ...bytes }, { signal: unstopped }));
      },
    },
    close: () => pool.close(),
  };
}

/**
 * Gives a call up after `ms`, repeat included: an answer that comes byte by byte is never late for the timeouts of the pool,
 * and nobody else has a deadline here.
 */
function bounded(ms: number): SendLayer {
  return (next) =>
    async (request, { signal }) => {
      const { signal: own, abort } = createStopper();
      const stop = () => abort(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      const timer = setTimeout(() => abort(new Problem("UPSTREAM_TIMEOUT", "the platform did not answer in time")), ms);
      try {
        return await next(request, { signal: own });
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    };
}
