/** Makes prom-client metrics from the table of metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { METRICS, type MetricDefinition, type MetricName, NODE_METRICS } from "./metric-table.ts";
import { createSeries, type Series } from "./series.ts";

export const PREFIX = "carryover_";

type OfType<Type> = {
  [Name in MetricName]: (typeof METRICS)[Name]["type"] extends Type ? Name : never;
}[MetricName];

/** Counters whose number of series the table bounds. */
type BoundedCounterName = {
  [Name in OfType<"counter">]: (typeof METRICS)[Name]["series"] extends number ? Name : never;
}[OfType<"counter">];

/** A value with those of its labels, in the order of the table. */
export type LabelledValue = readonly [labels: readonly string[], value: number];

/** Makes metrics of the table, in one registry. */
export interface MetricFactory {
  /**
   * A counter that the caller increments; beyond the bound of the table every label is `other`. `always`: values of its
   * only label that have a series from the start, since Prometheus sees no increase in a series that starts at 1.
   */
  counted(name: BoundedCounterName, always?: readonly string[]): Series<{ count: number }>;
  /** A counter that is kept elsewhere: each scrape calls `read`. */
  counter(name: OfType<"counter">, read: () => Iterable<LabelledValue>): void;
  gauge(name: OfType<"gauge">, read: () => number | Iterable<LabelledValue>): void;
  histogram(name: OfType<"histogram">, buckets: readonly number[]): Histogram;
}

export function createMetricFactory(registry: Registry): MetricFactory {
  const counter: MetricFactory["counter"] = (name, read) => {
    const options = optionsOf(name);
    new Counter({
      ...options,
      registers: [registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labelled(options.labelNames, labels), value);
      },
    });
  };
  return {
    counter,
    counted: (name, always = []) => {
      const series = createSeries(METRICS[name].series, () => ({ count: 0 }));
      for (const value of always) series.at([value]);
      counter(name, () => Array.from(series.rows(), ([labels, { count }]) => [labels, count]));
      return series;
    },
    gauge: (name, read) => {
      const options = optionsOf(name);
      new Gauge({
        ...options,
        registers: [registry],
        collect() {
          this.reset();
          const values = read();
          if (typeof values === "number") this.set(values);
          else for (const [labels, value] of values) this.set(labelled(options.labelNames, labels), value);
        },
      });
    },
    histogram: (name, buckets) => new Histogram({ ...optionsOf(name), buckets: [...buckets], registers: [registry] }),
  };
}

function optionsOf(name: MetricName): { name: string; help: string; labelNames: string[] } {
  const { help, labels }: MetricDefinition = METRICS[name];
  return { name: `${PREFIX}${name}`, help, labelNames: [...labels] };
}

/** A missing value would make another series of the same name, so it becomes an empty one. */
function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
}

/** Adds those of prom-client's metrics of the process and Node.js that the table describes. */
export function addNodeMetrics(registry: Registry): void {
  const all = new Registry();
  collectDefaultMetrics({ register: all, prefix: PREFIX });
  for (const [name, { help }] of Object.entries(NODE_METRICS)) {
    const metric = all.getSingleMetric(`${PREFIX}${name}`);
    // Some exist on Linux only.
    if (metric === undefined) continue;
    Object.assign(metric, { help });
    registry.registerMetric(metric);
  }
}
