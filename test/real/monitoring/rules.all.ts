import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allMetrics } from "../../../scripts/docs/metrics.ts";
import { PROBLEMS } from "../../../src/model/problem.ts";
import { ROOT } from "./programs.ts";
import { allRules, rulesFile, testFiles, testsOf } from "./rules-file.ts";

const rules = allRules();
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
const expectations = testFiles()
  .flatMap(testsOf)
  .flatMap((one) => one.promql_expr_test);

describe("the rules", () => {
  test("have names of their own, and say what they are", () => {
    // An alert may have two severities, each with an expression of its own.
    const names = rules.map(({ alert, record, labels }) => record ?? `${alert} ${labels?.["severity"]}`);
    expect(new Set(names).size).toBe(names.length);
    for (const name of recorded) expect(name).toMatch(/^[a-z0-9_]+:carryover_[a-z0-9_]+:[a-z0-9_]+$/);
    for (const { alert } of alerts) expect(alert).toMatch(/^Carryover([A-Z][a-z0-9]*)+$/);
    const groups = rulesFile().groups.map(({ name }) => name);
    expect(groups.filter((name) => !/^carryover-[a-z]+(\.rules)?$/.test(name))).toEqual([]);
  });

  test("ask for metrics that there are", () => {
    const asked = rules.flatMap(({ expr }) => expr.match(/\b[a-z0-9_]*:?carryover_[a-z0-9_]+(?::[a-z0-9_]+)?/g) ?? []);
    expect(asked.length).toBeGreaterThan(80);
    const there = (name: string) => recorded.includes(name) || allMetrics().has(name.replace(/_bucket$/, ""));
    expect(asked.filter((name) => !there(name))).toEqual([]);
  });

  test("name no job, so that they work wherever carryover is scraped", () => {
    expect(rules.filter(({ expr }) => /\bjob\s*(=|!)/.test(expr))).toEqual([]);
    for (const { expr } of rules) {
      for (const [, labels = ""] of expr.matchAll(/\bby \(([^)]*)\)/g))
        expect(labels).toMatch(/^cluster, namespace, job/);
    }
  });

  test("blame the platform and the translation for the errors that each of them causes", () => {
    const asked = (name: string) => {
      const { expr = "" } = rules.find(({ record }) => record === name) ?? {};
      return (/reason=~"([A-Z_|]+)"/.exec(expr)?.[1] ?? "").split("|").toSorted();
    };
    const because = (fault: string) =>
      Object.entries(PROBLEMS).flatMap(([reason, { fault: whose }]) => (whose === fault ? [reason] : []));
    // A list over its ceiling and an operation without a counterpart are how carryover is set up, no emergency.
    const expected = because("translation").filter(
      (reason) => !["DRAIN_TOO_LARGE", "NOT_TRANSLATABLE"].includes(reason),
    );
    expect(asked("job:carryover_platform_errors:rate5m")).toEqual(because("platform").toSorted());
    expect(asked("job:carryover_own_errors:rate5m")).toEqual(expected.toSorted());
  });

  test("that alert say how urgent it is, what is wrong, what to do, and where to read more", () => {
    for (const { alert = "", labels, annotations } of alerts) {
      expect(["critical", "warning", "info"], alert).toContain(labels?.["severity"]);
      expect(Object.keys(annotations ?? {}), alert).toEqual(["summary", "description", "runbook"]);
      expect(annotations?.["summary"]?.length, alert).toBeLessThan(120);
      expect(annotations?.["description"]?.length, alert).toBeGreaterThan(80);
      expect(annotations?.["runbook"]).toBe(`docs/troubleshooting.md#${kebab(alert)}`);
    }
  });

  test("have a section in the page about trouble, each of the alerts", () => {
    const page = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");
    const anchors = new Set([
      ...[...page.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => anchorOf(title)),
      ...[...page.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = ""]) => id),
    ]);
    const links = alerts.map(({ annotations }) => annotations?.["runbook"]?.split("#")[1] ?? "");
    expect(links.filter((link) => !anchors.has(link))).toEqual([]);
  });
});

describe("promtool's tests", () => {
  test("let every alert fire, and be silent", () => {
    const about = (name: string) =>
      expectations.filter(({ expr }) => {
        const [, operator, value = ""] = /alertname(=~?)"([^"]+)"/.exec(expr) ?? [];
        return operator === "=" ? value === name : new RegExp(`^(?:${value})$`).test(name);
      });
    const fired = (name: string) =>
      about(name).some(({ exp_samples }) =>
        exp_samples.some(({ labels }) => labels.includes(`"${name}",alertstate="firing"`)),
      );
    const silent = (name: string) => about(name).some(({ exp_samples }) => exp_samples.length === 0);
    const names = alerts.map(({ alert = "" }) => alert);
    expect(names.filter((name) => !fired(name))).toEqual([]);
    expect(names.filter((name) => !silent(name) && !SIDE_BY_SIDE.has(name))).toEqual([]);
  });

  test("look at the values of every recording rule", () => {
    const looked = (name: string) =>
      expectations.some(({ expr, exp_samples }) => expr.includes(name) && exp_samples.length > 0);
    expect(recorded.filter((name) => !looked(name))).toEqual([]);
  });

  test("evaluate every group, in the order of the file", () => {
    expect(testFiles().length).toBeGreaterThan(4);
    for (const file of testFiles()) {
      const order = rulesFile().groups.map(({ name }) => name);
      expect(readFileSync(file, "utf8"), file).toContain(`group_eval_order: [${order.join(", ")}]`);
    }
  });
});

/** Tests of these have one instance that is well beside the one that is not: exactly one alert fires. */
const SIDE_BY_SIDE: ReadonlySet<string> = new Set([
  "CarryoverNotReady",
  "CarryoverRestarting",
  "CarryoverStateNotSaved",
  "CarryoverStoreAway",
  "CarryoverSaturated",
  "CarryoverReloadFailed",
]);

function kebab(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
}

/** As the pages' host makes it of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
