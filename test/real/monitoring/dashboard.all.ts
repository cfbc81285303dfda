import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { allMetrics } from "../../../scripts/docs/metrics.ts";
import { dashboardFile, performanceFile } from "../../../scripts/monitoring/dashboard.ts";
import { type Dashboard, firstScreenOf, type PanelFile, panelsOf, queriesOf, rowsOf } from "./dashboard.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const main = JSON.parse(dashboardFile()) as Dashboard;
const performance = JSON.parse(performanceFile()) as Dashboard;
const rules = readFileSync(resolve(ROOT, "helm/files/rules/carryover.yaml"), "utf8");

describe("the first screen", () => {
  test("has six numbers, three graphs, who is left and what the rules do; all else is closed", () => {
    const kinds = firstScreenOf(main).map(({ type }) => type);
    expect(kinds).toEqual([...Array(6).fill("stat"), ...Array(3).fill("timeseries"), "table", "table"]);
    expect([...rowsOf(main), ...rowsOf(performance)].filter(({ collapsed }) => !collapsed)).toEqual([]);
  });

  test("fits a screen of 1080 lines", () => {
    // Grafana's unit is 30 pixels and a gap of 8; its own bars and the browser's take the rest.
    const lowest = Math.max(...firstScreenOf(main).map(({ gridPos: { y, h } }) => y + h));
    expect(lowest * 38).toBeLessThanOrEqual(1080 - 280);
  });

  test("remembers clients beyond a rollout: when they last called by the recording rule, counts by their increase", () => {
    const [left] = firstScreenOf(main).filter(({ title }) => title === "Who is left");
    const [last, ...counts] = (left?.targets ?? []).map(({ expr }) => expr);
    expect(last).toContain("job_client:carryover_client_last_v1_request_timestamp_seconds:max");
    expect(counts).toHaveLength(2);
    for (const expr of counts) expect(expr).toMatch(/increase\(carryover_client_requests_total\{[^}]*\}\[30d\]\)/);
  });
});

describe.each([
  ["the dashboard", main, "carryover", ["client"]],
  ["the performance dashboard", performance, "carryover-performance", []],
] as const)("%s", (_name, dashboard, uid, more) => {
  const panels = panelsOf(dashboard);
  const all = [...firstScreenOf(dashboard), ...rowsOf(dashboard).flatMap((row) => [row, ...row.panels])];

  test("asks for nothing when it is imported, and belongs to no installation", () => {
    expect(JSON.stringify(dashboard)).not.toMatch(/__inputs|__requires|DS_/);
    expect([dashboard.id, dashboard.uid]).toEqual([null, uid]);
    const sources = [...panels, ...panels.flatMap(({ targets }) => targets)].map(({ datasource }) => datasource.uid);
    expect(new Set(sources)).toEqual(new Set(["$datasource"]));
  });

  test("numbers each panel once, and puts none over another or out of sight, whether rows are open or not", () => {
    const ids = all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // Panels of a row are below its title; Grafana moves what comes after them when the row opens.
    expectNoOverlap(dashboard.panels);
    for (const row of rowsOf(dashboard)) {
      expectNoOverlap([row, ...row.panels]);
      expect(Math.min(...row.panels.map(({ gridPos }) => gridPos.y)), row.title).toBe(row.gridPos.y + 1);
    }
  });

  test("says of every panel what it shows, in which unit, and of every line whose it is", () => {
    for (const { title, description, type, targets, fieldConfig } of panels) {
      expect(description.length, title).toBeGreaterThan(10);
      expect(description, title).toMatch(/\.$/);
      expect(fieldConfig.defaults.unit, title).not.toBe("");
      expect(targets.length, title).toBeGreaterThan(0);
      if (type !== "table")
        expect(targets.map(({ legendFormat }) => legendFormat).filter((legend) => legend === "")).toEqual([]);
    }
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  test("legends name labels that their queries leave, and pods by their names", () => {
    for (const { title, targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        const kept = /\bby \(([\w, ]+)\)/.exec(expr)?.[1]?.split(", ");
        for (const label of named) expect(kept ?? [label], `${title}: ${expr}`).toContain(label);
        expect(named, title).not.toContain("instance");
        if (named.includes("pod")) expect(expr, title).toContain('"pod", "instance")');
      }
    }
  });

  test("uses every variable, and every query asks for the chosen cluster and job", () => {
    const text = JSON.stringify([panels, dashboard.annotations]);
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(["datasource", "cluster", "namespace", "job", "instance", ...more]);
    for (const name of names) expect(text.includes(`$${name}`), name).toBe(true);
    for (const expr of queriesOf(dashboard)) {
      const selectors = expr.match(/\{[^{}]*\}/g) ?? [];
      expect(selectors.filter((one) => !/cluster=~"\$cluster",.*job=~"\$job"/.test(one))).toEqual([]);
      expect(selectors.length, expr).toBe(metricsIn(expr).length);
    }
  });

  test("averages no shares, which says nothing about several jobs", () => {
    for (const expr of queriesOf(dashboard)) expect(expr).not.toMatch(/\bavg\b/);
  });
});

test("both dashboards ask for metrics that there are, and show every one that is not for itself", () => {
  const recorded = new Set([...rules.matchAll(/record: (\S+)/g)].map(([, name = ""]) => name));
  const asked = new Set([main, performance].flatMap(queriesOf).flatMap(metricsIn));
  const there = (name: string) =>
    recorded.has(name) || allMetrics().has(name.replace(/_(bucket|sum|count)$/, "")) || allMetrics().has(name);
  expect([...asked].filter((name) => !there(name))).toEqual([]);
  const unseen = [...allMetrics().keys()].filter(
    (name) =>
      !NOT_SHOWN.test(name) &&
      !["", "_bucket", "_sum"].some((end) => asked.has(`${name}${end}`)) &&
      // By its recording rule.
      ![...asked].some((one) => one.includes(`:${name}:`)),
  );
  expect(unseen).toEqual([]);
});

/** Details of the process, for when something is searched for. */
const NOT_SHOWN = /^carryover_(process|nodejs)_/;

function metricsIn(expr: string): readonly string[] {
  return [...expr.matchAll(/\b[a-z_]*:?carryover_[a-z0-9_]+(?::[a-z0-9_]+)?/g)].map(([name]) => name);
}

function expectNoOverlap(panels: readonly Pick<PanelFile, "title" | "gridPos">[]): void {
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const at = `${x} ${y}`;
        expect(taken.get(at), `${title} and this are both at ${at}`).toBe(undefined);
        taken.set(at, title);
      }
    }
  }
}
