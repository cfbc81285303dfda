/** How does a row of the table become a metric that can be asked for? */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { METRICS, type MetricDefinition, type MetricName, NODE_METRICS } from "./metric-table.ts";
import { createSeries, type Series } from "./series.ts";

export const PREFIX = "carryover_";

type OfType<Type> = {
  [Name in MetricName]: (typeof METRICS)[Name]["type"] extends Type ? Name : never;
}[MetricName];

/** Counters whose series have a bound of their own in the table. */
export type BoundedCounterName = {
  [Name in OfType<"counter">]: (typeof METRICS)[Name]["series"] extends number ? Name : never;
}[OfType<"counter">];

/** One series of a counter. */
export interface SeriesCount {
  count: number;
}

/** A value with those of its labels, in the order of the table. */
export type LabelledValue = readonly [values: readonly string[], value: number];

/** Makes metrics of the table, in one registry. */
export interface MetricFactory {
  /**
   * Counted by whoever holds what this gives; beyond the bound of the table every label is `other`. `always`: values of its
   * only label that have a series from the beginning, since of one that begins at 1 no increase is seen.
   */
  counted(name: BoundedCounterName, always?: readonly string[]): Series<SeriesCount>;
  /** Counted elsewhere: `read` is called when somebody asks. */
  counter(name: OfType<"counter">, read: () => Iterable<LabelledValue>): void;
  gauge(name: OfType<"gauge">, read: () => Iterable<LabelledValue>): void;
  histogram(name: OfType<"histogram">, buckets: readonly number[]): Histogram;
}

export function createMetricFactory(registry: Registry): MetricFactory {
  const counter: MetricFactory["counter"] = (name, read) => {
    const { labelNames, ...facts } = factsOf(name);
    new Counter({
      ...facts,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const [values, value] of read()) this.inc(labelled(labelNames, values), value);
      },
    });
  };
  return {
    counter,
    counted: (name, always = []) => {
      const series = createSeries<SeriesCount>(METRICS[name].series, () => ({ count: 0 }));
      for (const value of always) series.at([value]);
      counter(name, function* () {
        for (const [values, { count }] of series.rows()) yield [values, count];
      });
      return series;
    },
    gauge: (name, read) => {
      const { labelNames, ...facts } = factsOf(name);
      new Gauge({
        ...facts,
        labelNames,
        registers: [registry],
        collect() {
          this.reset();
          for (const [values, value] of read()) this.set(labelled(labelNames, values), value);
        },
      });
    },
    histogram: (name, buckets) => new Histogram({ ...factsOf(name), buckets: [...buckets], registers: [registry] }),
  };
}

function factsOf(name: MetricName): { name: string; help: string; labelNames: string[] } {
  const { help, labels }: MetricDefinition = METRICS[name];
  return { name: `${PREFIX}${name}`, help, labelNames: labels.map((label) => label.name) };
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  // A value that is missing would make another series of the same name.
  names.forEach((name, at) => {
    labels[name] = values[at] ?? "";
  });
  return labels;
}

/** What the client library counts of the process and of Node, as far as the table has it. */
export function addNodeMetrics(registry: Registry): void {
  const all = new Registry();
  collectDefaultMetrics({ register: all, prefix: PREFIX });
  for (const [name, { help }] of Object.entries(NODE_METRICS)) {
    const metric = all.getSingleMetric(`${PREFIX}${name}`);
    // Some are there on Linux only.
    if (metric === undefined) continue;
    Object.assign(metric, { help });
    registry.registerMetric(metric);
  }
}
