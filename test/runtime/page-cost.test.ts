import { expect, test } from "vitest";
import { pageCost } from "../../src/runtime/page-cost.ts";
import type { MetricValue } from "../../src/telemetry/metrics.ts";

const KIND = { api_version: "v1", resource: "group", operation: "list" };
const GROUP = "carryover_request_duration_seconds";

function durations(mode: string, upTo: readonly (readonly [le: string, count: number])[], version = "v1") {
  const labels = { ...KIND, api_version: version, mode };
  return [
    ...upTo.map(([le, value]) => ({ name: `${GROUP}_bucket`, labels: { ...labels, le }, value })),
    { name: `${GROUP}_sum`, labels, value: 1 },
    { name: `${GROUP}_count`, labels, value: upTo.at(-1)?.[1] ?? 0 },
  ];
}

test("puts translated requests beside those that native served, in shadow or not, with calls and quantiles of each", async () => {
  const found: Readonly<Record<string, readonly MetricValue[]>> = {
    request_duration_seconds: [
      ...durations("translate", [
        ["0.1", 10],
        ["+Inf", 10],
      ]),
      ...durations("native", [
        ["0.1", 0],
        ["0.2", 4],
        ["+Inf", 4],
      ]),
      ...durations("shadow", [
        ["0.1", 4],
        ["0.2", 4],
        ["+Inf", 4],
      ]),
      ...durations("refused", [["+Inf", 9]]),
      ...durations("pass", [["+Inf", 9]], "v2"),
    ],
    request_calls_total: [
      { name: "", labels: { ...KIND, mode: "translate" }, value: 35 },
      { name: "", labels: { ...KIND, mode: "native" }, value: 4 },
      { name: "", labels: { ...KIND, mode: "shadow" }, value: 4 },
      { name: "", labels: { ...KIND, api_version: "v2", mode: "pass" }, value: 9 },
    ],
    comparison_calls_total: [{ name: "", labels: { upstream: "v2" }, value: 7 }],
    upstream_requests_total: [
      { name: "", labels: { upstream: "v2", code: "200" }, value: 40 },
      { name: "", labels: { upstream: "v2", code: "503" }, value: 2 },
    ],
  };
  const cost = await pageCost({ values: async (name) => found[name] ?? [] });
  expect(cost).toMatchObject({ v1Requests: 18, v1Calls: 43, upstreamCalls: { v2: 42 }, comparisonCalls: 7 });
  expect(cost.operations).toHaveLength(1);
  expect(cost.operations[0]).toMatchObject({
    translated: { requests: 10, calls: 35, median: 0.05 },
    native: { requests: 8, calls: 8, median: 0.1 },
  });
});
