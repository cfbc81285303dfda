import { describe, expect, it } from "vitest";
import { createBudget, DEFAULT_BUDGET } from "../../src/upstream/budget.ts";

describe("a retry budget", () => {
  it("always lends three", () => {
    const budget = createBudget(DEFAULT_BUDGET);
    expect([1, 2, 3].map(() => typeof budget.repeat())).toEqual(["function", "function", "function"]);
    expect(budget.repeat()).toBeUndefined();
  });

  it("lends a fifth of what is under way", () => {
    const budget = createBudget(DEFAULT_BUDGET);
    const leave = Array.from({ length: 50 }, () => budget.enter());
    const lent = Array.from({ length: 12 }, () => budget.repeat());
    expect(lent.filter((giveBack) => giveBack !== undefined)).toHaveLength(10);
    lent[0]?.();
    expect(budget.repeat()).toBeTypeOf("function");
    for (const go of leave) go();
    expect(budget.repeat()).toBeUndefined();
  });

  it("counts each return once", () => {
    const budget = createBudget({ share: 0, floor: 1 });
    const giveBack = budget.repeat();
    giveBack?.();
    giveBack?.();
    expect(budget.repeat()).toBeTypeOf("function");
    expect(budget.repeat()).toBeUndefined();
  });
});
