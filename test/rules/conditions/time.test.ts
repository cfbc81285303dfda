import fc from "fast-check";
import { expect, test } from "vitest";
import type { TimeWindow } from "../../../src/rules/conditions/time.ts";
import { coversWeek, everHolds, isWithin } from "../../../src/rules/conditions/time.ts";
import { DAY, HOUR, MONDAY, timeWindow } from "../../rollout/arbitrary-rules.ts";

const ALWAYS: TimeWindow = { from: undefined, until: undefined, days: undefined, hours: undefined };

/** All moments of the window's days, each from its own midnight on, by the calendar of the standard library. */
function literally(window: TimeWindow, at: number): boolean {
  for (let back = 0; back <= 1; back++) {
    const day = new Date(at - back * DAY);
    const midnight = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate());
    const { begin, end } = window.hours ?? { begin: 0, end: 1440 };
    const from = midnight + begin * 60_000;
    const until = midnight + (end < begin ? end + 1440 : end) * 60_000;
    const ofDay = window.days === undefined || window.days.has(day.getUTCDay());
    const absolute = at >= (window.from ?? -Infinity) && at < (window.until ?? Infinity);
    if (ofDay && absolute && at >= from && at < until) return true;
  }
  return false;
}

test("begins at from and is over at until", () => {
  const window = { from: MONDAY, until: MONDAY + HOUR };
  expect([-1, 0, HOUR - 1, HOUR].map((ms) => isWithin({ ...ALWAYS, ...window }, MONDAY + ms))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("holds exactly when the calendar says so", () => {
  const moment = fc.integer({ min: -DAY, max: 15 * DAY }).map((ms) => MONDAY + ms);
  const border = fc
    .tuple(fc.integer({ min: 0, max: 15 * 48 }), fc.constantFrom(-1, 0, 1))
    .map(([half, ms]) => MONDAY + half * (HOUR / 2) + ms);
  fc.assert(
    fc.property(timeWindow, fc.oneof(moment, border, fc.integer({ min: -1e12, max: 4e12 })), (window, at) => {
      expect(isWithin(window, at)).toBe(literally(window, at));
    }),
    { numRuns: 5_000 },
  );
});

/** Days and hours of the generator change at half hours, instants at quarters. */
const quarters = (from: number, until: number) =>
  Array.from({ length: (until - from) / (HOUR / 4) }, (_, at) => from + at * (HOUR / 4));

test("an empty window is known as such, and no other", () => {
  fc.assert(
    fc.property(timeWindow, (window) => {
      const found = quarters(MONDAY - 7 * DAY, MONDAY + 22 * DAY).some((at) => literally(window, at));
      expect(everHolds(window)).toBe(found);
    }),
    { numRuns: 250 },
  );
  const friday = { ...ALWAYS, days: new Set([5]) };
  expect(everHolds({ ...friday, from: MONDAY, until: MONDAY + 4 * DAY })).toBe(false);
  expect(everHolds({ ...friday, from: MONDAY, until: MONDAY + 4 * DAY + 1 })).toBe(true);
  expect(everHolds({ ...ALWAYS, hours: { begin: 60, end: 60 } })).toBe(false);
});

test("one week covers another exactly when it holds whenever the other does", () => {
  const week = quarters(MONDAY, MONDAY + 7 * DAY);
  const only = ({ days, hours }: TimeWindow): TimeWindow => ({ ...ALWAYS, days, hours });
  const wide = fc
    .record({ hours: fc.constant(undefined), days: fc.constant(undefined) })
    .map((all) => ({ ...ALWAYS, ...all }));
  fc.assert(
    fc.property(timeWindow, fc.oneof(timeWindow, wide), (outer, inner) => {
      const expected = week.every((at) => !literally(only(inner), at) || literally(only(outer), at));
      expect(coversWeek(outer, inner)).toBe(expected);
    }),
    { numRuns: 250 },
  );
});
