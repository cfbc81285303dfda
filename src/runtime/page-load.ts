/** The load of this process and what its requests cost, for the page. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { OperationCost, PageCost, PageLoad } from "../page/data.ts";
import type { Metrics, MetricValue } from "../telemetry/metrics.ts";

/** Returns what measures the load since the last time. */
export function createLoad(
  metrics: Pick<Metrics, "values">,
  now: () => Omit<PageLoad, "refused" | "loopDelay" | "residentBytes">,
) {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return {
    read: async (): Promise<PageLoad> => {
      const loopDelay = delay.count > 0 ? delay.percentile(99) / 1e9 : undefined;
      delay.reset();
      return {
        ...now(),
        refused: refusedOf(await metrics.values("problems_total")),
        residentBytes: process.memoryUsage.rss(),
        loopDelay,
      };
    },
    close: (): void => void delay.disable(),
  };
}

function refusedOf(values: readonly MetricValue[]): PageLoad["refused"] {
  return values
    .flatMap(({ labels, value }): (readonly [string, number])[] =>
      value > 0 ? [[String(labels["reason"] ?? ""), value]] : [],
    )
    .sort((a, b) => b[1] - a[1]);
}

export async function costOf(metrics: Pick<Metrics, "values">): Promise<PageCost> {
  const operations = new Map<string, OperationCost & { modes: Record<"native" | "shadow" | "translate", Spent> }>();
  for (const { name, labels, value } of await metrics.values("request_duration_seconds")) {
    const mode = (["native", "shadow", "translate"] as const).find((one) => one === labels["mode"]);
    if (labels["api_version"] !== "v1" || mode === undefined || name.endsWith("_bucket")) continue;
    const [resource, operation] = [String(labels["resource"]), String(labels["operation"])];
    const key = `${resource} ${operation}`;
    const found = operations.get(key) ?? {
      resource,
      operation,
      modes: { native: none(), shadow: none(), translate: none() },
    };
    operations.set(key, found);
    if (name.endsWith("_sum")) found.modes[mode].seconds += value;
    else found.modes[mode].requests += value;
  }
  const all = [...operations.values()];
  const upstream = sumBy(await metrics.values("upstream_requests_total"), "upstream");
  const compared = sumBy(await metrics.values("comparison_calls_total"), "upstream");
  return {
    operations: all,
    v1Requests: all.reduce(
      (sum, { modes }) => sum + Object.values(modes).reduce((some, one) => some + one.requests, 0),
      0,
    ),
    upstreamCalls: upstream,
    comparisonCalls: Object.values(compared).reduce((sum, one) => sum + one, 0),
  };
}

interface Spent {
  requests: number;
  seconds: number;
}

const none = (): Spent => ({ requests: 0, seconds: 0 });

function sumBy(values: readonly MetricValue[], label: string): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { labels, value } of values) {
    const key = String(labels[label]);
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}
