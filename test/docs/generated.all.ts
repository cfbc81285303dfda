import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { GENERATED } from "../../scripts/docs/files.ts";
import { EXAMPLE_RULES, rulesSchemaFile } from "../../scripts/docs/rules.ts";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { configOptions } from "../../src/config/config.ts";
import { isJsonObject, type Json, member } from "../../src/model/json.ts";
import type { Operation } from "../../src/model/resource.ts";
import { faults, read as readRules } from "../config/rules/context.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const { resources, natives } = await loadCatalogue("v2beta1");

it.each([...GENERATED])("%s is up to date", { timeout: 120_000 }, async (path, make) => {
  expect(await make(), `${path} is stale: \`npm run docs\` regenerates it`).toBe(read(path));
});

describe("docs/configuration.md", () => {
  it("has every option once, the usual ones first", () => {
    const named = [...read("docs/configuration.md").matchAll(/^\| `([a-zA-Z\d.]+)` \|.*\|.*\|.*\|.*\|$/gm)].map(
      ([, path]) => path,
    );
    const usual = configOptions().filter((option) => option.usual);
    expect(named.toSorted()).toEqual(
      configOptions()
        .map(({ path }) => path)
        .toSorted(),
    );
    expect(named.slice(0, usual.length)).toEqual(usual.map(({ path }) => path));
  });
});

describe("docs/coverage.md", () => {
  const page = read("docs/coverage.md");

  it("has every v1 operation once", () => {
    const paths = [...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[a-z]+\/v1\/[^`]*)`/g)].map(([, path]) => path);
    const isOfV1 = (each: Operation): boolean => each.kind !== "native" || each.extension !== true;
    const all = resources.reduce((sum, { operations }) => sum + operations.filter(isOfV1).length, 0);
    const others = natives.reduce((sum, { operations }) => sum + operations.length, 0);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toHaveLength(all + others);
  });

  it("begins with how many operations of each domain are translated, as its tables show", () => {
    const [opening = "", ...sections] = page.split("\n## ");
    const count = { translated: new Map<string, number>(), native: new Map<string, number>() };
    for (const line of sections.join("\n").split("\n")) {
      const [, domain = ""] = /`[A-Z]+ \/([a-z]+)\/v1\//.exec(line) ?? [];
      if (domain === "" || line.includes("v1 had no such Get")) continue;
      const map = /\| (?:no such operation|has it; not translated) \|$/.test(line) ? count.native : count.translated;
      map.set(domain, (map.get(domain) ?? 0) + 1);
    }
    const told = [...opening.matchAll(/^\| ([a-z]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
    for (const [, domain = "", all, translated, inV2, onlyV1] of told.filter(([, name]) => name !== "all")) {
      expect([domain, Number(translated), Number(inV2) + Number(onlyV1)]).toEqual([
        domain,
        count.translated.get(domain) ?? 0,
        count.native.get(domain) ?? 0,
      ]);
      expect(Number(translated) + Number(inV2) + Number(onlyV1)).toBe(Number(all));
    }
    expect(told.at(-1)?.slice(1, 3)).toEqual(["all", "139"]);
  });

  it("names its limits before its first resource, and the README before its first section", () => {
    const beginnings = [page.split("## account-association")[0] ?? "", read("README.md").split("\n## ")[0] ?? ""];
    for (const beginning of beginnings) {
      expect(beginning).toMatch(/\b51 of (?:v1's )?139\b/);
      expect(beginning).toMatch(/leaves? .*\bPUT\b|\bPUT\b.* leaves/);
      expect(beginning).toContain("trust.md)");
    }
  });
});

describe("docs/openapi.yaml", () => {
  const document = parse(read("docs/openapi.yaml")) as Json;

  it("has every translated operation once, under its own name", () => {
    const paths = Object.values(member(document, "paths") as Record<string, Json>);
    const ids = paths.flatMap((item) => Object.values(item as object)).map((each: Json) => member(each, "operationId"));
    const translated = resources.flatMap(({ operations }) => operations.filter(({ kind }) => kind !== "native"));
    const twice = translated.filter((operation) => operation.kind === "create" && operation.emptyParent === true);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(translated.length + twice.length);
  });

  it("has no reference to what is not there", () => {
    const references = referencesIn(document);
    const target = (ref: string) => ref.slice(2).split("/").reduce<Json | undefined>(member, document);
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((ref) => target(ref) === undefined)).toEqual([]);
  });
});

function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : referencesIn(inner),
  );
}

describe("docs/rules.md", () => {
  const rows = read("docs/rules.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));

  /** `name`, then each key below it. */
  function keysOf(node: unknown, prefix = ""): readonly string[] {
    const { properties, items } = (node ?? {}) as { properties?: Record<string, unknown>; items?: unknown };
    if (items !== undefined) return keysOf(items, `${prefix.slice(0, -1)}[].`);
    return Object.entries(properties ?? {}).flatMap(([key, child]) => [
      `${prefix}${key}`,
      ...keysOf(child, `${prefix}${key}.`),
    ]);
  }
  const keys = keysOf(JSON.parse(rulesSchemaFile()));

  it("has every key once, and describes it", () => {
    expect(keys.length).toBeGreaterThan(35);
    expect(rows.map((line) => /^\| `([A-Za-z.[\]]+)` \|/.exec(line)?.[1])).toEqual(keys);
    expect(
      rows.filter(
        (row) =>
          row
            .split(/(?<!\\)\|/)
            .at(-2)
            ?.trim() === "",
      ),
    ).toEqual([]);
  });

  it("has an example that is valid and uses every key", () => {
    expect(faults(EXAMPLE_RULES)).toEqual([]);
    expect(readRules(EXAMPLE_RULES).warnings).toEqual([]);
    for (const key of keys) {
      const name = key.split(".").at(-1)?.replace("[]", "") ?? "";
      expect(EXAMPLE_RULES, key).toMatch(new RegExp(`\\b${name}:`));
    }
  });
});

describe("docs/errors.md", () => {
  it("names every key of the metadata of errors, and no other", () => {
    const src = new URL("src/", ROOT);
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const made = files.flatMap((name) => {
      const text = readFileSync(new URL(name, src), "utf8");
      if (!text.includes("Problem(") && !text.includes("STATE_UNKNOWN =")) return [];
      return [...text.matchAll(/(?:metadata(?: =[^{\n]*|: )|STATE_UNKNOWN = ){([^}]*)}/g)].flatMap(([, body = ""]) =>
        [...body.matchAll(/(?:^|,)\s*([a-z]\w*)(?=\s*(?::|,|$))/g)].map(([, key = ""]) => key),
      );
    });
    const table = read("docs/errors.md").split("| metadata | says |")[1]?.split("\n\n")[0] ?? "";
    const named = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key),
    );
    expect(new Set(made).size).toBeGreaterThan(8);
    expect(named.toSorted()).toEqual([...new Set(made)].toSorted());
  });
});
