/** Is every trap either tested under its own name or told not to apply, and does the page say which? */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { trapsPage } from "./page.ts";
import { traps } from "./traps.ts";

const TITLE = /(?:^|\btest\(|\]\)\(|\)\()\s*(["'`])(?:T-[A-Z]{3}-\d\d, )?(T\d\d): (.+?)\1,? ?(?:async |\(|$)/gm;

/** By id: the files of this folder with tests that are named after it. */
function titled(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"))) {
    const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
    expect([file, /\b(?:test|it|describe)\.(?:skip|todo|only|fails)\b/.test(text)]).toEqual([file, false]);
    for (const [, , id = ""] of text.matchAll(TITLE)) {
      const files = found.get(id) ?? [];
      if (!files.includes(file)) found.set(id, [...files, file]);
    }
  }
  return found;
}

test("every trap is in the table once, in order", () => {
  expect(traps.map(({ id }) => id)).toEqual(
    Array.from({ length: 67 }, (_, index) => `T${String(index + 1).padStart(2, "0")}`),
  );
});

test("a trap has tests that are named after it exactly when it applies", () => {
  const applies = traps.filter(({ verdict }) => verdict !== "does not apply").map(({ id }) => id);
  expect([...titled().keys()].toSorted()).toEqual(applies);
});

test("a verdict that refuses says with what", () => {
  const refusing = traps.filter(({ verdict }) => verdict.includes("refused"));
  const vague = refusing.filter(({ answer }) => !/\b(?:4\d\d|5\d\d)\b|error stands/.test(answer));
  expect(vague.map(({ id }) => id)).toEqual([]);
});

test("the page of traps is the one the table gives", async () => {
  await expect(trapsPage(titled())).toMatchFileSnapshot("../../docs/traps.md");
});
