/** Does docs/concepts.md explain the words that the program has? */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { configOptions } from "../../src/config.ts";

const page = readFileSync(new URL("../../docs/concepts.md", import.meta.url), "utf8");
const row = (word: string) => page.split("\n").find((line) => line.startsWith(`| ${word} |`)) ?? "";
const values = (path: string) =>
  configOptions()
    .find((option) => option.path === path)
    ?.form.split("|") ?? [];

test("it names the resources of the catalogue, and no other", async () => {
  const { resources } = await loadCatalogue("v2beta1");
  const named = (/a kind of record: ([^|]*) \|/.exec(row("resource"))?.[1] ?? "").split(",").map((name) => name.trim());
  expect(named.toSorted()).toEqual(resources.map(({ name }) => name.replaceAll("-", " ")).toSorted());
});

test("it explains each mode, each witness and each kind of token that an option can say", () => {
  expect(values("cutover.mode")).toHaveLength(3);
  for (const mode of values("cutover.mode")) expect(row("mode")).toContain(`\`${mode}\``);
  for (const witness of ["none", "count", "cover"]) {
    expect(values("lists.require").some((value) => value.startsWith(witness))).toBe(true);
    expect(row(`– \`${witness}\``)).not.toBe("");
  }
  for (const kind of values("upstream.v2.tokens").filter((value) => value !== "unknown")) {
    expect(row("keyset, offset")).toContain(kind);
  }
  for (const way of values("fallback")) expect(row("fallback")).toContain(`\`${way}\``);
});
