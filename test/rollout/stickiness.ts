/** A percentage takes its share of many clients, each for good: few of them in `npm test`, 100,000 in `npm run test:all`. */
import { describe, expect, test } from "vitest";
import { createBucket } from "../../src/rollout/callers.ts";

const SALTS = Array.from({ length: 10 }, (_, at) => (at === 0 ? "" : `salt-${at}`));
/** 0, then growing to 100, most steps where operators take them. */
const PERCENTAGES = [0, 0.1, 1, 2, 5, 10, 25, 50, 75, 100];

export function stickinessOf(count: number): void {
  const clients = Array.from({ length: count }, (_, at) => `client-${at}@example.com`);
  const placed = SALTS.map((salt) => clients.map(createBucket(salt)));
  /** Five standard deviations of a fair draw of this share. */
  const deviations = (share: number) => 5 * Math.sqrt(count * share * (1 - share));

  describe(`${count} clients under 10 salts and 10 growing percentages`, () => {
    test("a growing percentage never moves a client back", () => {
      let back = 0;
      for (const buckets of placed) {
        for (const bucket of buckets) {
          const sides = PERCENTAGES.map((percent) => bucket < percent);
          back += sides.filter((taken, at) => !taken && sides.slice(0, at).includes(true)).length;
        }
      }
      expect(back).toBe(0);
      expect(placed.every((buckets) => buckets.every((bucket) => bucket >= 0 && bucket < 100))).toBe(true);
    });

    test("two replicas agree on every client", () => {
      const replica = SALTS.map((salt) => clients.map(createBucket(salt)));
      expect(replica).toEqual(placed);
    });

    test("a percentage takes that share of clients", () => {
      for (const percent of PERCENTAGES) {
        for (const buckets of placed) {
          const taken = buckets.filter((bucket) => bucket < percent).length;
          expect(Math.abs(taken - (count * percent) / 100)).toBeLessThanOrEqual(deviations(percent / 100));
        }
      }
    });

    test("another salt chooses other clients", () => {
      // Two salts at 10 % share 1 % of all clients by chance.
      for (const other of placed.slice(1)) {
        const both = clients.filter((_, at) => [placed[0], other].every((buckets) => (buckets?.[at] ?? 100) < 10));
        expect(Math.abs(both.length - count / 100)).toBeLessThanOrEqual(deviations(0.01));
      }
    });
  });
}
