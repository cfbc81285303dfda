/** How many requests of each kind were there since this instance began, and when was the last? (Design section 8: reports.) */
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import type { Totals, TotalsRow } from "../model/progress.ts";
import { apiVersionLabel, modeLabel, oneOf, wordLabel } from "./labels.ts";
import { createSeries, OTHER } from "./series.ts";

/** Kinds counted apart, whatever is sent; beyond them resource and operation are `other`. */
const MAX_KINDS = 1000;

const CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
const classLabel = oneOf(CLASSES);

/** Counts of finished requests. `observe` never throws and does no I/O. */
export interface TotalsCounter {
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  snapshot(): Totals;
}

/** `wall`: milliseconds since 1970. */
export function createTotals(wall: () => number): TotalsCounter {
  const since = wall();
  const series = createSeries<{ requests: number; lastSeen: number }>(
    MAX_KINDS,
    () => ({ requests: 0, lastSeen: since }),
    ([version = OTHER, , , mode = OTHER, codes = OTHER]) => [version, OTHER, OTHER, mode, codes],
  );
  return {
    observe: ({ apiVersion, resource, operation, mode, status, times = 1 }) => {
      const row = series.at([
        apiVersionLabel(apiVersion),
        wordLabel(resource),
        wordLabel(operation),
        modeLabel(mode),
        classLabel(status === 0 || status === CLIENT_LEFT ? "none" : `${Math.floor(status / 100)}xx`),
      ]);
      row.requests += times;
      // A clock that was set back must not make a request forgotten.
      row.lastSeen = Math.max(row.lastSeen, wall());
    },
    snapshot: () => {
      const rows = [...series.rows()].map(
        ([[apiVersion = OTHER, resource = OTHER, operation = OTHER, mode = OTHER, codes = OTHER], row]): TotalsRow => ({
          apiVersion,
          resource,
          operation,
          mode,
          codes,
          ...row,
        }),
      );
      return { since, at: wall(), rows };
    },
  };
}
