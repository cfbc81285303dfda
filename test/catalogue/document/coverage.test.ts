import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { coveragePage } from "../../../src/catalogue/document/coverage.ts";
import { loadCatalogue } from "../../../src/catalogue.ts";
import type { Operation } from "../../../src/model/resource.ts";

const { resources, natives, version } = await loadCatalogue("v2beta1");
const page = coveragePage(resources, natives, version);

test("the page of coverage is the one the catalogue gives", async () => {
  await expect(page).toMatchFileSnapshot("../../../docs/coverage.md");
});

test("the page has every v1 operation once", () => {
  const paths = [...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[a-z]+\/v1\/[^`]*)`/g)].map(([, path]) => path);
  const isOfV1 = (each: Operation): boolean => each.kind !== "native" || each.extension !== true;
  const all = resources.reduce((sum, { operations }) => sum + operations.filter(isOfV1).length, 0);
  const others = natives.reduce((sum, { operations }) => sum + operations.length, 0);
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toHaveLength(all + others);
});

test("the README counts the operations as the page does", async () => {
  const readme = await readFile(new URL("../../../README.md", import.meta.url), "utf8");
  const [, translated, known] = /^(\d+) of (\d+) v1 operations are translated/m.exec(page) ?? [];
  expect(readme).toContain(`Of v1's ${known} operations the ${translated} of `);
});
