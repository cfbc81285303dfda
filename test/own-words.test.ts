import { describe, expect, test } from "vitest";
import type { ExchangeNote } from "../src/model/exchange.ts";
import { noteTranslationRefused } from "../src/translate/refusal.ts";

function noted(method: string, status: number, message: string): readonly string[] {
  const notes: ExchangeNote[] = [];
  noteTranslationRefused(
    { notes },
    { method },
    { status, headers: [], body: Buffer.from(JSON.stringify({ code: 3, message })) },
  );
  return notes;
}

describe("a refusal of what only carryover can have said", () => {
  test.each([
    'proto: (line 1:2): unknown field "describe"',
    'could not find field "describe" in v2.Group',
    "Invalid argument: update_mask: no such path",
    "invalid field mask",
    "updateMask names nothing",
  ])("is noted: %s", (message) => {
    expect(noted("PATCH", 400, message)).toEqual(["own-words-refused"]);
    expect(noted("POST", 400, message)).toEqual(["own-words-refused"]);
  });

  test("another status, a read, and what a client may have said are not", () => {
    expect(noted("PATCH", 404, "update_mask")).toEqual([]);
    expect(noted("GET", 400, "unknown field")).toEqual([]);
    expect(noted("PATCH", 400, "Invalid argument: name: too long")).toEqual([]);
  });

  test("what stands far behind in an error is not looked for", () => {
    expect(noted("PATCH", 400, `${"x".repeat(5000)} unknown field`)).toEqual([]);
  });
});
