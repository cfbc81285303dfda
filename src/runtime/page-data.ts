/** What the operator's page shows, from the documents of this process and of the others. */

import { type FleetDocument, progressOf } from "../fleet/document.ts";
import { fleetOf } from "../fleet/fleet.ts";
import { withPeers } from "../fleet/peers.ts";
import { createStatus } from "../fleet/status.ts";
import { TIERS } from "../history/buckets.ts";
import type { AskedTimes } from "../history/requests.ts";
import { type Series, type SeriesSource, seriesOf } from "../history/series.ts";
import { DAY_MS } from "../ledger/days.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import { mergeSnapshots } from "../ledger/snapshot.ts";
import { isJsonObject, member } from "../model/json.ts";
import type { MadeUpPast, PageData, PageSample } from "../page/data.ts";
import { VERSION } from "../version.ts";
import type { Peer } from "./fleet-peers.ts";
import { type ClientFacts, mergedEvents, peerProgress, withFolded, withOwners } from "./fleet-views.ts";
import type { PageFacts } from "./page-messages.ts";
import { withBuckets } from "./progress.ts";
import type { Takers } from "./takers.ts";

const [, HOURS, DAYS] = TIERS;
const SHOWN_HOURS = 14 * 24;
const SHOWN_DAYS = 180;
/** The plot is as of the last of these moments. */
const SERIES_MS = 10_000;

/** What one update is made from. */
export interface PageSources extends ClientFacts {
  readonly facts: PageFacts;
  readonly own: FleetDocument;
  readonly peers: readonly Peer[];
  readonly past: MadeUpPast | undefined;
  /** Option `shadow.values`. */
  readonly values: "redact" | "show";
}

/** Returns what makes the data of an update. `takersOf`: how many of the clients each rule takes requests of. */
export function createGatherer(
  takersOf: (clients: LedgerSnapshot["clients"]) => Promise<Takers>,
): (sources: PageSources) => Promise<PageData> {
  let drawn: { readonly at: number; readonly hours: Series; readonly days: Series } | undefined;
  return async (sources) => {
    const { facts, own: document, past } = sources;
    const { at, instance, shared } = facts;
    const times: AskedTimes = { from: -DAY_MS, to: undefined };
    const told = progressOf(document, at, times);
    const own = { ...told, shared, ledger: withBuckets(withOwners(told.ledger, sources.ownerOf), sources.bucketOf) };
    const folded = withFolded(sources.peers, at);
    const others = folded.map((peer) => peerProgress(peer, at, times, sources));
    const peers = facts.peers === undefined ? {} : { peers: others, unread: [...facts.unread] };
    const fleet = fleetOf(withPeers([{ address: instance, progress: { ...own, ...peers } }]));
    const status = createStatus(fleet, times);
    const gone = fleet.gone.map((one) => one.progress.ledger);
    const ledgers = [...fleet.instances.map((one) => one.progress.ledger), ...gone];
    const ledger = ledgers.length === 1 && ledgers[0] !== undefined ? ledgers[0] : mergeSnapshots(ledgers);
    const events = mergedEvents({ events: document.events, since: document.head.eventsSince, at }, sources.peers);
    const sourcesOf = (tier: 1 | 2): readonly SeriesSource[] => [
      ...[document, ...folded.map((peer) => peer.document)].map(({ totals, head, tiers }) => ({
        rows: totals,
        since: head.history.since,
        buckets: tiers[tier] ?? [],
      })),
      ...(past === undefined ? [] : [tier === 1 ? past.hours : past.days]),
    ];
    if (drawn === undefined || Math.abs(at - drawn.at) >= SERIES_MS) {
      drawn = {
        at,
        hours: seriesOf(sourcesOf(1), at, { ms: HOURS.ms, most: SHOWN_HOURS }),
        days: seriesOf(sourcesOf(2), at, { ms: DAYS.ms, most: SHOWN_DAYS }),
      };
    }
    const { hours, days } = drawn;
    return {
      at,
      version: VERSION,
      instance,
      status,
      rules: fleet.rules,
      takers: await takersOf(ledger.clients),
      ownGuards: new Map(own.rules.map((rule) => [rule.name, rule.guard])),
      guardsTogether: facts.guardsTogether,
      rows: rowsOf(status.window.rows),
      hours,
      days,
      events: [...(past?.events ?? []), ...events.events],
      eventsSince: past?.events[0]?.at ?? events.since,
      ledger,
      samples: samplesOf([document, ...sources.peers.map((peer) => peer.document)], sources.values),
      load: facts.load,
      cost: facts.cost,
      force: own.force,
      hasNative: own.native !== false,
      store: shared && { up: shared.up, fault: shared.fault },
      isMadeUp: past !== undefined,
    };
  };
}

function rowsOf(rows: ReturnType<typeof createStatus>["window"]["rows"]): PageData["rows"] {
  return rows?.map((row) => ({ ...row, lastSeen: Date.parse(row.lastSeen) }));
}

/** Of all documents, latest first. What another replica made may have any shape. */
function samplesOf(documents: readonly FleetDocument[], values: PageSources["values"]): PageData["samples"] {
  const samples = documents.flatMap((one) =>
    (one.samples?.samples ?? []).flatMap((sample) => readSample(sample) ?? []),
  );
  return { values, samples: samples.toSorted((a, b) => (a.at < b.at ? 1 : -1)) };
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
