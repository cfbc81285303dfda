/** The connections, queues and breakers of all upstreams. */

import type { Config } from "../config/config.ts";
import { later, TIME } from "../model/clock.ts";
import type { RecordEvent } from "../model/event.ts";
import type { Upstream } from "../model/exchange.ts";
import { compose, type Send, type StreamSend } from "../model/http.ts";
import { breakerEvent, createBreaker, type UpstreamSessions } from "../upstream/breaker.ts";
import { type CallQueue, createCallQueue, type LongQueue } from "../upstream/call-queue.ts";
import type { ConnectionRenewal, EventLog } from "../upstream/certificate-renewal.ts";
import { createSend, MAX_RESPONSE_BYTES } from "../upstream/client.ts";
import { createPool, type Pool } from "../upstream/pool.ts";
import { createRetryBudget, type RetryBudget } from "../upstream/retry.ts";
import { createStream } from "../upstream/stream.ts";
import type { V2Upstream } from "./calls.ts";

/** Where an upstream is and how it is called. */
type UpstreamOptions = NonNullable<Config["upstream"]["v1"]>;

/** What requests of clients go out on. */
export interface Upstreams {
  readonly v2: V2Upstream;
  readonly streams: ReadonlyMap<Upstream, StreamSend>;
  /** Where calls wait. */
  readonly queues: ReadonlyMap<Upstream, CallQueue>;
  /** Most connections to each. */
  readonly connections: Partial<Readonly<Record<Upstream, number>>>;
  /** Adds the sessions of the gRPC port. */
  join(sessions: UpstreamSessions): void;
  /** Of each: whether calls to it, by any protocol, fail at once at present. */
  breakers(): ReadonlyMap<Upstream, boolean>;
  /** Streams that `credential` has or waits for. */
  streamsOf(credential: string): number;
  close(): Promise<void>;
}

/** What comparisons go out on: connections of their own, so that they take none from clients. */
export interface BackgroundUpstreams {
  readonly v1: Send;
  readonly v2: V2Upstream;
  close(): Promise<void>;
}

/** What all connections have in common. */
export interface UpstreamParts {
  readonly renewal: Pick<ConnectionRenewal, "attach">;
  /** `limits.responseHeaderBytes`. */
  readonly headerBytes: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** One pool and one breaker per upstream, shared by translated calls and pass-through. */
export function createUpstreams(
  config: Config,
  parts: UpstreamParts & {
    readonly log: EventLog;
    readonly record: RecordEvent;
    readonly accepted?: (credential: string) => boolean;
  },
): Upstreams {
  const streams = new Map<Upstream, StreamSend>();
  const pools = new Map<Upstream, Pool>();
  const queues = new Map<Upstream, CallQueue>();
  const { readers: start, readersPerUpstream: pages } = config.lists;
  const open = (name: Upstream, settings: UpstreamOptions, budget: RetryBudget): { pool: Pool; queue: CallQueue } => {
    const pool = poolOf(name, settings, settings.connections, parts, logBreaker(parts, name));
    const long = logLongQueue(parts.log, name);
    const queue = createCallQueue({
      connections: settings.connections,
      pages,
      start,
      ...TIME,
      accepted: parts.accepted,
      busy: createLoopUtilization(),
      long,
    });
    pools.set(name, pool);
    queues.set(name, queue);
    streams.set(name, createStream(pool, budget, queue));
    return { pool, queue };
  };
  const { v1, v2, sts } = config.upstream;
  // One per upstream: translated calls and pass-through together must not repeat more than it allows.
  const budget = createRetryBudget();
  const platform = open("v2", v2, budget);
  const send = createSend(platform.pool, { maxResponseBytes: MAX_RESPONSE_BYTES });
  if (v1 !== undefined) open("v1", v1, createRetryBudget());
  if (sts !== undefined) open("sts", sts, createRetryBudget());
  const joined: UpstreamSessions[] = [];
  return {
    v2: { send, budget, calls: platform.queue },
    streams,
    queues,
    connections: { v2: v2.connections, v1: v1?.connections ?? 0, sts: sts?.connections ?? 0 },
    join: (sessions) => joined.push(sessions),
    breakers: () => {
      const open = new Map([...pools].map(([name, { breaker }]) => [name, breaker.isOpen()]));
      for (const { breakers } of joined)
        for (const [name, isOpen] of breakers()) open.set(name, isOpen || open.get(name) === true);
      return open;
    },
    streamsOf: (credential) => joined.reduce((sum, { streamsOf }) => sum + streamsOf(credential), 0),
    close: () => closeAll([...pools.values()]),
  };
}

/**
 * `connections` to each upstream at most; native's answers may have `answerBytes`. Calls take places of the same queues as those of
 * clients, but only idle ones. Their breakers are their own: failures of comparisons must not keep clients out.
 */
export function createBackgroundUpstreams(
  { v1, v2 }: { readonly v1: UpstreamOptions; readonly v2: UpstreamOptions },
  connections: number,
  answerBytes: number,
  parts: UpstreamParts & { readonly queues: Upstreams["queues"] },
): BackgroundUpstreams {
  const { queues } = parts;
  const [native, platform] = [poolOf("v1", v1, connections, parts), poolOf("v2", v2, connections, parts)];
  const waits = queues.get("v1")?.layer("background");
  return {
    v1: compose(waits === undefined ? [] : [waits], createSend(native, { maxResponseBytes: answerBytes })),
    v2: {
      send: createSend(platform, { maxResponseBytes: MAX_RESPONSE_BYTES }),
      budget: createRetryBudget(),
      calls: queues.get("v2"),
    },
    close: () => closeAll([native, platform]),
  };
}

/** For which share of the time since the last call the event loop was busy. */
function createLoopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const before = last;
    last = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(last, before).utilization;
  };
}

/** One line while calls wait for long. */
function logLongQueue(log: EventLog, upstream: Upstream): (facts: LongQueue) => void {
  return ({ waiting, longestSeconds, refused }) => {
    const seconds = Math.round(longestSeconds * 10) / 10;
    log.warn("calls to an upstream wait in the queue", undefined, {
      upstream,
      waiting,
      longestSeconds: seconds,
      refused,
    });
  };
}

type BreakerListener = NonNullable<Parameters<typeof createBreaker>[0]["turned"]>;

/** Logs when an upstream becomes unreachable, and when it is back. */
function logBreaker(
  { log, record }: { readonly log: EventLog; readonly record: RecordEvent },
  upstream: Upstream,
): BreakerListener {
  return (open, { failures, ms }) => {
    const seconds = Math.round(ms / 1_000);
    const event = record(breakerEvent(upstream, open, { failures, seconds }));
    const facts = { upstream, failures, seconds, event };
    if (open)
      log.error(
        "circuit breaker open: an upstream does not respond, calls to it fail at once until it does",
        undefined,
        facts,
      );
    else log.info("circuit breaker closed: the upstream responds again", facts);
  };
}

function poolOf(
  name: Upstream,
  { url, tls, timeouts, breaker }: UpstreamOptions,
  connections: number,
  { renewal, headerBytes, now, random }: UpstreamParts,
  turned?: BreakerListener,
): Pool {
  const pool = createPool({
    url,
    tls,
    connections,
    headerBytes,
    timeouts: {
      connectMs: timeouts.connectSeconds * 1000,
      headersMs: timeouts.headersSeconds * 1000,
      bodyMs: timeouts.bodySeconds * 1000,
    },
    ...(breaker ? { breaker: (probe) => createBreaker({ now, random, later, probe, turned }) } : {}),
  });
  renewal.attach(name, pool);
  return pool;
}

async function closeAll(pools: readonly Pool[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.close()));
}
