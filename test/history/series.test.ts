import { describe, expect, it } from "vitest";
import { seriesOf, sumOfSeries, translatedShareOf } from "../../src/history/series.ts";
import type { RequestTotalsRow } from "../../src/telemetry/progress.ts";

const HOUR = 3_600_000;
const row = (apiVersion: string, mode: string): RequestTotalsRow => {
  return { apiVersion, resource: "group", operation: "get", mode, codes: "2xx", requests: 0, lastSeen: 0 };
};
const ROWS = [
  row("v1", "translate"),
  row("v1", "native"),
  row("v1", "shadow"),
  row("v2", "pass"),
  row("v1", "refused"),
];

describe("requests over time", () => {
  it("are summed over sources by what served them, in buckets without gaps that end now", () => {
    const one = {
      rows: ROWS,
      since: 0,
      buckets: [
        [10, 0, 5, 1, 2],
        [12, 3, 7, 4, 9],
      ],
    };
    const other = { rows: [row("v1", "native")], since: 11 * HOUR, buckets: [[12, 0, 4]] };
    const { points } = seriesOf([one, other], 12 * HOUR + 1, { ms: HOUR, most: 3 });
    expect(points).toEqual([
      { at: 10 * HOUR, counts: { translated: 5, shadow: 0, native: 2, v2: 0 } },
      { at: 11 * HOUR, counts: { translated: 0, shadow: 0, native: 0, v2: 0 } },
      { at: 12 * HOUR, counts: { translated: 0, shadow: 0, native: 4, v2: 7 } },
    ]);
  });

  it("are unknown before anything watched, and buckets outside are left out", () => {
    const source = {
      rows: ROWS,
      since: 11 * HOUR + 5,
      buckets: [
        [2, 0, 5],
        [99, 0, 5],
        [12, 77, 1],
      ],
    };
    const series = seriesOf([source], 12 * HOUR, { ms: HOUR, most: 3 });
    expect(series.points.map(({ counts }) => counts?.translated)).toEqual([undefined, 0, 0]);
    expect(sumOfSeries(series, 10 * HOUR, 11 * HOUR)).toBeUndefined();
  });

  it("have a share translated only where a v1 request was served", () => {
    expect(translatedShareOf(undefined)).toBeUndefined();
    expect(translatedShareOf({ translated: 0, shadow: 0, native: 0, v2: 9 })).toBeUndefined();
    expect(translatedShareOf({ translated: 1, shadow: 1, native: 2, v2: 9 })).toBe(0.25);
  });
});
