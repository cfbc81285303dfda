/** Every file of the public JSON conformance suites is read as RFC 8259 says. */
import { describe, expect, it } from "vitest";
import { JsonError } from "../../../src/json/error.ts";
import { rewriteValue } from "../../../src/json/rewrite.ts";
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

/** What reads the bodies of clients, and what also reads those of the platform. */
const readers = {
  client: [(bytes) => parseTree(bytes)],
  platform: [
    (bytes) => rewriteValue(bytes, "copy"),
    (bytes) => rewriteValue(bytes, { kind: "array", items: { kind: "map", values: "copy" } }),
    (bytes) => rewriteValue(bytes, { kind: "map", values: { kind: "array", items: "copy" } }),
    (bytes) => parseTree(bytes, { surrogates: "pass" }),
  ],
} satisfies Record<string, ((bytes: Uint8Array) => unknown)[]>;
const areRead = (from: keyof typeof readers, bytes: Uint8Array) =>
  readers[from].map((read) => isRead(() => read(bytes)));

describe("T-SMG-31: the JSON conformance suites", () => {
  it("are all there", () => {
    const count = (suite: string) => files.filter((file) => file.suite === suite).length;
    expect(["JSONTestSuite", "JSONTestSuite transform", "JSON_checker"].map(count)).toEqual([318, 22, 35]);
  });

  it.each(["client", "platform"] as const)("are read, or refused, by every reader: what a %s sends", (from) => {
    for (const { suite, name, bytes, fate } of files) {
      const taken = areRead(from, bytes);
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
    for (const from of ["client", "platform"] as const) {
      expect(new Set(areRead(from, nested(100)))).toEqual(new Set([true]));
      expect(new Set(areRead(from, nested(101)))).toEqual(new Set([false]));
    }
    const deep = files.filter(({ fate }) => fate === "too deep").map(({ name }) => name);
    expect(deep).toEqual(["i_structure_500_nested_arrays.json"]);
  });
});
