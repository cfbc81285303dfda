import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { allMetrics } from "../../scripts/docs/metrics.ts";
import { rigForTest, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { parsePrometheus } from "./prometheus.ts";

takeDownAfterEach();

const OBSERVE = resolve(import.meta.dirname, "../../src/telemetry");

describe("the table of metrics", () => {
  test("is what a running carryover exposes: every name, type and help, and nothing else", async () => {
    const { adminUrl } = await rigForTest();
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const shown = new Map([...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name = "", help = ""]) => [name, help]));
    const types = parsePrometheus(text).types;
    const exposed = [...shown].map(([name, help]) => ({ name, type: types.get(name), help }));
    const said = [...allMetrics()].map(([name, { type, help }]) => ({ name, type, help }));
    expect(exposed.toSorted(byName)).toEqual(said.toSorted(byName));
  });

  test("has the labels that a running carryover uses, in one series more or less", async () => {
    const { adminUrl, ask } = await rigForTest();
    await ask("GET", "/iam/v1/groups");
    await ask("PUT", "/iam/v1/groups/nobody", { body: { name: "x", unknown: 1 } });
    await ask("GET", "/iam/v1/groups", { as: null });
    const { samples, types } = parsePrometheus(await (await fetch(`${adminUrl}/metrics`)).text());
    const wrong = samples.filter(({ name, labels }) => {
      const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
      const named = new Set(
        allMetrics()
          .get(family)
          ?.labels.map((label) => label.name),
      );
      return !setsEqual(named, new Set([...labels.keys()].filter((label) => label !== "le")));
    });
    expect(wrong).toEqual([]);
    expect(samples.filter(({ labels }) => labels.size > 2).length).toBeGreaterThan(10);
  });

  test("says of each metric its unit, its labels' values and its bound, and ends names as their units say", () => {
    for (const [name, { type, unit, help, labels, series }] of allMetrics()) {
      expect(help, name).toMatch(/^[A-Z0-9]/);
      expect(unit, name).not.toBe("");
      for (const { means, values } of labels) expect([means, values], name).not.toContain("");
      expect(typeof series === "number" ? series > 0 : series.length > 4, name).toBe(true);
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
      if (unit === "seconds" || unit === "bytes") expect(name).toMatch(new RegExp(`_${unit}(_total)?$`));
    }
  });

  test("is the only place that makes metrics", () => {
    const files = readdirSync(OBSERVE, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const makers = files.filter((name) => /new (Counter|Gauge|Histogram|Summary)\b/.test(read(name)));
    expect(makers).toEqual(["metric-factory.ts"]);
  });
});

const read = (name: string): string => readFileSync(resolve(OBSERVE, name), "utf8");
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

function setsEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((value) => b.has(value));
}
