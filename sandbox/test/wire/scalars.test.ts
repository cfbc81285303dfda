import { expect, test } from "vitest";
import { durationMs, normalBase64, normalDuration, normalInteger, normalTime } from "../../src/wire/scalars.ts";

test.each([
  ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100Z"],
  ["2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456789Z"],
  ["2026-01-02T03:04:05.1234Z", "2026-01-02T03:04:05.123400Z"],
  ["2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"],
  ["2026-02-30T00:00:00", undefined],
  ["2026-13-01T00:00:00Z", undefined],
  ["yesterday", undefined],
])("the time %s is written %s", (given, wanted) => {
  expect(normalTime(given)).toBe(wanted);
});

test.each([
  ["86400s", "86400s"],
  ["1.5s", "1.500s"],
  ["-3s", "-3s"],
  ["007s", "7s"],
  ["5m", undefined],
  ["999999999999s", undefined],
  ["", undefined],
])("the duration %s is written %s", (given, wanted) => {
  expect(normalDuration(given)).toBe(wanted);
});

test("a duration counts in milliseconds", () => {
  expect(durationMs("1.500s")).toBe(1_500);
});

test.each([
  ["9223372036854775807", "int64", "9223372036854775807"],
  ["9223372036854775808", "int64", undefined],
  ["-2147483648", "int32", "-2147483648"],
  ["2147483648", "int32", undefined],
  ["2147483648", "uint32", "2147483648"],
  ["-1", "uint32", undefined],
  ["1e2", "int32", "100"],
  ["3.0", "int32", "3"],
  ["3.5", "int32", undefined],
  ["", "int32", undefined],
] as const)("%s as %s is %s", (given, kind, wanted) => {
  expect(normalInteger(given, kind)).toBe(wanted);
});

test("base64 is read in both alphabets and written in the standard one", () => {
  expect(normalBase64("_-8")).toBe("/+8=");
  expect(normalBase64("a")).toBeUndefined();
  expect(normalBase64("a b=")).toBeUndefined();
});
