import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CHART, chart, ciValues, HELM_ENV, rendered } from "./chart.ts";
import { ran, tool } from "./tools.ts";

const VALUES = ciValues();

describe("helm lint --strict", () => {
  it.each(VALUES)("finds nothing wrong with $name", async ({ path }) => {
    const { code, out, err } = await ran(tool("helm"), ["lint", "--strict", CHART, "--values", path], {
      env: HELM_ENV,
    });
    expect([code, out + err]).toEqual([0, expect.stringContaining("0 chart(s) failed")]);
    expect(out).not.toMatch(/\[(WARNING|ERROR)\]/);
  });
});

describe("values that contradict each other", () => {
  it("are a matter of helm template: helm lint takes them, as the README says", async () => {
    const set = ["--set", "config.upstream.v2.url=https://a,terminationGracePeriodSeconds=20"];
    const lint = await ran(tool("helm"), ["lint", "--strict", CHART, ...set], { env: HELM_ENV });
    const refused = await ran(tool("helm"), ["template", CHART, ...set], { env: HELM_ENV });
    expect([lint.code, refused.code]).toEqual([0, 1]);
    expect(refused.err).toContain("terminationGracePeriodSeconds: 20");
  });
});

describe("helm template", () => {
  it.each(VALUES)("renders the same twice for $name, but for a token that is made by lot", async ({ path }) => {
    const texts = await Promise.all([rendered({ values: path }), rendered({ values: path })]);
    const byLot = parse(readFileSync(path, "utf8")).adminToken?.generate === true;
    // Nothing else follows from it: a checksum of it would start every pod anew at each upgrade.
    const [first, second] = texts.map((text) => (byLot ? text.replace(/^( +"?token"?: ).+$/m, "$1by lot") : text));
    expect(second).toBe(first);
  });

  it("leaves no name of a value, no nil and no Go value in what it renders", async () => {
    for (const { name, path } of VALUES) {
      const text = await rendered({ values: path });
      expect([name, /<no value>|<nil>|%!|map\[/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });

  it("has a name for each file of values that says what is tried, and a first line that says why", () => {
    for (const { name, path } of VALUES) {
      expect([name, readFileSync(path, "utf8").split("\n")[0]]).toEqual([name, expect.stringMatching(/^# \S.{15,}/)]);
    }
  });
});

describe("the chart's own unit tests", () => {
  it("pass in helm-unittest, all of them", async () => {
    const { code, out, err } = await ran(tool("helm-unittest"), [CHART], { env: HELM_ENV });
    expect([code, code === 0 ? "" : out + err]).toEqual([0, ""]);
    const passed = Number(/Tests:\s+(\d+) passed/.exec(out)?.[1] ?? 0);
    expect(passed).toBeGreaterThan(0);
  });
});

describe("helm package", () => {
  it("has the chart's name and the version of the program that it starts", () => {
    const version = JSON.parse(readFileSync(`${CHART}/../package.json`, "utf8")).version;
    expect(chart()).toMatchObject({ apiVersion: "v2", name: "carryover", appVersion: version });
  });
});
