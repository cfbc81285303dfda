import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readmeWith, readValues, type Value, valuesSchema } from "../../scripts/docs/chart.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(resolve(ROOT, path), "utf8");
const json = (path: string): Record<string, unknown> => JSON.parse(read(path)) as Record<string, unknown>;

const text = read("helm/values.yaml");
const values = readValues(text);
const schema = valuesSchema(values, json);
const valid = new Ajv({ strict: false, validateFormats: false }).compile(schema);

/** Whether Helm takes these values over the chart's own: maps are joined, null takes away. */
function accepts(given: unknown): boolean {
  return valid(joined(parse(text), given));
}

function joined(own: unknown, given: unknown): unknown {
  if (!isObject(own) || !isObject(given)) return given;
  const keys = [...new Set([...Object.keys(own), ...Object.keys(given)])];
  const pairs = keys.map((key): [string, unknown] => [key, key in given ? joined(own[key], given[key]) : own[key]]);
  return Object.fromEntries(pairs.filter(([key, value]) => value !== null || !(key in given)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe("the chart's files", () => {
  test("the version of the chart's carryover is that of the package", () => {
    const chart = parse(read("helm/Chart.yaml")) as Record<string, string>;
    expect(chart["appVersion"]).toBe(json("package.json")["version"]);
  });
});

describe("the schema", () => {
  test("takes the chart's own defaults", () => {
    expect(accepts({}), JSON.stringify(valid.errors)).toBe(true);
  });

  test("takes the documented configuration and rules as they are", () => {
    const yaml = (page: string, first: string): unknown => {
      const block = [...read(page).matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
      const found = block.find((lines) => lines.includes(first));
      return parseAllDocuments(found ?? "")[0]?.toJSON();
    };
    const config = yaml("docs/configuration.md", "upstream:");
    const rules = yaml("docs/rules.md", "version: carryover/v1");
    expect(config).toBeTypeOf("object");
    expect(rules).toBeTypeOf("object");
    expect(accepts({ config, rules }), JSON.stringify(valid.errors)).toBe(true);
  });

  test.each([
    ["a word that is no option", { config: { upstream: { v2: { ulr: "https://a" } } } }],
    ["an upstream without a scheme", { config: { upstream: { v2: { url: "platform.example.com" } } } }],
    ["a number for a text", { image: { tag: 1.2 } }],
    ["a value that is not there", { replicas: 2 }],
    ["a rule without a mode", { rules: { rules: [{ name: "a", match: {} }] } }],
    ["a digest that is none", { image: { digest: "sha256:abc" } }],
    ["a port above 65535", { service: { port: 65536 } }],
    ["a label that is no text", { commonLabels: { team: 1 } }],
    ["a map that templates need, taken away", { config: null }],
    ["a text that templates need, taken away", { image: { registry: null } }],
    ["a value below podMonitor that only serviceMonitor has", { podMonitor: { targetLabels: [] } }],
  ])("refuses %s", (_, given) => {
    expect(accepts(given)).toBe(false);
  });

  test("takes yes and no without quotes, which Helm reads as true and false", () => {
    expect(accepts({ config: { upstream: { v2: { omitsZeros: true } } } })).toBe(true);
    expect(accepts({ config: { upstream: { v2: { omitsZeros: "maybe" } } } })).toBe(false);
  });

  test("lets a probe and a security context be taken away", () => {
    expect(accepts({ startupProbe: null, podSecurityContext: { runAsUser: null } })).toBe(true);
  });

  test("has no regular expression that Go cannot read", () => {
    const patterns = [...JSON.stringify(schema).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]);
    expect(patterns.length).toBeGreaterThan(30);
    expect(patterns.filter((pattern) => /\(\?<?[!=]/.test(pattern ?? ""))).toEqual([]);
  });
});

test("every value of values.yaml is described, itself or with its parent", () => {
  const undescribed = (value: Value): readonly string[] => {
    if (value.says !== "") return [];
    if (value.children === undefined) return [value.path.join(".")];
    return value.children.flatMap(undescribed);
  };
  expect(values.flatMap(undescribed)).toEqual([]);
});

test("a comment that cannot be read is refused by the value's path", () => {
  expect(() => readValues("a:\n  # @schema text\n  b: 1\n")).toThrow("a.b: @schema holds no map");
  expect(() => valuesSchema(readValues("a: null\n"), json)).toThrow("a: its default is null");
  expect(() => valuesSchema(readValues("# @schema {$ref: prot}\na: 1\n"), json)).toThrow("there is no such form");
  expect(() => valuesSchema(readValues("# @schema {like: b.c}\na: {}\n"), json)).toThrow("like b.c");
  expect(() => readmeWith("no marks", values)).toThrow("no block values");
});
