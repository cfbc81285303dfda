/** How many requests of each kind this instance has served, and when the last was: for `GET /progress`. */
import * as z from "zod";
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import { readRecord } from "../rules/record.ts";
import { type RequestTotals, type RequestTotalsRow, TotalsSchema } from "./progress.ts";
import { apiVersionLabel, createSeries, labelOneOf, modeLabel, wordLabel } from "./series.ts";

/** Kinds counted apart; beyond them resource and operation are `other`. */
const MAX_KINDS = 1000;
const KEPT_LABELS = [0, 3, 4];

const { since: Since, rows: Rows } = TotalsSchema.shape;
/** Rows of unknown labels share a few more. */
const SavedTotals = z.object({ since: Since, rows: Rows.max(2 * MAX_KINDS) });

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
      const { since: began, rows } = readRecord(SavedTotals, saved, "totals");
      since = Math.min(since, began);
      for (const row of rows) add(row);
    },
  };
}
