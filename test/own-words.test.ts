import { describe, expect, test } from "vitest";
import type { ExchangeNote } from "../src/model/exchange.ts";
import type { ApiResponse } from "../src/model/http.ts";
import { createSignalController } from "../src/model/signal.ts";
import { noteTranslationRefused } from "../src/toolbox.ts";

async function noted(method: string, status: number, message: string): Promise<readonly string[]> {
  const notes: ExchangeNote[] = [];
  const response: ApiResponse = { status, headers: [], body: Buffer.from(JSON.stringify({ code: 3, message })) };
  const send = noteTranslationRefused({ notes })(async () => response);
  expect(await send({ method, target: "/", headers: [] }, { signal: createSignalController().signal })).toBe(response);
  return notes;
}

describe("a refusal of what only carryover can have said", () => {
  test.each([
    'proto: (line 1:2): unknown field "describe"',
    'could not find field "describe" in v2.Group',
    "Invalid argument: update_mask: no such path",
    "invalid field mask",
    "updateMask names nothing",
  ])("is noted: %s", async (message) => {
    expect(await noted("PATCH", 400, message)).toEqual(["own-words-refused"]);
    expect(await noted("POST", 400, message)).toEqual(["own-words-refused"]);
  });

  test("another status, a read, and what a client may have said are not", async () => {
    expect(await noted("PATCH", 404, "update_mask")).toEqual([]);
    expect(await noted("GET", 400, "unknown field")).toEqual([]);
    expect(await noted("PATCH", 400, "Invalid argument: name: too long")).toEqual([]);
  });

  test("what stands far behind in an error is not looked for", async () => {
    expect(await noted("PATCH", 400, `${"x".repeat(5000)} unknown field`)).toEqual([]);
  });
});
