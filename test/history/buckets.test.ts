import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBuckets, TIERS } from "../../src/history/buckets.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 10, 21, 21, 33);
const LATEST = Number.MAX_SAFE_INTEGER;

const counts = (sums: ReturnType<ReturnType<typeof createBuckets>["sum"]>) =>
  Object.fromEntries([...sums.kinds].map(([kind, { count }]) => [kind, count]));

describe("the sum over a window", () => {
  test("is over whole buckets, begins with the counting, and ends now", () => {
    const buckets = createBuckets(START);
    buckets.add(0, 1, START);
    buckets.add(1, 2, START + 10 * MINUTE);
    const now = START + 11 * MINUTE;
    expect(buckets.sum(START - DAY, LATEST, now)).toMatchObject({ from: START, to: now });
    const last = buckets.sum(START + 9 * MINUTE, LATEST, now);
    expect([last.from, last.to, counts(last)]).toEqual([START + 7 * MINUTE, now, { 1: 2 }]);
    expect(last.kinds.get(1)?.end).toBe(START + 12 * MINUTE);
    const first = buckets.sum(START, START + MINUTE, now);
    expect([first.to, counts(first)]).toEqual([START + 2 * MINUTE, { 0: 1 }]);
  });

  test("of a time before the counting is empty, with both ends where it began", () => {
    const buckets = createBuckets(START);
    buckets.add(0, 1, START);
    const before = buckets.sum(START - DAY, START - HOUR, START + HOUR);
    expect([before.from, before.to, counts(before)]).toEqual([START, START, {}]);
  });

  test("over aligned times is what was counted in them, in every tier, however long ago", () => {
    const request = fc.record({ kind: fc.nat(40), amount: fc.integer({ min: 1, max: 5 }), pause: fc.nat(9 * HOUR) });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 1500, size: "max" }),
        fc.nat(20),
        fc.nat(20),
        (requests, from, days) => {
          const buckets = createBuckets(START);
          let at = START;
          const model: { kind: number; amount: number; at: number }[] = [];
          for (const { kind, amount, pause } of requests) {
            at += pause;
            buckets.add(kind, amount, at);
            model.push({ kind, amount, at });
          }
          const first = Math.floor(START / DAY) + from;
          const [begin, end] = [first * DAY, (first + days + 1) * DAY];
          const expected: Record<number, number> = {};
          const known = (buckets.saved()[2]?.knownFrom ?? 0) * DAY;
          for (const one of model) {
            if (one.at < Math.max(begin, known) || one.at >= end) continue;
            expected[one.kind] = (expected[one.kind] ?? 0) + one.amount;
          }
          expect(counts(buckets.sum(begin, end, at))).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("uses the finest buckets that are there: 5 minutes for a day, hours for 14 days, days for 180", () => {
    const buckets = createBuckets(START);
    let at = START;
    for (; at < START + 200 * DAY; at += 5 * MINUTE) buckets.add(0, 1, at);
    const now = at - 1;
    const alignedBy = (ago: number) => {
      const { from } = buckets.sum(now - ago, LATEST, now);
      return TIERS.map(({ ms }) => ms).filter((ms) => from % ms === 0).length;
    };
    // A time that begins an hour begins 5 minutes, too.
    expect([DAY, 14 * DAY, 179 * DAY].map(alignedBy)).toEqual([1, 2, 3]);
    expect(buckets.sum(0, LATEST, now).from).toBe((Math.floor(now / DAY) - 180) * DAY);
    expect(buckets.saved().map(({ buckets: all }) => [...all].length)).toEqual(TIERS.map(({ most }) => most));
  });
});

describe("a clock that is set", () => {
  test("back loses nothing, and a count stays in the time that the clock showed", () => {
    const buckets = createBuckets(START);
    buckets.add(0, 1, START);
    buckets.add(0, 1, START - 3 * HOUR);
    buckets.add(0, 1, START - 3 * HOUR + 1);
    expect(counts(buckets.sum(START - 4 * HOUR, START - 2 * HOUR, START))).toEqual({ 0: 2 });
    expect(counts(buckets.sum(0, LATEST, START))).toEqual({ 0: 3 });
    expect(buckets.since()).toBe(START - 3 * HOUR);
    // What lies after now is in no window until the clock is there again.
    expect(counts(buckets.sum(0, LATEST, START - 2 * HOUR))).toEqual({ 0: 2 });
  });

  test("to a far future and back leaves the past, and its buckets of the future go first", () => {
    const buckets = createBuckets(START);
    let now = START;
    for (; now < START + 20 * DAY; now += 30 * MINUTE) buckets.add(0, 1, now);
    const past = (from: number) => counts(buckets.sum(now - from, LATEST, now));
    const [whole, week] = [past(20 * DAY), past(7 * DAY)];
    for (let at = 0; at < 2 * DAY; at += 5 * MINUTE) buckets.add(1, 1, now + 3650 * DAY + at);
    expect([past(20 * DAY), past(7 * DAY)]).toEqual([whole, week]);
    buckets.add(0, 1, now);
    // The minutes of the past are gone, and its hours are not.
    expect(past(HOUR)).toEqual({ 0: 4 });
    const isFuture = (tier: number) =>
      [...(buckets.saved()[tier]?.buckets ?? [])].filter(([n = 0]) => n * TIERS[tier]!.ms > now + DAY);
    const before = isFuture(0).length;
    for (let at = 0; at < HOUR; at += 5 * MINUTE) buckets.add(0, 1, now + at);
    expect(isFuture(0).length).toBeLessThan(before);
    now += 3 * HOUR;
    buckets.add(0, 1, now);
    expect(buckets.sum(now - MINUTE, LATEST, now).from).toBe(Math.floor((now - MINUTE) / (5 * MINUTE)) * 5 * MINUTE);
  });
});
