import { expect, test } from "vitest";
import { isTimestamp } from "../../src/translate/scalars.ts";

test.each([
  "2026-03-01T09:30:00Z",
  "2024-02-29T23:59:59.999999999Z",
  "2026-03-01T00:00:00-23:59",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
])("%s is a time", (text) => {
  expect(isTimestamp(text)).toBe(true);
});

test.each([
  ["no date", "09:30:00Z"],
  ["no offset", "2026-03-01T09:30:00"],
  ["small letters", "2026-03-01t09:30:00z"],
  ["a space", "2026-03-01 09:30:00Z"],
  ["ten digits of a second", "2026-03-01T09:30:00.0000000000Z"],
  ["a day that this month does not have", "2026-02-30T09:30:00Z"],
  ["a day that this year does not have", "2026-02-29T09:30:00Z"],
  ["hour 24", "2026-03-01T24:00:00Z"],
  ["second 60", "2026-03-01T09:30:60Z"],
  ["offset of a day", "2026-03-01T09:30:00+24:00"],
  ["before year 1", "0000-12-31T23:59:59Z"],
  ["before year 1 by its offset", "0001-01-01T00:00:00+00:01"],
  ["behind year 9999 by its offset", "9999-12-31T23:59:59-00:01"],
  ["something behind it", "2026-03-01T09:30:00Z "],
  ["nothing", ""],
])("%s is no time", (_, text) => {
  expect(isTimestamp(text)).toBe(false);
});
