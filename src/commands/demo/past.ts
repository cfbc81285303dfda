/** A fortnight that never was, for the page of the demo: traffic that moves from native v1 to v2, and what happened meanwhile. */
import type { SeriesSource } from "../../history/series.ts";
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
  // Depends on the hour alone, and varies enough to look like people.
  const uneven = 0.85 + 0.3 * (((number * 2_654_435_761) >>> 16) % 100) * 0.01;
  const all = BUSIEST * byDay * uneven * (isWeekend ? 0.45 : 1);
  const hoursAgo = (1 - progress) * DAYS_BACK * 24;
  const isOut = OUT.some(({ from, to }) => hoursAgo <= from && hoursAgo > to);
  const translated = isOut ? 0 : Math.min(0.62, Math.max(0, (progress - 0.3) * 1.1));
  const direct = 0.05 + 0.22 * progress;
  const compared = progress < 0.12 ? 0 : Math.min(0.4, 1 - translated - direct);
  const shares = [Math.max(0, 1 - translated - direct - compared), compared, translated, direct];
  return [number, ...shares.map((share) => Math.round(share * all))];
}

/** Spans, in hours before now, without any translation: from a rollback to its return, and during a force. */
const OUT = [
  { from: 160, to: 149 },
  { from: 97, to: 96 },
];

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
  [160, "stepped-back", "group-reads", "v2 failed 41 of 300 requests of 7 clients with 503, and native v1 served them"],
  [149, "returned", "group-reads", "v2 responded for 11 h"],
  [97, "forced", undefined, "rehearsal of the way back", "anna"],
  [96, "forced", undefined, "rehearsal is over", "anna"],
  [44, "rules", undefined, "2 rules: 1 changed (group-reads: all clients)"],
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
