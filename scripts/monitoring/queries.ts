/** What the dashboards' queries have in common. */

/** The chosen instances' own series. */
export const OF = 'cluster=~"$cluster",namespace=~"$namespace",job=~"$job",instance=~"$instance"';
/** Series of recording rules, which know no instance. */
export const OF_JOB = 'cluster=~"$cluster",namespace=~"$namespace",job=~"$job"';
export const CLIENT = 'client=~"$client"';

/** `more` are further matchers, after a comma. */
export const rate = (metric: string, by: string, more = ""): string =>
  `sum by (${by}) (rate(${metric}{${OF}${more}}[$__rate_interval]))`;

export const quantiles = (metric: string) =>
  ([0.5, 0.9, 0.99] as const).map(
    (quantile) => [`histogram_quantile(${quantile}, ${rate(`${metric}_bucket`, "le")})`, `p${quantile * 100}`] as const,
  );

/** 0 where instances are scraped and none exports what is counted. Only for metrics of the instances themselves. */
export const orZero = (expr: string): string => `${expr} or (max(carryover_ready{${OF}}) * 0)`;

/** `orZero` for series of recording rules: 0 only where the rules are loaded. */
export const orZeroRecorded = (expr: string): string =>
  `${expr} or (max(job:carryover_instances:count{${OF_JOB}}) * 0)`;

/** 0 only where the recording rules watched every job for (nearly) all of 14 days. */
export const orZeroWatched = (expr: string): string =>
  `${expr} or ((min(job:carryover_watched:ratio14d{${OF_JOB}}) > 0.95) * 0)`;

/**
 * Series for each pod, for the legend `{{pod}}`. Outside Kubernetes there is no such label: then it is the instance's address.
 */
export const perPod = (expr: string): string =>
  `label_replace(label_join(${expr}, "pod", "|", "pod", "instance"), "pod", "$1", "pod", "[|]?([^|]+).*")`;
