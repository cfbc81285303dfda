import { expect, test } from "vitest";
import { optionsPage, schemaFile } from "../../src/config/docs.ts";
import { configOptions } from "../../src/config.ts";

test("the shipped JSON Schema is the one the options give", async () => {
  await expect(schemaFile()).toMatchFileSnapshot("../../docs/config.schema.json");
});

test("the page of options is the one the options give", async () => {
  await expect(optionsPage()).toMatchFileSnapshot("../../docs/configuration.md");
});

test("the page has every option once, with its default", () => {
  const rows = optionsPage()
    .split("\n")
    .map((line) => /^\| `([A-Za-z0-9.]+)` \|/.exec(line)?.[1])
    .filter((path) => path !== undefined);
  expect(rows).toEqual(configOptions().map((option) => option.path));
  expect(optionsPage()).toContain("| `lists.maxBytes` | bytes | `256MiB` | 1024 to 4294967296 |");
});
