import { describe, expect, test } from "vitest";
import { readMoment } from "../../../src/commands/report/arguments.ts";

const NOW = Date.UTC(2026, 10, 29, 16, 9, 52);
const today = (text: string) => new Date(readMoment(text, "--at", NOW, "today")).toISOString();

describe("a moment", () => {
  test.each([
    ["2026-12-01", "2026-12-01T00:00:00.000Z"],
    ["2026-12-01T09:30", "2026-12-01T09:30:00.000Z"],
    ["2026-12-01T09:30:15Z", "2026-12-01T09:30:15.000Z"],
    ["2026-12-01T09:30+02:00", "2026-12-01T07:30:00.000Z"],
    ["16:12:30", "2026-11-29T16:12:30.000Z"],
    ["02:00", "2026-11-29T02:00:00.000Z"],
  ])("%s is read, as UTC unless it says otherwise, and as of today", (text, iso) => {
    expect(today(text)).toBe(iso);
  });

  test.each(["", "tomorrow", "2026-13-01", "2026-02-30", "2026-02-30T09:30+02:00", "2026-12-01T25:00", "12/01/2026"])(
    "%j is refused with an example",
    (text) => {
      expect(() => today(text)).toThrow(/--at: .* is not a time; use a time in UTC \(2026-11-27T02:00Z/);
    },
  );
});
