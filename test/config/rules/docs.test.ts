import { expect, test } from "vitest";
import { EXAMPLE_RULES, rulesPage, rulesSchemaFile } from "../../../src/config/rules/docs.ts";
import { faults, read } from "./context.ts";

test("the shipped JSON Schema is the one the rules give", async () => {
  await expect(rulesSchemaFile()).toMatchFileSnapshot("../../../docs/rules.schema.json");
});

test("the page of rules is the one the rules give", async () => {
  await expect(rulesPage()).toMatchFileSnapshot("../../../docs/rules.md");
});

/** `name`, then each key below it. */
function keysOf(node: unknown, prefix = ""): readonly string[] {
  const { properties, items } = (node ?? {}) as { properties?: Record<string, unknown>; items?: unknown };
  if (items !== undefined) return keysOf(items, `${prefix.slice(0, -1)}[].`);
  return Object.entries(properties ?? {}).flatMap(([key, child]) => [
    `${prefix}${key}`,
    ...keysOf(child, `${prefix}${key}.`),
  ]);
}

test("the page has every key once, and what is not said of it elsewhere", () => {
  const rows = rulesPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const keys = rows.map((line) => /^\| `([A-Za-z.[\]]+)` \|/.exec(line)?.[1]);
  expect(keys).toEqual(keysOf(JSON.parse(rulesSchemaFile())));
  expect(keys.length).toBeGreaterThan(35);
  expect(rows).toContain(
    "| `rules[].match.percent` | percentage | – | Share of clients, each always on the same side; 0 switches the rule off |",
  );
  expect(rows).toContain("| `rules[].stepBack.window` | seconds | `5m` | How far back is looked |");
  expect(rows).toContain(
    "| `rules[].mode` | native \\| shadow \\| translate | required | Who answers: native v1; native v1, compared in the background; carryover from v2 |",
  );
  for (const row of rows)
    expect(
      row
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim())
        .at(-2),
      row,
    ).not.toBe("");
});

test("the page's example is a right file, and uses every key", () => {
  expect(rulesPage()).toContain(EXAMPLE_RULES.trimEnd());
  expect(faults(EXAMPLE_RULES)).toEqual([]);
  expect(read(EXAMPLE_RULES).warnings).toEqual([]);
  expect(read(EXAMPLE_RULES).rules.rules.map(({ name, mode }) => [name, mode])).toEqual([
    ["volunteers", "translate"],
    ["reads-first", "translate"],
    ["billing-waits", "native"],
    ["everything-else", "shadow"],
  ]);
  for (const key of keysOf(JSON.parse(rulesSchemaFile()))) {
    const name = key.split(".").at(-1)?.replace("[]", "") ?? "";
    expect(EXAMPLE_RULES, key).toMatch(new RegExp(`\\b${name}:`));
  }
});
