/** What the operator's page shows, gathered from the parts that know it. Loaded with the first page that is asked for. */
import { hostname } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { fleetOf } from "../fleet/fleet.ts";
import { withPeers } from "../fleet/peers.ts";
import { createStatus } from "../fleet/status.ts";
import { TIERS } from "../history/buckets.ts";
import type { EventHistory } from "../history/events.ts";
import type { AskedTimes } from "../history/requests.ts";
import { type Series, type SeriesSource, seriesOf } from "../history/series.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import { mergeSnapshots } from "../ledger/snapshot.ts";
import { isJsonObject, member } from "../model/json.ts";
import type { MadeUpPast, PageData, PageLoad, PageSample } from "../page/data.ts";
import type { Metrics, MetricValue } from "../telemetry/metrics.ts";
import type { Progress } from "../telemetry/progress.ts";
import { VERSION } from "../version.ts";
import type { Migration } from "./migration.ts";
import { pageCost } from "./page-cost.ts";

const [, HOURS, DAYS] = TIERS;
const SHOWN_HOURS = 14 * 24;
const SHOWN_DAYS = 180;
const DAY_MS = 86_400_000;
/** The plot is as of the last of these moments. */
const SERIES_MS = 10_000;
export interface PageSources {
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly migration: Migration;
  readonly history: Pick<EventHistory, "select" | "since">;
  readonly instance: string;
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly progress: (times: AskedTimes) => Progress;
  readonly metrics: Pick<Metrics, "values">;
  /** Of the demo: a past that is shown here only. */
  readonly past: ((at: number) => MadeUpPast) | undefined;
  readonly load: () => Omit<PageLoad, "refused" | "loopDelay" | "residentBytes">;
}

/** Returns what gathers the data once. */
export function createGatherer({
  config,
  migration,
  history,
  instance,
  wall,
  progress,
  metrics,
  past,
  load,
}: PageSources) {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  const name = `${hostname()}-${instance.slice(0, 8)}`;
  let drawn: { readonly at: number; readonly hours: Series; readonly days: Series } | undefined;
  return async (): Promise<PageData> => {
    delay.enable();
    const at = wall();
    const times: AskedTimes = { from: -DAY_MS, to: undefined };
    const own = progress(times);
    const others = await migration.fleet.others(at, times);
    const peers =
      others === undefined ? {} : { peers: others.all.map(({ progress: one }) => one), unread: [...others.unread] };
    const results = withPeers([{ address: name, progress: { ...own, ...peers } }]);
    const fleet = fleetOf(results);
    await setImmediate();
    const status = createStatus(fleet, times);
    await setImmediate();
    const gone = fleet.gone.map((one) => one.progress.ledger);
    const ledgers = [...fleet.instances.map((one) => one.progress.ledger), ...gone];
    const events = await migration.fleet.events("lately");
    const made = past?.(at);
    const ledger = ledgers.length === 1 && ledgers[0] !== undefined ? ledgers[0] : mergeSnapshots(ledgers);
    const sourcesOf = (tier: 1 | 2): readonly SeriesSource[] => {
      const { since, tiers } = migration.requests.tiers();
      return [
        { rows: migration.requests.snapshot().rows, since, buckets: tiers[tier]?.buckets ?? [] },
        ...(others?.all ?? []).map(({ document }) => ({
          rows: document.totals,
          since: document.head.history.since,
          buckets: document.tiers[tier] ?? [],
        })),
        ...(made === undefined ? [] : [tier === 1 ? made.hours : made.days]),
      ];
    };
    if (drawn === undefined || Math.abs(at - drawn.at) >= SERIES_MS) {
      drawn = {
        at,
        hours: seriesOf(sourcesOf(1), at, { ms: HOURS.ms, most: SHOWN_HOURS }),
        days: seriesOf(sourcesOf(2), at, { ms: DAYS.ms, most: SHOWN_DAYS }),
      };
      await setImmediate();
    }
    const { hours, days } = drawn;
    const loopDelay = delay.count > 0 ? delay.percentile(99) / 1e9 : undefined;
    delay.reset();
    return {
      at,
      version: VERSION,
      instance: name,
      status,
      rules: fleet.rules,
      takers: await migration.takers(ledger.clients),
      ownGuards: new Map(own.rules.map((rule) => [rule.name, rule.guard])),
      guardsTogether: migration.guardsTogether(),
      rows: rowsOf(status.window.rows),
      hours,
      days,
      events: [...(made?.events ?? []), ...(events?.events ?? history.select())],
      eventsSince: made?.events[0]?.at ?? events?.since ?? history.since(),
      ledger: withClients(ledger, made?.clients),
      samples: await samplesOf(migration, config),
      load: {
        ...load(),
        refused: refusedOf(await metrics.values("problems_total")),
        residentBytes: process.memoryUsage.rss(),
        loopDelay,
      },
      cost: await pageCost(metrics),
      force: own.force,
      hasNative: own.native !== false,
      store: own.shared && { up: own.shared.up, fault: own.shared.fault },
      isMadeUp: made !== undefined,
    };
  };
}

function withClients(ledger: LedgerSnapshot, more: MadeUpPast["clients"] = []): LedgerSnapshot {
  const known = new Set(ledger.clients.map(({ name }) => name));
  return { ...ledger, clients: [...ledger.clients, ...more.filter(({ name }) => !known.has(name))] };
}

function rowsOf(rows: ReturnType<typeof createStatus>["window"]["rows"]): PageData["rows"] {
  return rows?.map((row) => ({ ...row, lastSeen: Date.parse(row.lastSeen) }));
}

/** Own samples and those of the others, latest first. What another replica made may have any shape. */
async function samplesOf({ shadow, fleet }: Migration, config: Config): Promise<PageData["samples"]> {
  const query = new URLSearchParams();
  const own = shadow?.samples(query) ?? { values: config.shadow.values, samples: [] };
  const { peers = [] } = await fleet.samples(query, "lately");
  const others = peers.flatMap((peer) => {
    const found = member(peer, "samples");
    return Array.isArray(found) ? found.flatMap((one) => readSample(one) ?? []) : [];
  });
  const samples = [...own.samples, ...others].toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return { values: own.values, samples };
}

function readSample(value: unknown): PageSample | undefined {
  if (!isJsonObject(value)) return undefined;
  const text = (name: string): string => String(member(value, name) ?? "");
  const found = member(value, "differences");
  const differences = (Array.isArray(found) ? found : []).filter(isJsonObject).map((one) => {
    const of = (name: string) => (typeof one[name] === "string" ? { [name]: one[name] } : {});
    return {
      class: String(one["class"]),
      path: String(one["path"]),
      ...of("native"),
      ...of("translated"),
      ...of("set"),
    };
  });
  const rule = member(value, "rule");
  return {
    at: text("at"),
    resource: text("resource"),
    operation: text("operation"),
    client: text("client"),
    ...(typeof rule === "string" ? { rule } : {}),
    total: Number(member(value, "total")) || differences.length,
    differences,
  };
}

function refusedOf(values: readonly MetricValue[]): PageLoad["refused"] {
  return values
    .flatMap(({ labels, value }): (readonly [string, number])[] =>
      value > 0 ? [[String(labels["reason"] ?? ""), value]] : [],
    )
    .sort((a, b) => b[1] - a[1]);
}
