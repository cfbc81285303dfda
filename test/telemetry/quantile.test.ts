import { expect, test } from "vitest";
import { quantile } from "../../src/telemetry/quantile.ts";

const BUCKETS = [
  { le: 0.01, count: 10 },
  { le: 0.1, count: 30 },
  { le: Number.POSITIVE_INFINITY, count: 40 },
];

test("a quantile is between the bounds of its bucket, and at most the last finite one", () => {
  expect(quantile(0.125, BUCKETS)).toBeCloseTo(0.005);
  expect(quantile(0.5, BUCKETS)).toBeCloseTo(0.055);
  expect(quantile(0.99, BUCKETS)).toBe(0.1);
});

test("there is none of nothing", () => {
  expect(quantile(0.5, [])).toBeUndefined();
  expect(
    quantile(
      0.5,
      BUCKETS.map(({ le }) => ({ le, count: 0 })),
    ),
  ).toBeUndefined();
});
