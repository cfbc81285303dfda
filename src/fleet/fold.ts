/** Several documents of contributors that are gone as one: a report over it says the same as over each of them. */

import { TIERS } from "../history/buckets.ts";
import { createEventHistory } from "../history/events.ts";
import { mergeSnapshots } from "../ledger/snapshot.ts";
import { grouped } from "../model/group.ts";
import type { ComparisonCounts, RequestTotalsRow } from "../telemetry/progress.ts";
import { joined } from "./coverage.ts";
import { type FleetDocument, savedEventsOf } from "./document.ts";

/** `goneSince`: until when the contributor watched, in milliseconds since 1970. */
export interface GoneDocument {
  readonly document: FleetDocument;
  readonly goneSince: number;
}

/** Undefined without any. `name`: its `instance` and `contributor`. It has no rules, samples and states. */
export function foldDocuments(all: readonly GoneDocument[], name: string): GoneDocument | undefined {
  const latest = all.reduce<GoneDocument | undefined>(
    (last, one) => (last === undefined || one.goneSince > last.goneSince ? one : last),
    undefined,
  );
  if (latest === undefined) return undefined;
  const documents = all.map(({ document }) => document);
  const heads = documents.map(({ head }) => head);
  const { clients, ...ledger } = mergeSnapshots(documents.map((one) => ({ ...one.head.ledger, clients: one.clients })));
  const totals = totalsOf(documents);
  const earliest = (times: readonly number[]): number => Math.min(...times);
  return {
    goneSince: latest.goneSince,
    document: {
      head: {
        ...latest.document.head,
        instance: name,
        contributor: name,
        since: earliest(heads.map(({ since }) => since)),
        force: "none",
        forcedBy: undefined,
        lately: [],
        lost: heads.flatMap(({ lost }) => lost ?? []),
        comparedSince: earliest(heads.map(({ comparedSince, since }) => comparedSince ?? since)),
        ledger,
        totalsSince: earliest(heads.map(({ totalsSince }) => totalsSince)),
        history: {
          since: earliest(heads.map(({ history }) => history.since)),
          knownFrom: TIERS.map((_, at) => Math.max(...heads.map(({ history }) => history.knownFrom[at] ?? 0))),
        },
        eventsSince: earliest(heads.map(({ eventsSince }) => eventsSince)),
        watched: joined(
          all.flatMap(({ document: { head }, goneSince }) => {
            return head.watched ?? [{ from: head.ledger.watchedSince ?? head.ledger.since, until: goneSince }];
          }),
        ),
      },
      totals,
      tiers: tiersOf(documents, totals),
      clients,
      bounds: boundsOf(documents),
      rules: [],
      events: eventsOf(documents),
      samples: undefined,
      saved: undefined,
    },
  };
}

function keyOf({ apiVersion, resource, operation, mode, codes }: RequestTotalsRow) {
  return [apiVersion, resource, operation, mode, codes] as const;
}

function totalsOf(documents: readonly FleetDocument[]): readonly RequestTotalsRow[] {
  return grouped(
    documents.flatMap(({ totals }) => totals),
    keyOf,
  ).map((same) => ({
    ...same[0],
    requests: same.reduce((sum, { requests }) => sum + requests, 0),
    lastSeen: same.reduce((last, { lastSeen }) => Math.max(last, lastSeen), 0),
  }));
}

/** Kinds are positions in `totals`. Of each length as many buckets as a history keeps, the latest. */
function tiersOf(documents: readonly FleetDocument[], totals: readonly RequestTotalsRow[]): FleetDocument["tiers"] {
  const kinds = new Map(totals.map((row, at) => [keyOf(row).join("\n"), at]));
  return TIERS.map(({ most }, tier) => {
    const buckets = new Map<number, Map<number, number>>();
    for (const document of documents) {
      const now = document.totals.map((row) => kinds.get(keyOf(row).join("\n")));
      for (const [number = 0, ...counts] of document.tiers[tier] ?? []) {
        const bucket = buckets.get(number) ?? new Map<number, number>();
        buckets.set(number, bucket);
        for (let i = 0; i < counts.length; i += 2) {
          const kind = now[counts[i] ?? 0];
          if (kind !== undefined) bucket.set(kind, (bucket.get(kind) ?? 0) + (counts[i + 1] ?? 0));
        }
      }
    }
    const latest = [...buckets].sort(([a], [b]) => b - a).slice(0, most);
    return latest.map(([number, counts]) => [number, ...[...counts].flat()]).reverse();
  });
}

function boundsOf(documents: readonly FleetDocument[]): readonly ComparisonCounts[] {
  return grouped(
    documents.flatMap(({ bounds }) => bounds),
    ({ resource, operation, client }) => [resource, operation, client],
  ).map((same) => ({
    ...same[0],
    comparisons: same.reduce((sum, { comparisons }) => sum + comparisons, 0),
    differences: same.reduce((sum, { differences }) => sum + differences, 0),
  }));
}

/** As many as a history keeps. */
function eventsOf(documents: readonly FleetDocument[]): FleetDocument["events"] {
  const history = createEventHistory({ wall: () => 0, process: "00000000" });
  for (const one of documents) history.restore(savedEventsOf(one, ""));
  return history.select();
}
