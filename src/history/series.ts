/** Requests over time by what served them, from the buckets of one or several instances: for plots. */
import type { RequestTotalsRow } from "../telemetry/progress.ts";

/** Bottom of a plot first. */
export const SERIES_KINDS = ["translated", "shadow", "native", "v2"] as const;
export type SeriesKind = (typeof SERIES_KINDS)[number];

/** Requests of one bucket. */
export type SeriesCounts = Readonly<Record<SeriesKind, number>>;

export interface SeriesPoint {
  /** Start of the bucket, in milliseconds since 1970. */
  readonly at: number;
  /** Undefined if nothing was watching then. */
  readonly counts: SeriesCounts | undefined;
}

export interface Series {
  /** Length of a bucket in milliseconds. */
  readonly ms: number;
  /** Oldest first, without gaps; the last is the open one. */
  readonly points: readonly SeriesPoint[];
}

/** Counts of one instance. Each bucket: its number, then each kind with its count; a kind is a position in `rows`. */
export interface SeriesSource {
  readonly rows: readonly RequestTotalsRow[];
  readonly since: number;
  readonly buckets: Iterable<readonly number[]>;
}

/** The sum of all sources in buckets of `ms`: the last `most` that end with the one of `now`. */
export function seriesOf(sources: readonly SeriesSource[], now: number, { ms, most }: SeriesLength): Series {
  const last = Math.floor(now / ms);
  const first = last - most + 1;
  const since = Math.min(...sources.map((source) => source.since));
  const sums = Array.from({ length: most }, () => ({ translated: 0, shadow: 0, native: 0, v2: 0 }));
  for (const { rows, buckets } of sources) {
    const kinds = rows.map(kindOf);
    for (const [number = 0, ...flat] of buckets) {
      const sum = sums[number - first];
      if (sum === undefined) continue;
      for (let i = 0; i < flat.length; i += 2) {
        const kind = kinds[flat[i] ?? -1];
        if (kind !== undefined) sum[kind] += flat[i + 1] ?? 0;
      }
    }
  }
  return {
    ms,
    points: sums.map((counts, at) => {
      const start = (first + at) * ms;
      return { at: start, counts: start + ms <= since ? undefined : counts };
    }),
  };
}

interface SeriesLength {
  readonly ms: number;
  readonly most: number;
}

/** Undefined for requests that nothing served, and for paths of neither version. */
function kindOf({ apiVersion, mode }: RequestTotalsRow): SeriesKind | undefined {
  if (apiVersion === "v2") return "v2";
  if (apiVersion !== "v1") return undefined;
  if (mode === "translate") return "translated";
  return mode === "native" || mode === "shadow" ? mode : undefined;
}

/** All points from `from` to before `to` as one; undefined if nothing was watching. */
export function sumOfSeries({ points }: Series, from: number, to: number): SeriesCounts | undefined {
  const sum = { translated: 0, shadow: 0, native: 0, v2: 0 };
  let isKnown = false;
  for (const { at, counts } of points) {
    if (counts === undefined || at < from || at >= to) continue;
    isKnown = true;
    for (const kind of SERIES_KINDS) sum[kind] += counts[kind];
  }
  return isKnown ? sum : undefined;
}

/** Of the v1 requests that native v1 or the translation served, the share of the translation; undefined without one. */
export function translatedShareOf(counts: SeriesCounts | undefined): number | undefined {
  if (counts === undefined) return undefined;
  const served = counts.translated + counts.shadow + counts.native;
  return served === 0 ? undefined : counts.translated / served;
}
