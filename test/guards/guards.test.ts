import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { GUARDS } from "./all.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const texts = new Map(
  [...new Set(GUARDS.map(({ file }) => file))].map((file) => [file, readFileSync(join(ROOT, file), "utf8")]),
);

describe("the list of guards", () => {
  it.each(GUARDS)("$file: $name stands there once", ({ file, old }) => {
    expect((texts.get(file) ?? "").split(old)).toHaveLength(2);
  });

  it("names each guard once, changes something, and has tests that are there", () => {
    expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length);
    expect(GUARDS.filter(({ old, other, tests }) => old === other || tests.length === 0)).toEqual([]);
    const files = [...new Set(GUARDS.flatMap(({ tests }) => tests.map((test) => test.split(" > ")[0] ?? "")))];
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it("is of at least 100 guards", () => {
    expect(GUARDS.length).toBeGreaterThanOrEqual(100);
  });
});
