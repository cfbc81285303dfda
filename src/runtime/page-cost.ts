/** What translating costs, for the page, from the metrics of this process. */
import type { OperationCost, PageCost, ServedCost } from "../page/data.ts";
import type { Metrics, MetricValue } from "../telemetry/metrics.ts";
import { quantile } from "../telemetry/quantile.ts";

type Side = "native" | "translated";
const SIDES: Readonly<Record<string, Side>> = { native: "native", shadow: "native", translate: "translated" };

interface Counted {
  requests: number;
  calls: number;
  /** By upper bound. */
  readonly buckets: Map<number, number>;
}

interface CountedOperation {
  readonly resource: string;
  readonly operation: string;
  readonly sides: Readonly<Record<Side, Counted>>;
}

export async function pageCost(metrics: Pick<Metrics, "values">): Promise<PageCost> {
  const operations = new Map<string, CountedOperation>();
  /** Undefined for what is no v1 request that reached an upstream. */
  const sideOf = ({ api_version, resource, operation, mode }: MetricValue["labels"]): Counted | undefined => {
    const side = SIDES[String(mode)];
    if (api_version !== "v1" || side === undefined) return undefined;
    const key = `${resource} ${operation}`;
    const found = operations.get(key) ?? {
      resource: String(resource),
      operation: String(operation),
      sides: { native: nothing(), translated: nothing() },
    };
    operations.set(key, found);
    return found.sides[side];
  };
  for (const { name, labels, value } of await metrics.values("request_duration_seconds")) {
    const side = sideOf(labels);
    if (side === undefined) continue;
    if (name.endsWith("_count")) side.requests += value;
    if (!name.endsWith("_bucket")) continue;
    const le = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
    side.buckets.set(le, (side.buckets.get(le) ?? 0) + value);
  }
  for (const { labels, value } of await metrics.values("request_calls_total")) {
    const side = sideOf(labels);
    if (side !== undefined) side.calls += value;
  }
  const all = Array.from(operations.values(), ({ resource, operation, sides }): OperationCost => {
    return { resource, operation, native: costOf(sides.native), translated: costOf(sides.translated) };
  });
  const compared = sumBy(await metrics.values("comparison_calls_total"), "upstream");
  return {
    operations: all,
    v1Requests: all.reduce((sum, one) => sum + one.native.requests + one.translated.requests, 0),
    v1Calls: all.reduce((sum, one) => sum + one.native.calls + one.translated.calls, 0),
    upstreamCalls: sumBy(await metrics.values("upstream_requests_total"), "upstream"),
    comparisonCalls: Object.values(compared).reduce((sum, one) => sum + one, 0),
  };
}

const nothing = (): Counted => ({ requests: 0, calls: 0, buckets: new Map() });

function costOf({ requests, calls, buckets }: Counted): ServedCost {
  const sorted = Array.from(buckets, ([le, count]) => ({ le, count })).sort((a, b) => a.le - b.le);
  return { requests, calls, median: quantile(0.5, sorted), p99: quantile(0.99, sorted) };
}

function sumBy(values: readonly MetricValue[], label: string): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { labels, value } of values) {
    const key = String(labels[label]);
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}
