/** Asks promtool what the first screen shows of given series. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Dashboard, filledIn, firstScreenOf } from "./dashboard.ts";
import { DASHBOARDS, RULES, run, tool } from "./programs.ts";
import { rulesFile } from "./rules-file.ts";

const place = { folder: "", dashboard: undefined as Dashboard | undefined };
beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "screen-"));
  place.dashboard = JSON.parse(await readFile(DASHBOARDS[0] ?? "", "utf8"));
});
afterAll(() => rm(place.folder, { recursive: true, force: true }));

/** Values of an hour each. */
type Inputs = Readonly<Record<string, string>>;
/** By panel and legend, or the place of the column: series and a thousand times their values. */
type Shown = readonly (readonly [panel: string, query: string | number, samples: Readonly<Record<string, number>>])[];

const requests = (job: string, version: string, mode: string): string =>
  `job_api_version_mode:carryover_requests:rate5m{job="${job}",api_version="${version}",mode="${mode}"}`;
const READY = {
  'carryover_ready{job="edge",instance="a"}': "1x900",
  'carryover_build_info{job="edge",instance="a"}': "1x900",
};

async function expectShown(
  inputs: Inputs,
  days: number,
  shown: Shown,
  rules: "loaded" | "not loaded" = "loaded",
): Promise<void> {
  const panels = place.dashboard === undefined ? [] : firstScreenOf(place.dashboard);
  const promql_expr_test = shown.map(([title, query, samples]) => {
    const { targets = [] } = panels.find((panel) => panel.title === title) ?? {};
    const target = typeof query === "number" ? targets[query] : targets.find((one) => one.legendFormat === query);
    const chosen = { cluster: ".*", namespace: ".*", job: ".+", instance: ".+", client: ".+", __rate_interval: "4h" };
    const expr = `round(1000 * (${filledIn(target?.expr ?? `${title}: no ${query}`, chosen)}))`;
    const exp_samples = Object.entries(samples).map(([labels, value]) => ({ labels, value }));
    return { expr, eval_time: `${days}d`, exp_samples };
  });
  const input_series = Object.entries(inputs).map(([series, values]) => ({ series, values }));
  const file = join(place.folder, "test.yaml");
  const content = {
    ...(rules === "loaded"
      ? { rule_files: [RULES], group_eval_order: rulesFile().groups.map(({ name }) => name) }
      : {}),
    evaluation_interval: "1h",
    tests: [{ interval: "1h", input_series, promql_expr_test }],
  };
  await writeFile(file, stringify(content));
  expect(await run(tool("promtool"), ["test", "rules", file])).toEqual({
    code: 0,
    text: expect.stringContaining("SUCCESS"),
  });
}

describe("the first screen", () => {
  test("says nothing of v1's share where v2 goes past carryover, and 0 when v1 stops", async () => {
    const still = {
      ...READY,
      [requests("edge", "v1", "native")]: "9x672 3x200",
      [requests("edge", "v1", "translate")]: "1x900",
      'carryover_requests_total{job="edge",instance="a",api_version="v1",mode="native",code="200"}': "0+3600x900",
    };
    await expectShown(still, 36, [
      ["Progress", "of v1, translated", { "{}": 250 }],
      ["Progress", "of all, v1", {}],
      ["v1 since four weeks ago", "change", { "{}": -600 }],
      ["v1 requests a second", "now", { "{}": 1000 }],
      ["v1 requests a second", "four weeks ago", { "{}": 1000 }],
    ]);
    await expectShown(READY, 36, [
      ["v1 requests a second", "now", { "{}": 0 }],
      ["Clients left", "clients", { "{}": 0 }],
      ["Progress", "of all, v1", {}],
    ]);
  });

  test("shows no zero of clients or lists that is not counted", async () => {
    const last = (client: string) =>
      `carryover_client_last_v1_request_timestamp_seconds{job="edge",instance="a",client="${client}"}`;
    const nothing: Shown = [
      ["Clients left", "clients", {}],
      ["Lists not whole", "lists", {}],
      ["Progress", "of v1, translated", {}],
    ];
    await expectShown(READY, 36, nothing, "not loaded");
    // The rules have watched for less than two weeks, or not all the time.
    const gap = { ...READY, 'carryover_build_info{job="edge",instance="a"}': "1x200 _x48 1x300" };
    await expectShown(gap, 15, [["Clients left", "clients", {}]]);
    // Only clients without a name, or without a series, are left.
    const unnamed = { ...READY, [last("unknown")]: "0+3600x900", [last("other")]: "0+3600x900" };
    await expectShown(unnamed, 15, [
      ["Clients left", "clients", {}],
      ["Lists not whole", "lists", { "{}": 0 }],
    ]);
    await expectShown({ ...unnamed, [last("web")]: "0+3600x900" }, 1, [["Clients left", "clients", { "{}": 1000 }]]);
  });

  test("says v1's share where v2 passes, of those jobs alone", async () => {
    const mixed = { [requests("edge", "v1", "native")]: "1x900", [requests("edge", "v2", "pass")]: "3x900" };
    await expectShown({ ...READY, ...mixed }, 9, [
      ["Progress", "of v1, translated", { "{}": 0 }],
      ["Progress", "of all, v1", { "{}": 250 }],
    ]);
    const beside = { [requests("inner", "v1", "translate")]: "9x900", [requests("done", "v2", "pass")]: "4x900" };
    await expectShown({ ...READY, ...mixed, ...beside }, 9, [
      ["Progress", "of v1, translated", { "{}": 900 }],
      ["Progress", "of all, v1", { "{}": 125 }],
    ]);
  });

  test("weighs a big release of which 1 % is translated, and a trial of which all is, by their requests", async () => {
    const both = {
      [requests("big", "v1", "native")]: "990x300",
      [requests("big", "v1", "translate")]: "10x300",
      [requests("trial", "v1", "translate")]: "1x300",
    };
    await expectShown({ ...READY, ...both }, 9, [["Progress", "of v1, translated", { "{}": 11 }]]);
  });

  test("remembers a client of before a rollout, and counts its requests on both sides of it", async () => {
    const last = (pod: string, client: string) =>
      `carryover_client_last_v1_request_timestamp_seconds{job="edge",instance="${pod}",client="${client}"}`;
    const count = (pod: string, client: string) =>
      `carryover_client_requests_total{job="edge",instance="${pod}",client="${client}",api_version="v1"}`;
    const rollout = {
      ...READY,
      [last("a", "gone")]: "3600x47 stale",
      [last("a", "web")]: "0+3600x47 stale",
      [last("b", "web")]: "_x48 172800+3600x500",
      [count("a", "gone")]: "0 7x46 stale",
      [count("a", "web")]: "0+1x47 stale",
      [count("b", "web")]: "_x48 0+1x500",
    };
    await expectShown(rollout, 10, [
      ["Clients left", "clients", { "{}": 2000 }],
      ["Who is left", 0, { '{client="gone"}': 3_600_000_000, '{client="web"}': 864_000_000_000 }],
      // 7, and 47 and 192; Prometheus adds half an hour's share at the end of a series.
      ["Who is left", 1, { '{client="gone"}': 7074, '{client="web"}': 239_500 }],
    ]);
    await expectShown(rollout, 16, [
      ["Clients left", "clients", { "{}": 1000 }],
      ["Who is left", 0, { '{client="web"}': 1_382_400_000_000 }],
    ]);
  });
});
