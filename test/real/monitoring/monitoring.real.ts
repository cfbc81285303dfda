/**
 * Checks rules, alerts and dashboard with a real Prometheus that scrapes real carryovers under traffic. Two instances
 * serve clients of all kinds while their platform fails in several ways. On a third everything goes wrong; a fourth
 * keeps restarting.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Dashboard, filledIn, queriesOf } from "./dashboard.ts";
import { fireAll, type Stage, startEverything } from "./incidents.ts";
import { startPrometheus, takeDown, until } from "./processes.ts";
import { DASHBOARDS, run, tool } from "./programs.ts";
import { allRules, rulesFile } from "./rules-file.ts";

/** Their windows look back for days: promtool moves the clock for them (test/real/monitoring/rules/progress.yaml and lists.yaml). */
const TAKES_DAYS: ReadonlySet<string> = new Set([
  "CarryoverNewV1Client",
  "CarryoverProgressStalled",
  "CarryoverNobodyCallsV1",
  "CarryoverListsProofLost",
]);

/** As Grafana fills them in when everything is chosen. */
const CHOSEN = { cluster: ".*", namespace: ".*", job: ".+", instance: ".+", client: ".+", __rate_interval: "5m" };

const alerts = allRules().flatMap(({ alert }) => (alert === undefined ? [] : [alert]));
const place = { folder: "" };
const seen = { stage: undefined as Stage | undefined };
const stage = (): Stage => {
  if (seen.stage === undefined) throw new Error("nothing was started");
  return seen.stage;
};

beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "monitoring-"));
  seen.stage = await startEverything(place.folder, startWatching);
}, 120_000);
afterAll(async () => {
  await takeDown();
  await rm(place.folder, { recursive: true, force: true });
});

/** Prometheus with faster rules: alerts fire without `for`, and some windows are seconds. */
async function startWatching(jobs: ReadonlyMap<string, readonly string[]>, alertmanager: string) {
  const groups = rulesFile().groups.map(({ name, rules }) => ({
    name,
    rules: rules.map(({ for: _, ...rule }) => ({
      ...rule,
      expr: IN_A_HURRY.get(rule.alert ?? rule.record ?? "")?.(rule.expr) ?? rule.expr,
    })),
  }));
  await writeFile(join(place.folder, "rules.yaml"), stringify({ groups }));
  const file = join(place.folder, "prometheus.yaml");
  const config = {
    global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "1s" },
    rule_files: ["rules.yaml"],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [...jobs].map(([job_name, targets]) => ({ job_name, static_configs: [{ targets }] })),
  };
  await writeFile(file, stringify(config));
  return startPrometheus(file, place.folder);
}

/** Shorter windows for conditions that must hold all the time. */
const IN_A_HURRY: ReadonlyMap<string, (expr: string) => string> = new Map([
  ["CarryoverReadersPaused", (expr: string) => expr.replace("[10m:1m]", "[10s:1s]")],
  ["job:carryover_watched:ratio14d", (expr: string) => expr.replace("[14d:1h]", "[10m:5s]")],
  ["CarryoverListsWaiting", (expr: string) => expr.replace("[5m]", "[5s]")],
]);

describe("a Prometheus that scrapes carryover", () => {
  test("tells a real Alertmanager of every alert, each brought about on purpose, with texts that are filled in", async () => {
    await fireAll(stage());
    const expected = alerts.filter((alert) => !TAKES_DAYS.has(alert));
    const told = () => new Map(stage().told.map((alert) => [alert.labels["alertname"] ?? "", alert]));
    await until(
      "all alerts were delivered",
      async () => expected.filter((name) => !told().has(name)),
      (missing) => missing.length === 0,
    );
    for (const [name, { annotations }] of told()) {
      for (const text of Object.values(annotations)) expect(text, name).not.toMatch(/\{\{|<no value>|<error|%!/);
    }
    expect([...told().keys()].filter((name) => TAKES_DAYS.has(name))).toEqual([]);
  }, 540_000);

  test.each(DASHBOARDS)("answers every query of %s with at least one number", async (file) => {
    const dashboard = JSON.parse(await readFile(file, "utf8")) as Dashboard;
    const silent: string[] = [];
    for (const expr of queriesOf(dashboard)) {
      // Nothing was here four weeks ago: weeks.real.ts asks these.
      if (expr.includes("offset 4w")) continue;
      // Over time, as a panel shows it: the failures are past, and the instance where everything went wrong is gone.
      if (!(await hasNumber(`max_over_time((${filledIn(expr, CHOSEN)})[20m:5s])`))) silent.push(expr);
    }
    expect(silent).toEqual([]);
  });

  test("answers what each variable of the dashboard asks", async () => {
    const { templating } = JSON.parse(await readFile(DASHBOARDS[0] ?? "", "utf8")) as Dashboard;
    const asked = templating.list.flatMap(({ query }) => (typeof query === "string" ? [] : [query.query]));
    expect(asked).toHaveLength(5);
    for (const one of asked) {
      const [, metric = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(filledIn(one, CHOSEN)) ?? [];
      const found = new Set((await stage().prometheus.query(metric)).map((series) => series.metric[label]));
      expect(found.size > 0 && (["cluster", "namespace"].includes(label) || !found.has(undefined)), one).toBe(true);
    }
  });

  test("answers every recording rule, and every alert that fired, with at least one number", async () => {
    const silent: string[] = [];
    for (const { record, alert = "", expr } of allRules()) {
      if (record === undefined && TAKES_DAYS.has(alert)) continue;
      const asked = record ?? `max_over_time(ALERTS{alertname="${alert}"}[1h])`;
      if (!(await hasNumber(asked))) silent.push(`${asked}: ${expr}`);
    }
    expect(silent).toEqual([]);
  });

  test("takes every query of the runbook", async () => {
    const { expressionsOf } = await import(new URL("../../../scripts/walkthrough/runbook.mjs", import.meta.url).href);
    const asked: readonly string[] = expressionsOf(await readFile("docs/runbook.md", "utf8"));
    expect(asked.length).toBeGreaterThan(6);
    for (const expr of asked) await stage().prometheus.query(expr);
  });

  test("takes all rules without an error", async () => {
    const { groups } = (await stage().prometheus.get("/api/v1/rules")) as {
      groups: { rules: { name: string; health: string; lastError?: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(allRules().length);
    expect(rules.filter(({ health }) => health !== "ok").map(({ name, lastError }) => `${name}: ${lastError}`)).toEqual(
      [],
    );
  });

  test("is given metrics that promtool has nothing to complain of", async () => {
    const [busy = ""] = stage().edge.map(({ adminUrl }) => adminUrl);
    const text = await (await fetch(`${busy}/metrics`)).text();
    expect(text.split("\n").length).toBeGreaterThan(300);
    const checked = await run(tool("promtool"), ["check", "metrics"], text);
    expect(checked).toEqual({ code: 0, text: "" });
    const wrong = await run(
      tool("promtool"),
      ["check", "metrics"],
      `${text}# TYPE carryover_wrong counter\ncarryover_wrong 1\n`,
    );
    expect([wrong.code, wrong.text]).toEqual([3, expect.stringContaining("carryover_wrong")]);
  });
});

/** Some time soon: what looks back over minutes needs two looks of its own. */
async function hasNumber(expr: string): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const series = await stage().prometheus.query(expr);
    if (series.some(({ values }) => values.some(([, value]) => Number.isFinite(value)))) return true;
    await sleep(1500);
  }
  return false;
}
