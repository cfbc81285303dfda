/** A list one of whose pages fails after its first byte was sent, as bytes on the wire. T-DRN-15, 16. */
import { describe, expect, it } from "vitest";
import { unchunked } from "../../server/support/client.ts";
import { getRaw } from "./client.ts";
import { isJson } from "./outcome.ts";
import type { Fault, Habits } from "./platform.ts";
import { checkAfterEach, GROUPS, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { onRank, refusal } from "./spoil.ts";

checkAfterEach();

/** In the middle of page 37. */
const PAGE_37 = 36 * 200 + 100;
const EIGHT_THOUSAND = rowsOf(8_000);

/** Ways in which page 37 comes after 36 others. */
const WAYS: readonly { name: string; habits: Partial<Habits>; flags: Readonly<Record<string, string>> }[] = [
  { name: "by cursor", habits: { skip: "ignored" }, flags: {} },
  { name: "in windows", habits: {}, flags: {} },
];

describe("T-DRN-15, V01: a page that always fails, after 36 pages were sent", () => {
  it.each(WAYS)("$name: breaks the response: no final chunk, and no JSON", async ({ habits, flags }) => {
    for (const fault of [refusal(500), refusal(404)]) {
      const shelf = createShelf(EIGHT_THOUSAND);
      const rig = await wireRigFor({
        habits: { ...habits, fault: onRank(PAGE_37, fault) },
        shelf,
        flags: { ...flags, ...STREAMED },
      });
      const text = await getRaw({ url: rig.url, target: GROUPS, as: "alice" }, "1.1");
      const [head, body] = split(text);
      expect(head).toMatch(/^HTTP\/1\.1 200 /);
      expect(head.toLowerCase()).toContain("transfer-encoding: chunked");
      expect(body).not.toMatch(/\r\n0\r\n/);
      const records = body.split('"createdAt"').length - 1;
      expect(records).toBeGreaterThan(0);
      expect(records).toBeLessThanOrEqual(PAGE_37);
      expect(isJson(unchunked(body))).toBe(false);
      const shown = [...unchunked(body).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id!);
      expect(shown).toEqual(uidsOf(shelf).slice(0, shown.length));
    }
  });
});

describe("T-DRN-16, V02: a client of HTTP/1.0", () => {
  const sizes = { listsBufferBytes: "1MiB" };

  it("gets a list within the buffer whole, with its length", async () => {
    const shelf = createShelf(rowsOf(900));
    const rig = await wireRigFor({ shelf, flags: sizes });
    const [head, body] = split(await getRaw({ url: rig.url, target: GROUPS, as: "alice" }, "1.0"));
    expect(head).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(head.toLowerCase()).toContain(`content-length: ${body.length}`);
    expect(head.toLowerCase()).not.toContain("chunked");
    expect((JSON.parse(body) as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(uidsOf(shelf));
  });

  it.each([
    { name: "that goes well", fault: ((page) => page) as Fault },
    { name: "that fails in the middle", fault: onRank(PAGE_37, refusal(500)) },
  ])("gets an error for a list beyond it $name, never a part of it", async ({ fault }) => {
    for (const habits of [{}, { skip: "ignored" }] as const) {
      const rig = await wireRigFor({ habits: { ...habits, fault }, shelf: createShelf(EIGHT_THOUSAND), flags: sizes });
      const [head, body] = split(await getRaw({ url: rig.url, target: GROUPS, as: "alice" }, "1.0"));
      expect(head).toMatch(/^HTTP\/1\.[01] [45]\d\d /);
      expect(Object.keys(JSON.parse(body) as object)).toEqual(["code", "message", "details"]);
      expect(body).not.toContain("createdAt");
    }
  });
});

function split(text: string): [head: string, body: string] {
  const at = text.indexOf("\r\n\r\n");
  return [text.slice(0, at), text.slice(at + 4)];
}
