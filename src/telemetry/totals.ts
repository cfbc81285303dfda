/** How many requests of each kind this instance has served since it started, and when the last was: for `GET /progress`. */
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import type { RequestTotals } from "../model/progress.ts";
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
}

/** `wall`: milliseconds since 1970. */
export function createTotals(wall: () => number): RequestTotalsCounter {
  const since = wall();
  const series = createSeries<{ requests: number; lastSeen: number }, KindLabels>(
    MAX_KINDS,
    () => ({ requests: 0, lastSeen: since }),
    KEPT_LABELS,
  );
  return {
    observe: ({ apiVersion, resource, operation, mode, status, times = 1 }) => {
      const row = series.at([
        apiVersionLabel(apiVersion),
        wordLabel(resource),
        wordLabel(operation),
        modeLabel(mode),
        statusClassLabel(status === 0 || status === CLIENT_LEFT ? "none" : `${Math.floor(status / 100)}xx`),
      ]);
      row.requests += times;
      // A clock that was set back must not make a request forgotten.
      row.lastSeen = Math.max(row.lastSeen, wall());
    },
    snapshot: () => {
      const rows = Array.from(series.rows(), ([[apiVersion, resource, operation, mode, codes], row]) => {
        return { apiVersion, resource, operation, mode, codes, ...row };
      });
      return { since, at: wall(), rows };
    },
  };
}
