/** How many requests of each kind were there since this instance began, and when was the last? (Design section 8: reports.) */
import { CLIENT_LEFT, type Exchange } from "../model/exchange.ts";
import type { RequestTotals, RequestTotalsRow } from "../model/progress.ts";
import { apiVersionLabel, createSeries, labelOneOf, modeLabel, OTHER_LABEL, wordLabel } from "./series.ts";

/** Kinds counted apart, whatever is sent; beyond them resource and operation are `other`. */
const MAX_KINDS = 1000;

const CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
const classLabel = labelOneOf(CLASSES);

/** Counts of finished requests. `observe` never throws and does no I/O. */
export interface RequestTotalsCounter {
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  snapshot(): RequestTotals;
}

/** `wall`: milliseconds since 1970. */
export function createTotals(wall: () => number): RequestTotalsCounter {
  const since = wall();
  const series = createSeries<{ requests: number; lastSeen: number }>(
    MAX_KINDS,
    () => ({ requests: 0, lastSeen: since }),
    ([version = OTHER_LABEL, , , mode = OTHER_LABEL, codes = OTHER_LABEL]) => [
      version,
      OTHER_LABEL,
      OTHER_LABEL,
      mode,
      codes,
    ],
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
        ([
          [
            apiVersion = OTHER_LABEL,
            resource = OTHER_LABEL,
            operation = OTHER_LABEL,
            mode = OTHER_LABEL,
            codes = OTHER_LABEL,
          ],
          row,
        ]): RequestTotalsRow => ({
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
