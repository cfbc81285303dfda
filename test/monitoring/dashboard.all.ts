import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { allMetrics } from "../../scripts/docs/metrics.ts";
import { dashboardFile } from "../../scripts/monitoring/dashboard.ts";
import { type Dashboard, panelsOf, queriesOf } from "./dashboard.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const dashboard = JSON.parse(dashboardFile()) as Dashboard;
const rules = readFileSync(resolve(ROOT, "helm/files/rules/carryover.yaml"), "utf8");
const panels = panelsOf(dashboard);

describe("the dashboard", () => {
  test("asks for nothing when it is imported, and belongs to no installation", () => {
    expect(dashboardFile()).not.toMatch(/__inputs|__requires|DS_/);
    expect([dashboard.id, dashboard.uid]).toEqual([null, "carryover"]);
    const sources = [...panels, ...panels.flatMap(({ targets }) => targets)].map(({ datasource }) => datasource.uid);
    expect(new Set(sources)).toEqual(new Set(["$datasource"]));
  });

  test("numbers each panel once, and puts none over another or out of sight", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          const at = `${x} ${y}`;
          expect(taken.get(at), `${title} and this are both at ${at}`).toBe(undefined);
          taken.set(at, title);
        }
      }
    }
  });

  test("says of every panel what it shows, in which unit, and of every line whose it is", () => {
    expect(panels.length).toBeGreaterThan(45);
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

  test("legends name labels that their queries leave", () => {
    for (const { title, targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        const kept = /\bby \(([\w, ]+)\)/.exec(expr)?.[1]?.split(", ");
        for (const label of named) expect(kept ?? [label], `${title}: ${expr}`).toContain(label);
      }
    }
  });

  test("uses every variable, and every query asks for the chosen job", () => {
    const text = JSON.stringify([panels, dashboard.annotations]);
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(["datasource", "namespace", "job", "instance", "client"]);
    for (const name of names) expect(text.includes(`$${name}`), name).toBe(true);
    for (const expr of queriesOf(dashboard)) {
      const selectors = expr.match(/\{[^{}]*\}/g) ?? [];
      expect(selectors.filter((selector) => !selector.includes('job=~"$job"'))).toEqual([]);
      expect(selectors.length, expr).toBe(metricsIn(expr).length);
    }
  });

  test("asks for metrics that there are, and shows every one that is not for itself", () => {
    const recorded = new Set([...rules.matchAll(/record: (\S+)/g)].map(([, name = ""]) => name));
    const asked = new Set(queriesOf(dashboard).flatMap(metricsIn));
    const there = (name: string) =>
      recorded.has(name) || allMetrics().has(name.replace(/_(bucket|sum|count)$/, "")) || allMetrics().has(name);
    expect([...asked].filter((name) => !there(name))).toEqual([]);
    const unseen = [...allMetrics().keys()].filter(
      (name) => !NOT_SHOWN.test(name) && !["", "_bucket", "_sum"].some((end) => asked.has(`${name}${end}`)),
    );
    expect(unseen).toEqual([]);
  });
});

/** Details of the process, for when something is searched for. */
const NOT_SHOWN = /^carryover_(process|nodejs)_/;

function metricsIn(expr: string): readonly string[] {
  return [...expr.matchAll(/\b[a-z_]*:?carryover_[a-z0-9_]+(?::[a-z0-9_]+)?/g)].map(([name]) => name);
}
