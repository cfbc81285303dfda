import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { comparisonsNeeded, isBelow, upperBound } from "../../src/rollout/upper-bound.ts";

describe("upperBound", () => {
  test.each([
    [0, 3.5],
    [1, 6.8],
    [5, 14.6],
    [100, 136],
  ])("%d differences: the bound is about %d/n", (differences, mean) => {
    expect(upperBound(differences, 1e6) * 1e6).toBeCloseTo(mean, -Math.log10(mean * 0.05));
  });

  test("is 1 without a comparison, without an equal one, and for nonsense", () => {
    for (const [differences, comparisons] of [
      [0, 0],
      [5, 5],
      [6, 5],
      [0, -1],
      [0, Number.NaN],
      [Number.NaN, 5],
    ] as const) {
      expect(upperBound(differences, comparisons)).toBe(1);
    }
    expect(upperBound(-1, 100)).toBe(upperBound(0, 100));
  });

  test("grows with differences, falls with comparisons, and lies between the share and 1", () => {
    const count = fc.oneof(fc.nat(30), fc.nat(100_000));
    fc.assert(
      fc.property(count, fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 1000 }), (k, n, more) => {
        const bound = upperBound(k, n);
        expect(bound).toBeGreaterThan(Math.min(k / n, 0.999999));
        expect(bound).toBeLessThanOrEqual(1);
        expect(upperBound(k + more, n)).toBeGreaterThanOrEqual(bound);
        expect(upperBound(k, n + more)).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 300 },
    );
  });

  test("is found for impossibly large counts, too", () => {
    expect(upperBound(2 ** 52, 2 ** 53)).toBeCloseTo(0.57, 2);
    expect(upperBound(1e299, 1e300)).toBeCloseTo(0.11, 2);
  });

  test("is below a rate exactly when isBelow says so", () => {
    const rate = fc.double({ min: 0.0001, max: 0.9, noNaN: true });
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 100_000 }), rate, (k, n, threshold) => {
        fc.pre(Math.abs(upperBound(k, n) - threshold) > 1e-9);
        expect(isBelow(threshold, k, n)).toBe(upperBound(k, n) < threshold);
      }),
    );
  });
});

test("as many comparisons are needed as bring the bound below the rate, and not one less", () => {
  for (const rate of [0.02, 0.001, 0.5]) {
    for (const differences of [0, 1, 5]) {
      const needed = comparisonsNeeded(rate, differences, 0.04);
      expect([isBelow(rate, differences, needed, 0.04), isBelow(rate, differences, needed - 1, 0.04)]).toEqual([
        true,
        false,
      ]);
    }
  }
  expect(comparisonsNeeded(0.02, 0, 0.04)).toBe(183);
  for (const never of [0, -1, 1e-12]) expect(comparisonsNeeded(never, 0)).toBe(Number.POSITIVE_INFINITY);
});
