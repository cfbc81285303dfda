/** A fortnight that never was, for the page of the demo: traffic that moves from native v1 to v2, what happened meanwhile, and further clients. */
import type { SeriesSource } from "../../history/series.ts";
import type { ClientEntry } from "../../ledger/entry.ts";
import type { MadeUpPast, PageEvent } from "../../page/data.ts";
import type { RequestTotalsRow } from "../../telemetry/progress.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS_BACK = 14;
/** Requests of the busiest hour. */
const BUSIEST = 900;

/** Kinds of `MODES`, in the order in which the migration goes through them. */
const MODES = ["native", "shadow", "translate", "pass"] as const;

export function madeUpPast(at: number): MadeUpPast {
  const first = Math.floor(at / HOUR) - DAYS_BACK * 24;
  // The hour of now has real traffic only.
  const hours = Array.from({ length: DAYS_BACK * 24 }, (_, index) => bucketOf(first + index, index / (DAYS_BACK * 24)));
  const days = new Map<number, number[]>();
  for (const [number, ...counts] of hours) {
    const day = Math.floor(((number ?? 0) * HOUR) / DAY);
    const sums = days.get(day) ?? MODES.map(() => 0);
    for (const kind of MODES.keys()) sums[kind] = (sums[kind] ?? 0) + (counts[kind] ?? 0);
    days.set(day, sums);
  }
  const since = at - DAYS_BACK * DAY;
  return {
    hours: sourceOf(hours, since),
    days: sourceOf(
      Array.from(days, ([day, sums]) => [day, ...sums]),
      since,
    ),
    events: eventsOf(at),
    clients: CLIENTS.map((client) => entryOf(client, at)),
  };
}

function sourceOf(buckets: readonly (readonly number[])[], since: number): SeriesSource {
  return {
    rows: MODES.map((mode): RequestTotalsRow => {
      const apiVersion = mode === "pass" ? "v2" : "v1";
      return { apiVersion, resource: "group", operation: "list", mode, codes: "2xx", requests: 0, lastSeen: 0 };
    }),
    since,
    buckets: buckets.map(([number = 0, ...counts]) => [number, ...counts.flatMap((count, kind) => [kind, count])]),
  };
}

/** `progress`: 0 at the beginning of the fortnight, 1 now. Busy by day and quiet by night and at weekends. */
function bucketOf(number: number, progress: number): readonly number[] {
  const at = new Date(number * HOUR);
  const byDay = 0.35 + 0.65 * Math.max(0, Math.sin(((at.getUTCHours() - 5) / 24) * 2 * Math.PI));
  const isWeekend = at.getUTCDay() % 6 === 0;
  // The same for the same hour, and uneven enough to look like people.
  const uneven = 0.85 + 0.3 * (((number * 2_654_435_761) >>> 16) % 100) * 0.01;
  const all = BUSIEST * byDay * uneven * (isWeekend ? 0.45 : 1);
  const isBack = progress > 0.52 && progress < 0.56;
  const translated = isBack ? 0.05 : Math.min(0.62, Math.max(0, (progress - 0.3) * 1.1));
  const direct = 0.05 + 0.22 * progress;
  const compared = progress < 0.12 ? 0 : Math.min(0.4, 1 - translated - direct);
  const shares = [Math.max(0, 1 - translated - direct - compared), compared, translated, direct];
  return [number, ...shares.map((share) => Math.round(share * all))];
}

/** Hours before now, and what happened. */
const HAPPENED: readonly (readonly [
  hours: number,
  kind: string,
  rule: string | undefined,
  reason: string,
  by?: string,
])[] = [
  [320, "rules", undefined, "2 rules: 2 new (role-reads, group-reads)"],
  [296, "rules", undefined, "2 rules: 1 changed (role-reads: sample 0.2)"],
  [236, "could-promote", "group-reads", "at most 1.4 % differ (95 %), below 2 %"],
  [232, "rules", undefined, "2 rules: 1 changed (group-reads: translate, 10 % of clients)"],
  [184, "rules", undefined, "2 rules: 1 changed (group-reads: 50 % of clients)"],
  [161, "alarm", "group-reads", "v2 answered 503 to 41 of 300 requests of 7 clients that native v1 serves"],
  [160, "stepped-back", "group-reads", "v2 answered 503 to 41 of 300 requests of 7 clients"],
  [149, "returned", "group-reads", "1,200 comparisons without a failure"],
  [97, "forced", undefined, "rehearsal of the way back", "anna"],
  [96, "forced", undefined, "rehearsal is over", "anna"],
  [44, "promoted", "role-reads", "at most 0.4 % differ (95 %), below 2 %; 6 clients, 3 needed"],
];

function eventsOf(at: number): readonly PageEvent[] {
  return HAPPENED.map(([hours, kind, rule, reason, by], index) => ({
    id: `made-up-${index}`,
    at: at - hours * HOUR,
    kind,
    reason: `${reason} (made up)`,
    ...(rule === undefined ? {} : { rule }),
    ...(by === undefined ? {} : { by }),
  }));
}

interface MadeUpClient {
  readonly name: string;
  readonly owner: string;
  readonly contact: string;
  /** A day. */
  readonly v1: number;
  readonly v2: number;
  /** Days since its last v1 call. */
  readonly lastV1: number;
  readonly zeroed?: true;
}

const CLIENTS: readonly MadeUpClient[] = [
  { name: "billing", owner: "Finance systems", contact: "#billing", v1: 820, v2: 40, lastV1: 0, zeroed: true },
  { name: "inventory-sync", owner: "Logistics", contact: "logistics@example.com", v1: 410, v2: 390, lastV1: 0 },
  { name: "mobile-app", owner: "Mobile team", contact: "#mobile", v1: 160, v2: 2_300, lastV1: 3 },
  { name: "data-export", owner: "Analytics", contact: "#analytics", v1: 90, v2: 610, lastV1: 6 },
];

function entryOf({ name, owner, contact, v1, v2, lastV1, zeroed }: MadeUpClient, at: number): ClientEntry {
  const last = Math.floor(at / DAY);
  const days = Array.from({ length: 14 }, (_, back) => back);
  const calledV1 = days.map((back) => (back < lastV1 ? 0 : v1));
  return {
    name,
    label: name,
    owner,
    contact,
    firstSeen: at - DAYS_BACK * DAY,
    lastSeen: at - HOUR,
    lastV1: at - lastV1 * DAY - HOUR,
    requests: { v1: calledV1.reduce((sum, one) => sum + one, 0), v2: v2 * 14 },
    days: { last, v1: calledV1, v2: days.map(() => v2), calledV1: "3fff", calledV2: "3fff" },
    over: 0,
    operations: [
      { resource: "group", operation: "list", requests: v1 * 9, lastSeen: at - lastV1 * DAY - HOUR },
      { resource: "group", operation: "update", requests: v1, lastSeen: at - lastV1 * DAY - HOUR },
    ],
    needs: {
      longLists: [{ resource: "group", records: 1_040 }],
      zeroedFields: zeroed === true ? [{ resource: "group", field: "description" }] : [],
      lacking: [],
      unknownFields: [],
      unseen: [],
    },
  };
}
