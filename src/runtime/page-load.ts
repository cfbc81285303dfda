/** The load of this process, for the page. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { PageLoad } from "../page/data.ts";
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
