/** Quantiles of a Prometheus histogram. */

/** `le`: upper bound of a bucket; `count`: of everything up to it. */
export interface Bucket {
  readonly le: number;
  readonly count: number;
}

/**
 * Estimated as `histogram_quantile` does: values spread evenly within their bucket. `buckets` in the order of their bounds. Beyond the last finite bound it
 * is that bound. Undefined without a value.
 */
export function quantile(q: number, buckets: readonly Bucket[]): number | undefined {
  const all = buckets.at(-1)?.count ?? 0;
  if (all === 0) return undefined;
  const at = buckets.findIndex(({ count }) => count >= q * all);
  const [lower, bucket] = [buckets[at - 1] ?? { le: 0, count: 0 }, buckets[at]];
  if (bucket === undefined || bucket.le === Number.POSITIVE_INFINITY) return lower.le;
  const share = (q * all - lower.count) / (bucket.count - lower.count || 1);
  return lower.le + (bucket.le - lower.le) * share;
}
