import { expect, test } from "vitest";
import { createExams } from "../../src/runtime/exams.ts";
import { exchange, ledgerOf } from "../ledger/samples.ts";

function rig() {
  const { ledger, clock } = ledgerOf();
  const timer = { at: 0 };
  const comparisons = [{ resource: "group", operation: "list", client: "a", comparisons: 10, differences: 0 }];
  const exams = createExams({
    ledger,
    comparisons: () => comparisons,
    isUntranslated: () => false,
    wall: () => clock.at,
    now: () => timer.at,
  });
  return { ledger, timer, exams, comparisons };
}

test("a client fails by its own comparisons, once the last judgement is 10 s old", () => {
  const { ledger, timer, exams, comparisons } = rig();
  ledger.observe(exchange("a"));
  ledger.observe(exchange("b"));
  expect(exams.failed("a")).toBe(undefined);
  comparisons[0] = { resource: "group", operation: "list", client: "a", comparisons: 10, differences: 1 };
  expect(exams.failed("a")).toBe(undefined);
  timer.at = 10_000;
  expect([exams.failed("a"), exams.failed("b"), exams.failed("new")]).toEqual([
    "group list: 1 of 10 comparisons differ",
    undefined,
    undefined,
  ]);
});

test("a request that failed because of the translation counts at once", () => {
  const { ledger, exams } = rig();
  ledger.observe(exchange("a"));
  expect(exams.failed("a")).toBe(undefined);
  ledger.observe(exchange("a", { status: 502, reason: "DRAIN_INCOMPLETE", fault: "translation" }));
  expect(exams.failed("a")).toBe("requests of group list failed because of the translation");
});
