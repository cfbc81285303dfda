/** How many requests of each kind this instance has served, in all and over time, and when the last was: for `GET /progress`. */
import * as z from "zod";
import { LAST_TIME } from "../model/clock.ts";
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import { Problem } from "../model/problem.ts";
import { Count, readRecord, Time } from "../rules/record.ts";
import { jsonArray } from "../state/section.ts";
import { type RequestTotals, type RequestTotalsRow, type RequestWindow, TotalsSchema } from "../telemetry/progress.ts";
import { apiVersionLabel, createSeries, labelOneOf, modeLabel, wordLabel } from "../telemetry/series.ts";
import { createBuckets, type SavedTier, TIERS } from "./buckets.ts";

/** Kinds counted apart; beyond them resource and operation are `other`. */
const MAX_KINDS = 1000;
const KEPT_LABELS = [0, 3, 4];

const { since: Since, rows: Rows } = TotalsSchema.shape;
/** Rows of unknown labels share a few more. */
const SavedTotals = z.object({ since: Since, rows: Rows.max(2 * MAX_KINDS) });

const SavedBucket = z
  .array(Count)
  .max(1 + 2 * 2 * MAX_KINDS)
  .refine((flat) => flat.length % 2 === 1, "expected a number, then pairs of a kind and a count");
const SavedTiers = z
  .array(z.object({ ms: Count, knownFrom: Count, buckets: z.array(SavedBucket) }))
  .refine(
    (tiers) =>
      tiers.length === TIERS.length &&
      tiers.every(({ ms, buckets }, at) => ms === TIERS[at]?.ms && buckets.length <= TIERS[at].most),
    "expected the buckets of this version",
  );
const SavedHistory = z.object({ version: z.literal(1, { error: "expected 1" }), since: Time, tiers: SavedTiers });

const statusClassLabel = labelOneOf(["none", "1xx", "2xx", "3xx", "4xx", "5xx"]);

type KindLabels = readonly [apiVersion: string, resource: string, operation: string, mode: string, codes: string];

/** Times are milliseconds since 1970; below 0: so long before now. Undefined: from the first, or to now. */
export interface AskedTimes {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export interface RequestHistory {
  /** To be called once for each request, when it is over. Never throws, does no I/O. */
  observe(exchange: Exchange): void;
  snapshot(): RequestTotals;
  /** The requests of this time. */
  window(asked: AskedTimes): RequestWindow;
  /** The counts over time, by the positions of rows in a later `snapshot`. */
  tiers(): { readonly since: number; readonly tiers: readonly SavedTier[] };
  /** The counts over time as JSON in pieces. Kinds are the positions of rows in a later `snapshot`. */
  saved(): Iterable<string>;
  /**
   * Continues from `totals`, a snapshot, and `history`, which was saved with it; both have been JSON since. An older file has no history.
   * Returns why the history cannot be used; undefined: it can. Throws `Error`, and changes nothing, for totals that are none, and when
   * a request has been counted already.
   */
  restore(totals: unknown, history?: unknown): string | undefined;
}

/** `wall`: milliseconds since 1970. */
export function createRequestHistory(wall: () => number): RequestHistory {
  let since = wall();
  let kinds = 0;
  const buckets = createBuckets(since);
  const series = createSeries<{ readonly kind: number; requests: number; lastSeen: number }, KindLabels>(
    MAX_KINDS,
    () => ({ kind: kinds++, requests: 0, lastSeen: 0 }),
    KEPT_LABELS,
  );
  /** Returns the number of its kind. */
  const add = ({ apiVersion, resource, operation, mode, codes, requests, lastSeen }: RequestTotalsRow): number => {
    const row = series.at([
      apiVersionLabel(apiVersion),
      wordLabel(resource),
      wordLabel(operation),
      modeLabel(mode),
      statusClassLabel(codes),
    ]);
    row.requests += requests;
    // A clock that was set back must not make a request forgotten.
    row.lastSeen = Math.max(row.lastSeen, lastSeen);
    return row.kind;
  };
  return {
    observe: ({ apiVersion, resource, operation, mode, status, times = 1 }) => {
      const codes = status === 0 || status === CLIENT_LEFT ? "none" : `${Math.floor(status / 100)}xx`;
      const at = wall();
      buckets.add(add({ apiVersion, resource, operation, mode, codes, requests: times, lastSeen: at }), times, at);
    },
    snapshot: () => {
      const rows = Array.from(series.rows(), ([labels, { requests, lastSeen }]) => rowOf(labels, requests, lastSeen));
      return { since, at: wall(), rows };
    },
    window: (asked) => {
      const now = wall();
      const at = (time: number): number => (time < 0 ? Math.max(0, now + time) : time);
      const sums = buckets.sum(at(asked.from ?? 0), at(asked.to ?? LAST_TIME), now);
      const rows = Array.from(series.rows()).flatMap(([labels, { kind, lastSeen }]) => {
        const sum = sums.kinds.get(kind);
        return sum === undefined ? [] : [rowOf(labels, sum.count, Math.min(lastSeen, sum.end - 1))];
      });
      return { from: sums.from, to: sums.to, rows };
    },
    tiers: () => ({ since: buckets.since(), tiers: buckets.saved() }),
    *saved() {
      yield `{"version":1,"since":${buckets.since()},"tiers":[`;
      for (const [at, tier] of buckets.saved().entries()) {
        yield `${at === 0 ? "" : ","}{"ms":${tier.ms},"knownFrom":${tier.knownFrom},"buckets":`;
        yield* jsonArray(tier.buckets);
        yield "}";
      }
      yield "]}";
    },
    restore: (totals, history) => {
      for (const _ of series.rows()) throw new Error("totals are restored before the first request");
      const { since: began, rows } = readRecord(SavedTotals, totals, "totals");
      since = Math.min(since, began);
      const kindsNow = rows.map(add);
      if (history === undefined) return undefined;
      try {
        const saved = readRecord(SavedHistory, history, "history");
        for (const { buckets } of saved.tiers) for (const one of buckets) refuseUnknownKinds(one, kindsNow.length);
        buckets.load(saved.since, saved.tiers, (kind) => kindsNow[kind] ?? 0);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

function rowOf(
  [apiVersion, resource, operation, mode, codes]: KindLabels,
  requests: number,
  lastSeen: number,
): RequestTotalsRow {
  return { apiVersion, resource, operation, mode, codes, requests, lastSeen };
}

function refuseUnknownKinds(flat: readonly number[], known: number): void {
  for (let i = 1; i < flat.length; i += 2) {
    if ((flat[i] ?? 0) >= known) throw new Error("history: it has kinds that totals lacks");
  }
}

/** `?from=MS&to=MS`; undefined without any. Throws `Problem` INVALID_REQUEST for anything else. */
export function readTimes(query: URLSearchParams): AskedTimes | undefined {
  const times = { from: readTime(query, "from"), to: readTime(query, "to") };
  if (times.from === undefined && times.to === undefined) return undefined;
  const isSameKind = (times.from ?? 0) < 0 === (times.to ?? 0) < 0;
  if (times.from !== undefined && times.to !== undefined && isSameKind && times.from >= times.to) {
    throw new Problem("INVALID_REQUEST", "from: expected a time before `to`");
  }
  return times;
}

function readTime(query: URLSearchParams, name: string): number | undefined {
  const [text, more] = query.getAll(name);
  if (text === undefined) return undefined;
  const time = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (more === undefined && Math.abs(time) <= LAST_TIME) return time;
  throw new Problem(
    "INVALID_REQUEST",
    `${name}: expected one time in milliseconds since 1970, or below 0 for so long ago: -3600000`,
  );
}
