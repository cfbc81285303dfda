import fc from "fast-check";
import { expect, test } from "vitest";
import { type CanaryMatch, coversCanary, decideCanary, NEVER } from "../../../src/rules/conditions/canary.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const selector = fc.record({ name: fc.constantFrom("one", "two"), value: fc.constantFrom("always", "v2") });
const canaryMatch: fc.Arbitrary<CanaryMatch> = fc.record({
  header: maybe(selector),
  cookie: maybe(selector),
  percent: maybe(fc.constantFrom(0, 0.01, 10, 50, 99.5, 100)),
});

const isTaken = (match: CanaryMatch, signs: Parameters<typeof decideCanary>[1]) =>
  Object.values(match).every((value) => value === undefined) || decideCanary(match, signs).taken;

/** Every request that two such rules can tell apart. */
const SAID = [undefined, NEVER, "always", "v2", "other"];
const FIELDS = SAID.flatMap((one) =>
  SAID.map(
    (two) =>
      new Map([
        ["one", one],
        ["two", two],
      ] as const),
  ),
);
const BUCKETS = [0, 0.01, 10, 50, 99.5];
const REQUESTS = FIELDS.flatMap((headers) =>
  FIELDS.flatMap((cookies) =>
    BUCKETS.map((bucket) => ({
      header: (name: string) => headers.get(name as "one"),
      cookie: (name: string) => cookies.get(name as "one"),
      bucket: () => bucket,
    })),
  ),
);

test("a rule covers another exactly when it takes each of all requests that the other takes", () => {
  const seen = { covered: 0, open: 0 };
  fc.assert(
    fc.property(canaryMatch, canaryMatch, fc.boolean(), fc.boolean(), (outer, other, sameHeader, sameCookie) => {
      const inner: CanaryMatch = {
        header: sameHeader ? outer.header : other.header,
        cookie: sameCookie ? outer.cookie : other.cookie,
        percent: other.percent,
      };
      const takesSome = REQUESTS.some((signs) => isTaken(inner, signs));
      fc.pre(takesSome);
      const covered = REQUESTS.every((signs) => !isTaken(inner, signs) || isTaken(outer, signs));
      seen[covered ? "covered" : "open"] += 1;
      expect(coversCanary(outer, inner)).toBe(covered);
    }),
    { numRuns: 1500 },
  );
  expect(Math.min(seen.covered, seen.open)).toBeGreaterThan(100);
}, 60_000);
