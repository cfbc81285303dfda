import { describe, expect, test } from "vitest";
import type { ScheduleSettings, TimeSpan } from "../../src/model/rules.ts";
import { createSchedule, scheduleFault, shiftedWindows, windowWords } from "../../src/rules/schedule.ts";

const MINUTE = 60_000;
const TUESDAYS = { cron: "0 9 * * 2", zone: "Europe/Vienna", duration: 10 * MINUTE, from: undefined, until: undefined };

function schedule(rest: Partial<ScheduleSettings> = {}) {
  return createSchedule({ ...TUESDAYS, ...rest });
}

const at = (text: string): number => Date.parse(`${text}Z`);
const shown = ({ start, end }: TimeSpan) => [start, end].map((time) => new Date(time).toISOString().slice(0, 16));

describe("windows of a schedule", () => {
  test("follow the clocks of its zone", () => {
    expect(schedule().after(at("2027-03-20T00:00"), 2).map(shown)).toEqual([
      ["2027-03-23T08:00", "2027-03-23T08:10"],
      ["2027-03-30T07:00", "2027-03-30T07:10"],
    ]);
  });

  test.each([
    ["before the first millisecond", "2027-03-23T07:59:59.999", false],
    ["at the first millisecond", "2027-03-23T08:00", true],
    ["at the last millisecond", "2027-03-23T08:09:59.999", true],
    ["at the end", "2027-03-23T08:10", false],
  ])("are open or not %s", (_, time, isOpen) => {
    expect(schedule().open(at(time))?.start).toBe(isOpen ? at("2027-03-23T08:00") : undefined);
  });

  test("that touch or overlap are one", () => {
    const half = schedule({ cron: "*/30 9-10 * * *", zone: "UTC", duration: 30 * MINUTE });
    const whole = ["2027-03-23T09:00", "2027-03-23T11:00"];
    expect(half.after(at("2027-03-23T00:00"), 1).map(shown)).toEqual([whole]);
    expect(shown(half.open(at("2027-03-23T10:45")) as TimeSpan)).toEqual(whole);
  });

  test("begin after match.time.from, and end at match.time.until", () => {
    const bounded = schedule({ from: at("2027-03-24T00:00"), until: at("2027-03-30T07:05") });
    expect(bounded.after(at("2027-01-01T00:00"), 5).map(shown)).toEqual([["2027-03-30T07:00", "2027-03-30T07:05"]]);
    expect(bounded.open(at("2027-03-30T07:05"))).toBeUndefined();
    expect(bounded.open(at("2027-03-23T08:05"))).toBeUndefined();
  });

  test("of a schedule that always fires again before the end are endless", () => {
    const always = schedule({ cron: "*/10 * * * *", duration: 15 * MINUTE });
    const [first] = always.after(at("2027-03-20T00:00"), 1);
    expect(always.isEndless(first as TimeSpan)).toBe(true);
    const [tuesday] = schedule().after(at("2027-03-20T00:00"), 1);
    expect(schedule().isEndless(tuesday as TimeSpan)).toBe(false);
  });

  test("that match.time.until cuts short are not endless", () => {
    const cut = schedule({ until: at("2027-03-23T08:05") });
    expect(cut.isEndless(cut.after(at("2027-03-20T00:00"), 1)[0] as TimeSpan)).toBe(false);
  });
});

describe("when clocks change", () => {
  const night = { cron: "30 2 * * *", zone: "Europe/Vienna" };
  const next = (cron: string, from: string) => schedule({ ...night, cron }).after(at(from), 1);

  test("a window at a local time that does not exist begins at the next one that does", () => {
    const windows = next("30 2 * * *", "2027-03-27T12:00");
    expect(windows.map(shown)).toEqual([["2027-03-28T01:00", "2027-03-28T01:10"]]);
    expect(shiftedWindows(night, windows).map(({ why }) => why)).toEqual(["missing"]);
  });

  test("a window at a local time that comes twice is the first of them only", () => {
    const windows = next("30 2 * * *", "2027-10-30T12:00");
    expect(windows.map(shown)).toEqual([["2027-10-31T00:30", "2027-10-31T00:40"]]);
    expect(schedule(night).open(at("2027-10-31T01:30"))).toBeUndefined();
    expect(shiftedWindows(night, windows).map(({ why }) => why)).toEqual(["twice"]);
  });

  test("other windows are as they should be", () => {
    const windows = schedule(night).after(at("2027-03-28T12:00"), 20);
    expect(shiftedWindows(night, windows)).toEqual([]);
  });
});

test.each([
  ["0 9 * * 8", "UTC", "cron"],
  ["60 9 * * *", "UTC", "cron"],
  ["0 9 * * 2", "Mars/Phobos", "zone"],
])("%s in %s is refused", (cron, zone, key) => {
  expect(scheduleFault({ cron, zone })?.key).toBe(key);
});

test("a window is shown in UTC and in its zone", () => {
  const [window] = schedule().after(at("2027-03-20T00:00"), 1);
  expect(windowWords(window as TimeSpan, "Europe/Vienna")).toBe(
    "2027-03-23 08:00 to 08:10 UTC (Tue 2027-03-23 09:00 Europe/Vienna)",
  );
  expect(windowWords({ start: at("2027-03-23T23:00"), end: at("2027-03-24T01:00") }, "UTC")).toBe(
    "2027-03-23 23:00 to 2027-03-24 01:00 UTC",
  );
});
