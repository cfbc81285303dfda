import { describe, expect, it } from "vitest";
import { createRetryBudget, type RetryBudget } from "../../src/upstream/retry.ts";

/** How many repeats are lent one after another, each over before the next. */
function lent(budget: RetryBudget, most = 1_000): number {
  let count = 0;
  while (count < most && budget.repeat() !== undefined) count++;
  return count;
}

describe("a retry budget", () => {
  it("always lends three at a time", () => {
    const budget = createRetryBudget();
    const three = [1, 2, 3].map(() => budget.repeat());
    expect(three.map((giveBack) => typeof giveBack)).toEqual(["function", "function", "function"]);
    expect(budget.repeat()).toBeUndefined();
    three[0]?.();
    expect(budget.repeat()).toBeTypeOf("function");
    expect(budget.repeat()).toBeUndefined();
  });

  it("lends a fifth of the calls beside", () => {
    const budget = createRetryBudget({ share: 0.2, floor: 0 });
    expect(lent(budget)).toBe(0);
    for (let i = 0; i < 50; i++) budget.called();
    expect(lent(budget)).toBe(10);
    for (let i = 0; i < 4; i++) budget.called();
    expect(lent(budget)).toBe(0);
    budget.called();
    expect(lent(budget)).toBe(1);
  });

  it("saves no more than a hundred for bad times", () => {
    const budget = createRetryBudget({ share: 0.2, floor: 0 });
    for (let i = 0; i < 100_000; i++) budget.called();
    expect(lent(budget)).toBe(100);
  });

  it("takes what it always lends off the fifth", () => {
    const budget = createRetryBudget();
    for (let i = 0; i < 50; i++) budget.repeat()?.();
    for (let i = 0; i < 3; i++) budget.repeat();
    for (let calls = 0; calls < 265; calls++) {
      expect(budget.repeat()).toBeUndefined();
      budget.called();
    }
    for (let calls = 0; calls < 5; calls++) budget.called();
    expect(budget.repeat()).toBeTypeOf("function");
  });

  it("counts each return once", () => {
    const budget = createRetryBudget({ share: 0, floor: 1 });
    const giveBack = budget.repeat();
    giveBack?.();
    giveBack?.();
    expect(budget.repeat()).toBeTypeOf("function");
    expect(budget.repeat()).toBeUndefined();
  });
});
