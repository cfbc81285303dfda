/** A listener over a raw upstream, put together for one test. */

import { createProcessorShare } from "../../../src/edge/processor-share.ts";
import { SINGLE_SHARE } from "../../../src/model/credential-shares.ts";
import type { Exchange } from "../../../src/model/exchange.ts";
import { unlimitedMemory } from "../../../src/model/memory-budget.ts";
import type { Plan } from "../../../src/model/request.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../../../src/server/server.ts";
import type { CallQueue } from "../../../src/upstream/call-queue.ts";
import { createPool, type PoolOptions } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { later } from "../../support/take-down.ts";
import { createDouble, type Double, type Script } from "./double.ts";

export { later, listening, takeDownAfterAll, takeDownAfterEach } from "../../support/take-down.ts";

export interface Rig {
  readonly port: number;
  readonly double: Double;
  readonly listener: HttpServer;
  /** One per request, in the order in which they ended. */
  readonly seen: Exchange[];
  /** Resolves with the exchange of the request that ended as number `count`. */
  ended(count: number): Promise<Exchange>;
}

type Choices = Partial<HttpServerOptions> & {
  readonly script?: Script;
  readonly pool?: Partial<PoolOptions>;
  /** Where calls wait; by default nowhere. */
  readonly calls?: CallQueue;
};

export const LIMITS = {
  bodyBytes: 64 * 1024,
  headerBytes: 16 * 1024,
  uriBytes: 8 * 1024,
  inFlight: 100,
  requestSeconds: 10,
};
/** Nothing waits for memory, and all callers are one. */
export const BODIES = {
  minRate: 1024,
  graceMs: 10_000,
  stallMs: 5_000,
  heldBytes: 1024 * 1024,
  memory: unlimitedMemory(),
  callers: SINGLE_SHARE,
  processorShare: createProcessorShare(() => performance.now()),
};
export const POOL = { timeouts: { connectMs: 2_000, headersMs: 5_000, bodyMs: 5_000 }, connections: 16 };

/** Everything passes through to the double, unless `decide` says otherwise. */
export async function rig(choices: Choices = {}): Promise<Rig> {
  const { script, pool: poolChoices, calls, ...rest } = choices;
  const double = await createDouble(script ?? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL, ...poolChoices });
  later(pool.close);
  const seen: Exchange[] = [];
  const waiting = new Set<() => void>();
  let ids = 0;
  const listener = createHttpServer({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    limits: LIMITS,
    trustedProxies: [],
    decide: ({ target }) => pass(target),
    upstreams: { v2: createStream(pool, createRetryBudget(), calls) },
    observe: (exchange) => {
      seen.push(exchange);
      for (const look of [...waiting]) look();
    },
    newRequestId: () => `id-${++ids}`,
    now: () => performance.now(),
    ...rest,
  });
  const { url } = await listener.listen();
  later(async () => {
    await listener.close(0);
  });
  const ended = (count: number) =>
    new Promise<Exchange>((resolve) => {
      const look = () => {
        const exchange = seen[count - 1];
        if (exchange === undefined) return;
        waiting.delete(look);
        resolve(exchange);
      };
      waiting.add(look);
      look();
    });
  return { port: Number(new URL(url).port), double, listener, seen, ended };
}

/** Passes `target` through to v2. */
export function pass(target: string): Plan {
  return { kind: "pass", upstream: "v2", target };
}
