import { describe, expect, test } from "vitest";
import { createRetention } from "../../src/ledger/retention.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ANN = { name: "ann", lastSeen: 0 };
const BEN = { name: "ben", lastSeen: 170 * DAY };

/** Looks every hour for `hours`, with a wall clock that begins at `wall`, and returns the names with the hour of the look. */
function looks(wall: (hour: number) => number, hours: number, memory: readonly (readonly [string, number])[] = []) {
  let hour = 0;
  const retention = createRetention({ after: 180 * DAY, wall: () => wall(hour), now: () => hour * HOUR });
  retention.restore(memory);
  const found: (readonly [string, number])[] = [];
  for (; hour <= hours; hour++) for (const name of retention.due([ANN, BEN])) found.push([name, hour]);
  return { found, memory: retention.memory() };
}

describe("a client that does not call", () => {
  test("is forgotten a day after its time is over, and not before", () => {
    const after = looks((hour) => 180 * DAY + (hour - 5) * HOUR, 40);
    expect(after.found[0]).toEqual(["ann", 30]);
    expect(after.found.every(([name]) => name === "ann")).toBe(true);
  });

  test("is kept by a clock that leaps forward for hours, however far", () => {
    const leaps = (hour: number) => 100 * DAY + hour * HOUR + (hour % 24 === 0 ? 0 : 9_000 * DAY);
    expect(looks(leaps, 24 * 30).found).toEqual([]);
  });

  test("is forgotten by processes that run for less than a day each, too", () => {
    const clock = (hour: number) => 200 * DAY + hour * HOUR;
    const first = looks(clock, 15);
    expect(first.found).toEqual([]);
    const second = looks(clock, 15, first.memory);
    expect(second.found[0]).toEqual(["ann", 9]);
  });
});
