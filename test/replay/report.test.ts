import { expect, test } from "vitest";
import { progressLine } from "../../src/commands/replay/progress.ts";
import { createDoneSet } from "../../src/replay/done.ts";
import { createReplayReport, isCertain } from "../../src/replay/report.ts";
import { newSourceCount } from "../../src/replay/source.ts";
import { newTally } from "../../src/replay/tally.ts";

test.each([
  [1, 0, true],
  [3, 1, false],
  [40, 38, false],
  [40, 5, true],
  [5000, 4000, true],
  [5000, 4950, false],
])(
  "%i requests in which the translation differs alone, and %i in which native does: certain is %s",
  (requests, unstable, certain) => {
    expect(isCertain({ requests, unstable })).toBe(certain);
  },
);

test.each([
  ["equal", {}, 100, 99, 1],
  ["unknown", {}, 100, 98, 2],
  ["unknown", {}, 0, 0, 0],
  ["unknown", { stopped: "by a signal" }, 100, 50, 0],
] as const)(
  "the verdict is %s (%j) of %i requests, %i compared and %i not",
  (verdict, more, selected, compared, failed) => {
    const tally = { ...newTally(), compared, failed: failed === 0 ? [] : [{ why: "x", first: "", count: failed }] };
    const count = { ...newSourceCount(), selected };
    const facts = { version: "0", v1: "", v2: "", files: [], count, tally, slowed: 0, stopped: undefined, ...more };
    expect(createReplayReport(facts).verdict).toBe(verdict);
  },
);

test("requests that are done in any order are a few numbers", () => {
  const done = createDoneSet({ below: 2, ahead: [4] });
  for (const index of [3, 2, 7]) done.add(index);
  expect(done.snapshot()).toEqual({ below: 5, ahead: [7] });
  expect([done.size(), done.has(4), done.has(5), done.has(7)]).toEqual([6, true, false, true]);
});

test("the progress says how far it is and how long it will take", () => {
  const facts = { done: 120, all: 480, here: 60, ms: 30_000, differing: 3, pause: 0 };
  expect(progressLine(facts, true)).toBe("[######------------------] 120 of 480 requests, 25 %, 3 differ, 3 min left");
  expect(progressLine({ ...facts, here: 0, pause: 4500 }, false)).toBe(
    "120 of 480 requests, 25 %, 3 differ, waiting 5 s for the platform",
  );
});
