import { describe, expect, test } from "vitest";
import { randomOf } from "../support/random.mjs";
import {
  alarmsPerOutage,
  delays,
  falseAlarms,
  promotionDelay,
  RATES,
  requestsBetweenFalseAlarms,
} from "./guard-measures.ts";
import { alarmByRequests } from "./guard-requests.ts";
import { delayOf, START, type World } from "./guard-world.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** Counts alarms in 5 runs: a minute of health, then ten minutes of trouble. */
function alarms(v2: number, native: number): number {
  const at = (share: number) => (second: number) => (second < 60 ? 0.003 : share);
  const world: World = { rate: 20, v2: at(v2), native: at(native) };
  return Array.from({ length: 5 }, (_, n) => delayOf(world, randomOf(n), 660, START)).filter((one) => one < NEVER)
    .length;
}

describe("false alarms", () => {
  test("ten rules raise none in a tenth of a day with three outages in each version", () => {
    expect(RATES).toHaveLength(10);
    expect(falseAlarms(0.1, 3, 11)).toBe(0);
  });

  test("both versions equally sick raise none", () => {
    expect([1, 0.5, 0.2, 0.05].map((share) => alarms(share, share))).toEqual([0, 0, 0, 0]);
  });

  test("native sick alone raises none", () => {
    expect([alarms(0.01, 1), alarms(0.01, 0.2)]).toEqual([0, 0]);
  });

  test("clients that retry three times, one with a dead token and outages of 3 s raise none in an hour", () => {
    const isOut = (at: number): boolean => at % 1_200_000 < 3000;
    const world = { rate: 20, v2: (at: number) => (isOut(at) ? 1 : 0.01), native: () => 0.01 };
    expect(alarmByRequests(world, 3600, randomOf(1))).toBeUndefined();
  });

  test("independent errors of 1 % are more than a year apart at 5,000 requests per second, each counted twice", () => {
    const years = requestsBetweenFalseAlarms(1500) / 10_000 / (365 * 86_400);
    expect(years).toBeGreaterThan(1);
  });

  test("an outage of v2 for 3 s raises one in less than 1 of 20,000 cases", () => {
    expect(alarmsPerOutage(3000)).toBeLessThan(1 / 20_000);
  });
});

describe("delay", () => {
  test.each([60, 3600])(
    "total failure at 20 requests per second is seen within 10 s after %i s of health",
    (healthy) => {
      expect(delays(20, 1, healthy, 40).high).toBeLessThanOrEqual(10);
    },
  );

  test("retries and a dead token do not hide total failure", () => {
    const world = { rate: 20, v2: (at: number) => (at < 60_000 ? 0.003 : 1), native: () => 0.003 };
    expect(alarmByRequests(world, 120, randomOf(2))).toBeLessThan(60 + 10);
  });

  test("the e-process of promotion needs more than an hour and a half after a healthy day", () => {
    expect(promotionDelay(20, 86_400)).toBeGreaterThan(5400);
  });
});
