/** Is every trap either tested under its own name or told not to apply? */
import { expect, test } from "vitest";
import { testsOfTraps } from "../../scripts/docs/traps.ts";
import { traps } from "./traps.ts";

test("every trap is in the table once, in order", () => {
  expect(traps.map(({ id }) => id)).toEqual(
    Array.from({ length: 67 }, (_, index) => `T${String(index + 1).padStart(2, "0")}`),
  );
});

test("a trap has tests that are named after it exactly when it applies", () => {
  const applies = traps.filter(({ verdict }) => verdict !== "does not apply").map(({ id }) => id);
  expect([...testsOfTraps().keys()].toSorted()).toEqual(applies);
});

test("a verdict that refuses says with what", () => {
  const refusing = traps.filter(({ verdict }) => verdict.includes("refused"));
  const vague = refusing.filter(({ answer }) => !/\b(?:4\d\d|5\d\d)\b|error stands/.test(answer));
  expect(vague.map(({ id }) => id)).toEqual([]);
});
