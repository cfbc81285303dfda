/** carryover's metrics in the registry of another program. Its prom-client may be another copy than ours. */

/** The part of prom-client's `Registry` that carryover uses. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
  getSingleMetric(name: string): unknown;
  removeSingleMetric(name: string): void;
}

/** A metric as a registry reads it. */
interface RegisteredMetric {
  readonly name: string;
  get(): Promise<unknown>;
  getForPromString?(): Promise<unknown>;
}

/** Throws Error if `registry` has a metric of one of the names; then it has none of `metrics`. Returns what takes them out. `settle` runs before each is read. */
export function joinRegistry(registry: MetricsRegistry, metrics: readonly unknown[], settle: () => void): () => void {
  const all = metrics as readonly RegisteredMetric[];
  const taken = all.find(({ name }) => registry.getSingleMetric(name) !== undefined);
  if (taken !== undefined) throw new Error(`the registry has a metric ${taken.name}`);
  for (const metric of all) registry.registerMetric(settledFirst(metric, settle) as never);
  return () => {
    for (const { name } of all) registry.removeSingleMetric(name);
  };
}

function settledFirst(metric: RegisteredMetric, settle: () => void): RegisteredMetric {
  const read = (how: "get" | "getForPromString") => () => {
    settle();
    return metric[how]?.() ?? metric.get();
  };
  const shown: RegisteredMetric = Object.create(metric);
  return Object.assign(shown, { get: read("get"), getForPromString: read("getForPromString") });
}
