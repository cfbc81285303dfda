/** docs/errors.md explains every reason, every note and every other word, and names the option that changes it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALL_OPTIONS } from "../../src/config/all-options.ts";
import { DIFFICULTIES } from "../../src/ledger/entry.ts";
import { COMPARISON_FAILURES, SKIP_REASONS } from "../../src/model/comparison.ts";
import { NOTES, WITNESSES } from "../../src/model/exchange.ts";
import { OurHeader } from "../../src/model/http.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import { cellsOf } from "./tables.ts";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const options = ALL_OPTIONS.map(({ path }) => path);

/** The rows of the section called `title`: what each explains, and the options that it names. */
function entries(title: string, name: number): ReadonlyMap<string, string> {
  const [, section = ""] = page.split(`\n## ${title}\n`);
  const rows = cellsOf((section.split("\n## ")[0] ?? "").split("\n"));
  return new Map(rows.map((cells) => [cells[name]?.replaceAll("`", "") ?? "", cells.at(-1) ?? ""]));
}

const WORDS: readonly (readonly [title: string, words: readonly string[], name: number])[] = [
  ["carryover's own", Object.keys(PROBLEMS), 2],
  ["Notes", NOTES, 0],
  ["Headers", Object.values(OurHeader), 0],
  ["Witnesses", WITNESSES, 0],
  ["Why a comparison failed", COMPARISON_FAILURES, 0],
  ["Why a sampled request was not compared", SKIP_REASONS, 0],
  ["How hard a client is to move", DIFFICULTIES, 0],
];

describe("docs/errors.md", () => {
  it.each(WORDS)("%s: has an entry for each word, with the options that change it", (title, words, name) => {
    const found = entries(title, name);
    const without = words.filter((word) => !/^(none|(`[\w.*]+`(, )?)+)$/.test(found.get(word) ?? ""));
    expect(without).toEqual([]);
  });

  it("names options that there are", () => {
    const cells = WORDS.flatMap(([title, words, name]) => words.map((word) => entries(title, name).get(word) ?? ""));
    const named = new Set(cells.flatMap((cell) => [...cell.matchAll(/`([\w.*]+)`/g)].map(([, option = ""]) => option)));
    expect(named.size).toBeGreaterThan(20);
    // A group stands for all of its options.
    const isThere = (option: string) => {
      const pattern = new RegExp(`^${option.replaceAll(".", "\\.").replaceAll("*", "(v1|v2|sts)")}(\\.|$)`);
      return options.some((path) => pattern.test(path));
    };
    expect([...named].filter((option) => !isThere(option))).toEqual([]);
  });
});
