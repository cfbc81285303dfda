import { describe, expect, test } from "vitest";
import type { Comparison } from "../../src/model/comparison.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import type { OwnRuleStatus } from "../../src/rules/status.ts";
import { createComparisonTally } from "../../src/shadow/tally.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import type { RolloutMetricSources } from "../../src/telemetry/rollout-metrics.ts";
import { finished } from "./exchange.ts";
import { IDLE } from "./metrics-options.ts";
import { parsePrometheus, sampleValue } from "./prometheus.ts";

const RULE: OwnRuleStatus = {
  name: "ci-reads",
  mode: "translate",
  doing: "native",
  state: "expired",
  detail: "",
  evidence: {
    whom: "reads",
    requests: 10,
    failures: 3,
    comparisons: 7,
    differences: 2,
    bound: 0.5,
    risk: 0.04,
    clients: 1,
    clientsNeeded: 3,
    heldBack: [],
    stepBacks: 1,
  },
  guard: { action: "warn" },
  phase: "back",
  promoted: false,
  couldMove: false,
};

const CALL = { upstream: "v2", method: "GET", path: "/", status: 200, ms: 1 } as const;

const SERVED = { calls: [CALL] };

function metrics(sources: Partial<RolloutMetricSources> = {}) {
  return createMetrics({
    ...IDLE,
    resources: [{ resource: "group", operations: ["list"] }],
    now: () => 1,
    cutover: {
      ...IDLE.cutover,
      clientLabel: (name) => (name === "probe" ? undefined : `c-${name}`),
      clients: () => ({ v1: 3, v2: 4 }),
      rules: () => [RULE],
      shadow: () => ({ running: 1, waiting: 2, heldBytes: 3, passed: { aborted: 5 } }),
      ...sources,
    },
  });
}

const comparison = (facts: Partial<Comparison>): Comparison => ({
  requestId: "r",
  at: 0,
  resource: "group",
  operation: "list",
  client: "a",
  rule: undefined,
  served: "shadow",
  kind: "read",
  result: "equal",
  total: 0,
  differences: [],
  failure: undefined,
  controlled: false,
  ms: 1,
  calls: { v1: 1, v2: 2 },
  ...facts,
});

describe("clients", () => {
  test("are counted by label and version; what is no part of the migration together", async () => {
    const made = metrics();
    const all: readonly Partial<Exchange>[] = [
      { client: "a", ...SERVED },
      { client: "a", apiVersion: "v2", ...SERVED },
      { client: "probe", ...SERVED },
      { client: "liar", status: 401 },
      { client: "b", mode: "refused", reason: "INVALID_PATH", status: 400 },
      { client: "b", reason: "INVALID_FILTER", status: 400 },
      { client: "b", reason: "UPSTREAM_UNREACHABLE", status: 502, calls: [{ ...CALL, status: 0 }] },
      { client: "a", apiVersion: "sts", ...SERVED },
    ];
    for (const facts of all) made.observe(finished(facts));
    const parsed = parsePrometheus(await made.text());
    const value = (client: string, api_version = "v1") =>
      sampleValue(parsed, "carryover_client_requests_total", { client, api_version });
    expect([value("c-a"), value("c-a", "v2"), value("excluded"), value("unauthenticated"), value("other")]).toEqual([
      1, 1, 1, 1, 3,
    ]);
    expect([value("c-liar"), value("c-b")]).toEqual([undefined, undefined]);
    expect(sampleValue(parsed, "carryover_clients", { api_version: "v1" })).toBe(3);
    expect(sampleValue(parsed, "carryover_clients", { api_version: "v2" })).toBe(4);
  });

  test("that called v1 say when they last did, and those that were not let in say nothing of anybody else", async () => {
    let now = 1_000;
    const made = metrics({ wall: () => now });
    const at = async (ms: number, facts: Partial<Exchange>) => {
      now = ms;
      made.observe(finished(facts));
      const parsed = parsePrometheus(await made.text());
      return sampleValue(parsed, "carryover_client_last_v1_request_timestamp_seconds", { client: "c-a" });
    };
    expect(await at(1_000, { client: "a", apiVersion: "v2", ...SERVED })).toBe(undefined);
    expect(await at(2_000, { client: "a", ...SERVED })).toBe(2);
    expect(await at(5_500, { client: "a", ...SERVED })).toBe(5.5);
    expect(await at(7_000, { client: "a", apiVersion: "v2", ...SERVED })).toBe(5.5);
    expect(await at(8_000, { client: "a", status: 401 })).toBe(5.5);
    expect(await at(9_000, { client: "b", ...SERVED })).toBe(5.5);
  });

  test("say how many of their v1 requests failed, by fault; nobody gets a series by requests that were not let in", async () => {
    const made = metrics();
    const missing = { status: 404, calls: [{ ...CALL, status: 404 }] };
    const refused = { status: 501, reason: "NOT_TRANSLATABLE", mode: "refused" as const };
    const all: readonly Partial<Exchange>[] = [
      { client: "a", ...SERVED },
      { client: "a", ...missing },
      { client: "a", ...refused },
      { client: "a", ...refused, reason: "INTERNAL" },
      { client: "a", ...missing, apiVersion: "v2" },
      { client: "a", status: 403, calls: [{ ...CALL, status: 403 }] },
      { client: "b", ...missing },
      { client: "c", ...refused },
      { client: "d", status: 401 },
    ];
    for (const facts of all) made.observe(finished(facts));
    const { samples } = parsePrometheus(await made.text());
    const series = samples.filter(({ name }) => name === "carryover_client_errors_total");
    expect(series.map(({ labels, value }) => [labels.get("client"), labels.get("fault"), value])).toEqual([
      ["c-a", "client", 2],
      ["c-a", "translation", 1],
      ["other", "client", 1],
      ["other", "translation", 2],
      ["unauthenticated", "client", 1],
    ]);
  });

  test("make a bounded number of series, whoever calls", async () => {
    const made = metrics();
    const failed = { status: 403, calls: [{ ...CALL, status: 403 }] };
    for (let at = 0; at < 1_000; at++) made.observe(finished({ client: `x${at}`, ...failed }));
    const { samples } = parsePrometheus(await made.text());
    expect(samples.filter(({ name }) => name === "carryover_client_errors_total").length).toBeLessThanOrEqual(11);
    const series = samples.filter(({ name }) => name === "carryover_client_requests_total");
    expect(series.length).toBeLessThanOrEqual(11);
    expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(1_000);
  });
});

describe("comparisons", () => {
  test("are counted by what came out, with the calls that they took", async () => {
    const tally = createComparisonTally();
    tally.restore([{ resource: "group", operation: "list", comparisons: 9, differences: 1 }]);
    tally.add(comparison({}), undefined);
    tally.add(comparison({ result: "value" }), undefined);
    tally.add(comparison({ resource: "evil", operation: "evil", result: "failed", failure: "timeout" }), undefined);
    const parsed = parsePrometheus(await metrics({ comparisons: tally }).text());
    const value = (labels: Record<string, string>) => sampleValue(parsed, "carryover_comparisons_total", labels);
    expect(value({ resource: "group", operation: "list", result: "equal" })).toBe(1);
    expect(value({ resource: "group", operation: "list", result: "value" })).toBe(1);
    expect(value({ resource: "other", operation: "other", result: "failed" })).toBe(1);
    expect(sampleValue(parsed, "carryover_comparison_failures_total", { reason: "timeout" })).toBe(1);
    expect(sampleValue(parsed, "carryover_comparison_calls_total", { upstream: "v2" })).toBe(6);
    expect(sampleValue(parsed, "carryover_comparisons_skipped_total", { reason: "aborted" })).toBe(5);
    expect(sampleValue(parsed, "carryover_comparisons_in_progress")).toBe(1);
    expect(sampleValue(parsed, "carryover_comparisons_waiting")).toBe(2);
    expect(sampleValue(parsed, "carryover_comparisons_held_bytes")).toBe(3);
  });
});

describe("rules", () => {
  test("say what they do, and what they have seen", async () => {
    const parsed = parsePrometheus(await metrics().text());
    const value = (name: string, more: Record<string, string> = {}) =>
      sampleValue(parsed, `carryover_rule_${name}`, { rule: "ci-reads", ...more });
    expect(value("mode", { mode: "native" })).toBe(1);
    expect(value("state", { state: "back" })).toBe(1);
    expect(
      ["requests", "failures", "comparisons", "differences", "difference_bound", "step_backs"].map((name) =>
        value(name),
      ),
    ).toEqual([10, 3, 7, 2, 0.5, 1]);
    expect([value("could_move"), value("expired")]).toEqual([0, 1]);
  });

  test.each([
    ["none", 0, 0],
    ["native", 1, 0],
    ["translate", 0, 1],
  ])("say what is forced on all, and with %s what is not", async (force, native, translate) => {
    const parsed = parsePrometheus(await metrics({ force: () => force, rules: () => [] }).text());
    const value = (mode: string) => sampleValue(parsed, "carryover_rules_force", { mode });
    expect([value("native"), value("translate")]).toEqual([native, translate]);
    expect(parsed.samples.filter(({ name }) => name === "carryover_rules_force")).toHaveLength(2);
  });

  test.each([
    [undefined, 0],
    ["0123456789ab", 0x0123456789ab],
  ])("have a number that is the same wherever they are: digest %s", async (digest, number) => {
    const parsed = parsePrometheus(await metrics({ digest: () => digest }).text());
    expect(sampleValue(parsed, "carryover_config_hash")).toBe(number);
  });

  test("are asked once for each scrape", async () => {
    let asked = 0;
    const made = metrics({
      rules: () => {
        asked++;
        return [RULE];
      },
    });
    await made.text();
    await made.text();
    expect(asked).toBe(2);
  });

  test("that are gone from the file are gone from the metrics", async () => {
    let rules: readonly OwnRuleStatus[] = [RULE];
    const made = metrics({ rules: () => rules });
    await made.text();
    rules = [];
    const { samples } = parsePrometheus(await made.text());
    expect(samples.filter(({ name }) => name.startsWith("carryover_rule_"))).toEqual([]);
  });
});
