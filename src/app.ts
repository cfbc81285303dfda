/** How do the parts become one running carryover? (The composition root: every part is built once, here.) */
import { randomBytes, randomUUID } from "node:crypto";
import { type Admin, createAdmin, type View } from "./admin/server.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Config } from "./config.ts";
import { createDecisions } from "./decide.ts";
import { createExplainView } from "./explain/view.ts";
import { createListener, type Listener } from "./listener/server.ts";
import type { Exchange, Upstream } from "./model/exchange.ts";
import type { Stream } from "./model/stream.ts";
import { createLog, type Log } from "./observe/log.ts";
import { createMetrics } from "./observe/metrics.ts";
import { createUnknownFields } from "./observe/unknown-fields.ts";
import { createShare } from "./share/share.ts";
import { createToolbox, type V2 } from "./tools.ts";
import { type Budget, createBudget } from "./upstream/budget.ts";
import { createSend } from "./upstream/client.ts";
import { createPool, type Pool } from "./upstream/pool.ts";
import { createStream } from "./upstream/stream.ts";
import { VERSION } from "./version.ts";

export interface App {
  /** Opens both ports. Rejects when one cannot be had; then neither is open. */
  listen(): Promise<{ readonly url: string; readonly adminUrl: string }>;
  /** Takes no more requests, finishes what is in flight (for at most `graceMs`), closes everything. */
  close(graceMs: number): Promise<void>;
}

/** What is not configuration: where the log goes, and who else wants to see each request. */
export interface AppOptions {
  readonly log?: Log;
  /** Called once per request when it is over (the tour shows v2 calls with it). */
  readonly onExchange?: (exchange: Exchange) => void;
}

const LOG_FLUSH_MS = 1_000;
/** Largest answer of one call that is read whole. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** Builds everything; nothing listens yet. Throws for a catalogue that contradicts itself or an address that is none. */
export function createApp(config: Config, catalogue: Catalogue, options: AppOptions = {}): App {
  const log = options.log ?? createLog({ level: config.log.level });
  const upstreams = createUpstreams(config);
  const toolbox = createToolbox(config, upstreams.v2);
  const state: { ready: boolean; inFlight: () => number } = { ready: false, inFlight: () => 0 };
  const metrics = createMetrics({
    version: VERSION,
    resources: knownLabels(catalogue),
    inFlight: () => state.inFlight(),
    droppedLogLines: () => log.dropped(),
    lists: toolbox.lists,
  });
  const unknownFields = createUnknownFields();
  const share = createShare({
    ...config.lists.share,
    now: () => performance.now(),
    wall: () => Date.now(),
    secret: randomBytes(32),
    origin: new URL(config.upstream.v2.url).origin,
    ruleVersion: `${VERSION} ${catalogue.version}`,
  });
  const observe = (exchange: Exchange): void => {
    share.over(exchange);
    metrics.observe(exchange);
    unknownFields.observe(exchange);
    log.request(exchange);
    options.onExchange?.(exchange);
  };
  const listener = createListener({
    ...config.listen,
    limits: config.limits,
    decide: share.decide(createDecisions(config, catalogue)(toolbox.tools)),
    upstreams: Object.fromEntries(upstreams.streams),
    observe,
    newRequestId: () => randomUUID(),
    now: () => performance.now(),
    log: (message, cause) => log.error(message, cause),
  });
  state.inFlight = listener.inFlight;
  const admin = createAdmin({
    host: config.admin.host,
    port: config.admin.port,
    ...(config.admin.token === undefined ? {} : { token: config.admin.token }),
    metrics,
    ready: () => state.ready,
    views: new Map<string, View>([
      ["unknown-fields", () => unknownFields.view()],
      ["explain", createExplainView(config, catalogue)],
    ]),
    log: (message, cause) => log.error(message, cause),
  });
  return lifeOf(listener, admin, state, async () => {
    await Promise.all(upstreams.pools.map((pool) => pool.close()));
    await log.flush(LOG_FLUSH_MS);
  });
}

/** What a listener and an admin port have in common with the app: they open and close together. */
function lifeOf(listener: Listener, admin: Admin, state: { ready: boolean }, closeRest: () => Promise<void>): App {
  const close = async (graceMs: number): Promise<void> => {
    state.ready = false;
    await listener.close(graceMs);
    await admin.close();
    await closeRest();
  };
  return {
    async listen() {
      try {
        const { url: adminUrl } = await admin.listen();
        const { url } = await listener.listen();
        state.ready = true;
        return { url, adminUrl };
      } catch (error) {
        // One port open and the other not would keep a process alive that serves nobody.
        await close(0);
        throw error;
      }
    },
    close,
  };
}

interface Upstreams {
  readonly v2: V2;
  readonly streams: ReadonlyMap<Upstream, Stream>;
  readonly pools: readonly Pool[];
}

/** One pool per upstream, shared by translated calls and pass-through. */
function createUpstreams(config: Config): Upstreams {
  const streams = new Map<Upstream, Stream>();
  const pools: Pool[] = [];
  const open = (
    name: Upstream,
    settings: Config["upstream"]["v2"] | NonNullable<Config["upstream"]["v1"]>,
    budget: Budget,
  ): Pool => {
    const { timeouts } = settings;
    const pool = createPool({
      url: settings.url,
      tls: settings.tls,
      connections: settings.connections,
      timeouts: {
        connectMs: timeouts.connectSeconds * 1000,
        headersMs: timeouts.headersSeconds * 1000,
        bodyMs: timeouts.bodySeconds * 1000,
      },
    });
    pools.push(pool);
    streams.set(name, createStream(pool, budget));
    return pool;
  };
  // One per upstream: translated calls and pass-through together must not repeat more than it allows.
  const budget = createBudget();
  const send = createSend(open("v2", config.upstream.v2, budget), { maxResponseBytes: MAX_RESPONSE_BYTES });
  if (config.upstream.v1 !== undefined) open("v1", config.upstream.v1, createBudget());
  if (config.upstream.sts !== undefined) open("sts", config.upstream.sts, createBudget());
  return { v2: { send, budget }, streams, pools };
}

function knownLabels(catalogue: Catalogue): { resource: string; operations: string[] }[] {
  const own = catalogue.resources.map(({ name, operations }) => ({
    resource: name,
    operations: operations.map((operation) => operation.name),
  }));
  const others = catalogue.natives.flatMap(({ operations }) =>
    operations.map(({ resource, name }) => ({ resource, operations: [name] })),
  );
  return [...own, ...others];
}
