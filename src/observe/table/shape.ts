/** What is said of each metric? */
import type { LabelFacts } from "./labels.ts";

/** One metric. */
export interface MetricFacts {
  readonly type: "counter" | "gauge" | "histogram";
  readonly unit: string;
  readonly help: string;
  readonly labels: readonly LabelFacts[];
  /** Most series of one instance (of a histogram: sets of labels, each of them with its buckets). */
  readonly series: number | string;
}

interface Facts<Type, Labels, Series> {
  readonly type: Type;
  readonly unit: string;
  readonly help: string;
  readonly labels: Labels;
  readonly series: Series;
}

export const counter = <const Labels extends readonly LabelFacts[], const Series extends number | string>(
  unit: string,
  help: string,
  labels: Labels,
  series: Series,
): Facts<"counter", Labels, Series> => ({ type: "counter", unit, help, labels, series });

export const histogram = <const Labels extends readonly LabelFacts[], const Series extends number | string>(
  unit: string,
  help: string,
  labels: Labels,
  series: Series,
): Facts<"histogram", Labels, Series> => ({ type: "histogram", unit, help, labels, series });

/** One series without labels unless said otherwise. */
export const gauge = (
  unit: string,
  help: string,
  labels: readonly LabelFacts[] = [],
  series: number | string = 1,
): MetricFacts & { readonly type: "gauge" } => ({ type: "gauge", unit, help, labels, series });
