/** Medians, spreads and quantiles of several rounds. */

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, least and greatest. */
export function spread(values) {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** The same of `a[i] / b[i]`: neighbours in time met the same noise. */
export function ratios(a, b) {
  return spread(a.map((value, i) => value / b[i]));
}

/** The value below which a share of `share` (0 to 1) of the numbers in `sorted` lies. */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
