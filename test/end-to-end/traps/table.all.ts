import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { differences } from "../../../scripts/docs/differences.ts";
import { testsNamed } from "../../../scripts/docs/trap-pages.ts";
import { traps } from "../../../scripts/docs/traps.ts";

const rows = differences.flatMap((group) => group.rows);

test("every trap is in the table once, in order", () => {
  expect(traps.map(({ id }) => id)).toEqual(
    Array.from({ length: 67 }, (_, index) => `TRAP-${String(index + 1).padStart(2, "0")}`),
  );
});

test("a trap has tests that are named after it exactly when it applies", () => {
  const applies = traps.filter(({ verdict }) => verdict !== "does not apply").map(({ id }) => id);
  expect([...testsNamed("TRAP").keys()].toSorted()).toEqual(applies);
});

test("every difference has an id of its own, and tests that are named after it", () => {
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...testsNamed("DIFF").keys()].toSorted()).toEqual(ids.toSorted());
});

test("a trap names the differences that it leaves exactly when it is refused, if only in part", () => {
  const known = new Set(rows.map(({ id }) => id));
  const named = traps.map(
    ({ id, verdict, differences: left = [] }) => [id, verdict.includes("refused"), left] as const,
  );
  expect(named.filter(([, refused, left]) => refused !== left.length > 0)).toEqual([]);
  expect(named.flatMap(([, , left]) => left).filter((id) => !known.has(id))).toEqual([]);
});

test("no title begins with an id of another form, such as T50 or V14", () => {
  const tests = resolve(import.meta.dirname, "../..");
  const other = readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:test|all|real)\.ts$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(tests, name), "utf8").matchAll(/["'`](?:[A-Z]{1,3}\d{1,3})(?:, [A-Z-]+\d+)*: /g),
    ]);
  expect(other.map(([title]) => title)).toEqual([]);
});
