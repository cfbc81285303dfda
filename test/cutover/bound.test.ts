import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { upperBound } from "../../src/rollout/upper-bound.ts";

/** Upper 95 % limits of a Poisson mean: half the 95 % quantile of chi-square with 2k + 2 degrees of freedom. */
const TABLE: readonly (readonly [count: number, mean: number])[] = [
  [0, 2.9957],
  [1, 4.7439],
  [2, 6.2958],
  [3, 7.7537],
  [4, 9.1535],
  [5, 10.513],
  [6, 11.8424],
  [7, 13.1481],
  [8, 14.4346],
  [9, 15.7052],
  [10, 16.9622],
  [20, 29.062],
  [50, 63.2871],
  [100, 118.0793],
];

describe("upperBound", () => {
  test.each(TABLE)("%d differences: a mean of %d", (count, mean) => {
    expect(upperBound(count, 1e6) * 1e6).toBeCloseTo(mean, 3);
    expect(upperBound(count, 1000)).toBeCloseTo(mean / 1000, 6);
  });

  test("no difference in n: three in n, near enough", () => {
    expect(upperBound(0, 300)).toBeCloseTo(-Math.log(0.05) / 300, 12);
    expect(upperBound(0, 3000)).toBeLessThan(0.001);
  });

  test("nothing compared, nothing equal, nonsense: no bound", () => {
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
    expect(upperBound(0, 1)).toBe(1);
    expect(upperBound(0, 2)).toBe(1);
    expect(upperBound(-1, 100)).toBe(upperBound(0, 100));
  });

  test("it grows with differences, falls with comparisons, and lies between the share and 1", () => {
    const count = fc.oneof(fc.nat(30), fc.nat(100_000));
    fc.assert(
      fc.property(count, fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 1000 }), (k, n, more) => {
        const bound = upperBound(k, n);
        expect(bound).toBeGreaterThan(Math.min(k / n, 0.999999));
        expect(bound).toBeLessThanOrEqual(1);
        expect(upperBound(k + more, n)).toBeGreaterThanOrEqual(bound);
        expect(upperBound(k, n + more)).toBeLessThanOrEqual(bound);
        if (bound < 1) expect(upperBound(k, n + more)).toBeLessThan(bound);
      }),
      { numRuns: 300 },
    );
  });

  test("it is as exact for very many differences as for few, to either side of where the way to it changes", () => {
    /** The chance that a Poisson variable of `mean` is at most `k`, by its terms and from the largest up and down. */
    const chance = (k: number, mean: number): number => {
      let [sum, term, i] = [1, 1, k];
      while (term > 1e-18 * sum) {
        term *= i / mean;
        sum += term;
        i -= 1;
      }
      // Stirling, and k ln(mean/k) by its own series: the large parts cancel before they are rounded.
      const x = (mean - k) / k;
      return (sum * Math.exp(k * (Math.log1p(x) - x) - 1 / (12 * k))) / Math.sqrt(2 * Math.PI * k);
    };
    for (const k of [1000, 50_000, 99_999, 100_000, 100_001, 1e6, 1e7, 1e8]) {
      const comparisons = 10 * k;
      expect(chance(k, upperBound(k, comparisons) * comparisons)).toBeCloseTo(0.05, 6);
    }
    const means = [99_998, 99_999, 100_000, 100_001, 100_002].map((k) => upperBound(k, 1e6) * 1e6);
    for (const [at, mean] of means.slice(1).entries()) expect(mean - means[at]!).toBeCloseTo(1.0026, 4);
  });

  test("counts that nobody can have made end as well, at once", () => {
    expect(upperBound(1e17, 1e18)).toBeCloseTo(0.1, 6);
    expect(upperBound(2 ** 52, 2 ** 53)).toBeCloseTo(0.5, 6);
    expect(upperBound(1e299, 1e300)).toBeCloseTo(0.1, 6);
    expect(upperBound(Number.MAX_VALUE / 2, Number.MAX_VALUE)).toBeCloseTo(0.5, 6);
  });

  test("it is never below the binomial bound", () => {
    /** The chance of at most `k` of `n`, each with chance `p`, summed from its logarithms. */
    const atMost = (k: number, n: number, p: number): number => {
      let [sum, term] = [0, n * Math.log1p(-p)];
      for (let i = 0; i <= k; i++) {
        sum += Math.exp(term);
        term += Math.log((n - i) / (i + 1)) + Math.log(p) - Math.log1p(-p);
      }
      return sum;
    };
    for (const n of [5, 20, 100, 5000]) {
      for (const k of [0, 1, 2, 3, 10]) {
        const bound = upperBound(k, n);
        if (bound < 1) expect(atMost(k, n, bound)).toBeLessThanOrEqual(0.0500001);
      }
    }
  });
});
