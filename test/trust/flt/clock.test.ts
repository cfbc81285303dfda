/** Jumps of the wall clock can change no timer that does not read it. (With a clock that jumps: process-machine.all.ts.) */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

it("T-FLT-22: the wall clock is read only where a date is meant", () => {
  const SRC = resolve(import.meta.dirname, "../../../src");
  const using = readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("sandbox/"))
    .filter((name) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(join(SRC, name), "utf8")))
    .toSorted();
  // What rules, reports and logs say is a time of day; a `Retry-After` may be a date; a file was taken at a time of day.
  expect(using).toEqual([
    "app.ts",
    "check/command.ts",
    "check/connection.ts",
    "explain/command.ts",
    "migration/comparing.ts",
    "observe/log.ts",
    "tools.ts",
  ]);
});
