/** How many requests of each kind this instance has served, and when the last was: for `GET /progress`. */
import { LAST_TIME } from "../model/clock.ts";
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import { member } from "../model/json.ts";
import type { RequestTotals, RequestTotalsRow } from "../model/progress.ts";
import { apiVersionLabel, createSeries, labelOneOf, modeLabel, wordLabel } from "./series.ts";

/** Kinds counted apart; beyond them resource and operation are `other`. */
const MAX_KINDS = 1000;
const KEPT_LABELS = [0, 3, 4];

const statusClassLabel = labelOneOf(["none", "1xx", "2xx", "3xx", "4xx", "5xx"]);

type KindLabels = readonly [apiVersion: string, resource: string, operation: string, mode: string, codes: string];

export interface RequestTotalsCounter {
  /** To be called once for each request, when it is over. Never throws, does no I/O. */
  observe(exchange: Exchange): void;
  snapshot(): RequestTotals;
  /**
   * Continues from `saved`, a snapshot that has been JSON since. Throws `Error`, and changes nothing, when it is none, or when
   * a request has been counted already.
   */
  restore(saved: unknown): void;
}

/** `wall`: milliseconds since 1970. */
export function createTotals(wall: () => number): RequestTotalsCounter {
  let since = wall();
  const series = createSeries<{ requests: number; lastSeen: number }, KindLabels>(
    MAX_KINDS,
    () => ({ requests: 0, lastSeen: 0 }),
    KEPT_LABELS,
  );
  const add = ({ apiVersion, resource, operation, mode, codes, requests, lastSeen }: RequestTotalsRow): void => {
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
  };
  return {
    observe: ({ apiVersion, resource, operation, mode, status, times = 1 }) => {
      const codes = status === 0 || status === CLIENT_LEFT ? "none" : `${Math.floor(status / 100)}xx`;
      add({ apiVersion, resource, operation, mode, codes, requests: times, lastSeen: wall() });
    },
    snapshot: () => {
      const rows = Array.from(series.rows(), ([[apiVersion, resource, operation, mode, codes], row]) => {
        return { apiVersion, resource, operation, mode, codes, ...row };
      });
      return { since, at: wall(), rows };
    },
    restore: (saved) => {
      for (const _ of series.rows()) throw new Error("totals are restored before the first request");
      const [began, rows] = [readNumber(saved, "since", LAST_TIME), readRows(saved)];
      since = Math.min(since, began);
      for (const row of rows) add(row);
    },
  };
}

/** A million per second for 30 years. */
const LARGEST_COUNT = 1e15;

function readRows(saved: unknown): readonly RequestTotalsRow[] {
  const rows = member(saved, "rows");
  // Rows of unknown labels share a few more.
  if (!Array.isArray(rows) || rows.length > 2 * MAX_KINDS)
    throw new Error(`totals.rows: expected a list of at most ${2 * MAX_KINDS}`);
  return rows.map((row: unknown) => ({
    apiVersion: readText(row, "apiVersion"),
    resource: readText(row, "resource"),
    operation: readText(row, "operation"),
    mode: readText(row, "mode"),
    codes: readText(row, "codes"),
    requests: readNumber(row, "requests", LARGEST_COUNT),
    lastSeen: readNumber(row, "lastSeen", LAST_TIME),
  }));
}

function readText(from: unknown, name: string): string {
  const value = member(from, name);
  if (typeof value === "string") return value;
  throw new Error(`totals: ${name}: expected a text`);
}

function readNumber(from: unknown, name: string, most: number): number {
  const value = member(from, name);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw new Error(`totals: ${name}: expected a whole number from 0 to ${most}`);
}
