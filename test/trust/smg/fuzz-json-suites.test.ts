/** Every file of the public JSON conformance suites is read as RFC 8259 says. */
import { describe, expect, it } from "vitest";
import { JsonError } from "../../../src/json/error.ts";
import { rewriteValue } from "../../../src/json/rewrite.ts";
import type { ScanOptions } from "../../../src/json/scan.ts";
import { parseTree, rawOf } from "../../../src/json/tree.ts";
import { isTaken, suiteFiles } from "../../json/conformance/suites.ts";

const files = await suiteFiles();
const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return false;
  }
}

const readers = (bytes: Uint8Array, options: ScanOptions): readonly (() => unknown)[] => [
  () => rewriteValue(bytes, "copy", options),
  () => rewriteValue(bytes, { kind: "array", items: { kind: "map", values: "copy" } }, options),
  () => rewriteValue(bytes, { kind: "map", values: { kind: "array", items: "copy" } }, options),
  () => parseTree(bytes, options),
];

describe("T-SMG-31: the JSON conformance suites", () => {
  it("are all there", () => {
    const count = (suite: string) => files.filter((file) => file.suite === suite).length;
    expect(["JSONTestSuite", "JSONTestSuite transform", "JSON_checker"].map(count)).toEqual([318, 22, 35]);
  });

  it.each([
    ["client", "refuse"],
    ["platform", "pass"],
  ] as const)("are read, or refused, by every reader: what a %s sends", (from, surrogates) => {
    for (const { suite, name, bytes, fate } of files) {
      const taken = readers(bytes, { surrogates }).map(isRead);
      expect([suite, name, ...taken]).toEqual([suite, name, ...taken.map(() => isTaken(fate, from))]);
    }
  });

  it("come out byte for byte, and JSON.parse takes them too", () => {
    for (const { bytes, fate } of files) {
      if (fate === "invalid" || fate === "too deep") continue;
      expect(text(rawOf(parseTree(bytes, { surrogates: "pass" })))).toBe(text(bytes).trim());
      expect(rewriteValue(bytes, "copy").bytes).toBe(bytes);
      expect(() => JSON.parse(text(bytes))).not.toThrow();
    }
  });

  it("hold one text that JSON.parse takes and carryover does not: it is nested more than 100 deep", () => {
    const nested = (depth: number) => Buffer.from("[".repeat(depth) + "]".repeat(depth));
    expect(readers(nested(100), {}).map(isRead)).toEqual([true, true, true, true]);
    expect(readers(nested(101), {}).map(isRead)).toEqual([false, false, false, false]);
    const deep = files.filter(({ fate }) => fate === "too deep").map(({ name }) => name);
    expect(deep).toEqual(["i_structure_500_nested_arrays.json"]);
  });
});
