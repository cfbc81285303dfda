import { expect, test } from "vitest";
import { coveragePage } from "../../../src/catalogue/document/coverage.ts";
import { loadCatalogue } from "../../../src/catalogue.ts";

const { resources, natives, version } = await loadCatalogue("v2beta1");
const page = coveragePage(resources, natives, version);

test("the page of coverage is the one the catalogue gives", async () => {
  await expect(page).toMatchFileSnapshot("../../../docs/coverage.md");
});

test("the page has every v1 operation once", () => {
  const paths = [...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[a-z]+\/v1\/[^`]*)`/g)].map(([, path]) => path);
  const all = resources.reduce((sum, { operations }) => sum + operations.length, 0);
  const others = natives.reduce((sum, { operations }) => sum + operations.length, 0);
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toHaveLength(all + others);
});
