/** Over which connections are the upstreams reached? */
import type { Config } from "./config.ts";
import type { Upstream } from "./model/exchange.ts";
import type { Send } from "./model/message.ts";
import type { Stream } from "./model/stream.ts";
import type { V2 } from "./tools.ts";
import { type Budget, createBudget } from "./upstream/budget.ts";
import { createSend } from "./upstream/client.ts";
import { createPool, type Pool } from "./upstream/pool.ts";
import { createStream } from "./upstream/stream.ts";

/** Where an upstream is and how it is called. */
type Settings = NonNullable<Config["upstream"]["v1"]>;

/** What requests of clients go out on. */
export interface Upstreams {
  readonly v2: V2;
  readonly streams: ReadonlyMap<Upstream, Stream>;
  close(): Promise<void>;
}

/** What comparisons go out on: connections of their own, so that they take none from clients. */
export interface BackgroundUpstreams {
  readonly v1: Send;
  readonly v2: V2;
  close(): Promise<void>;
}

/** Largest answer of one call that is read whole. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** One pool per upstream, shared by translated calls and pass-through. */
export function createUpstreams(config: Config): Upstreams {
  const streams = new Map<Upstream, Stream>();
  const pools: Pool[] = [];
  const open = (name: Upstream, settings: Settings, budget: Budget): Pool => {
    const pool = createPool(poolOptions(settings, settings.connections));
    pools.push(pool);
    streams.set(name, createStream(pool, budget));
    return pool;
  };
  const { v1, v2, sts } = config.upstream;
  // One per upstream: translated calls and pass-through together must not repeat more than it allows.
  const budget = createBudget();
  const send = createSend(open("v2", v2, budget), { maxResponseBytes: MAX_RESPONSE_BYTES });
  if (v1 !== undefined) open("v1", v1, createBudget());
  if (sts !== undefined) open("sts", sts, createBudget());
  return { v2: { send, budget }, streams, close: () => closeAll(pools) };
}

/** `connections` to each upstream at most; native's answers may have `answerBytes`. */
export function createBackgroundUpstreams(
  { v1, v2 }: { readonly v1: Settings; readonly v2: Settings },
  connections: number,
  answerBytes: number,
): BackgroundUpstreams {
  const [native, platform] = [createPool(poolOptions(v1, connections)), createPool(poolOptions(v2, connections))];
  return {
    v1: createSend(native, { maxResponseBytes: answerBytes }),
    v2: { send: createSend(platform, { maxResponseBytes: MAX_RESPONSE_BYTES }), budget: createBudget() },
    close: () => closeAll([native, platform]),
  };
}

function poolOptions({ url, tls, timeouts }: Settings, connections: number): Parameters<typeof createPool>[0] {
  return {
    url,
    tls,
    connections,
    timeouts: {
      connectMs: timeouts.connectSeconds * 1000,
      headersMs: timeouts.headersSeconds * 1000,
      bodyMs: timeouts.bodySeconds * 1000,
    },
  };
}

async function closeAll(pools: readonly Pool[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.close()));
}
