/** A list one of whose pages fails: once or always, before or after the first byte. T-DRN-13 to 16. */
import { describe, expect, it } from "vitest";
import { variants } from "../support/tier.ts";
import { getRaw } from "./client.ts";
import { MODES, type Mode } from "./modes.ts";
import { isJson } from "./outcome.ts";
import type { Fault, Habits } from "./platform.ts";
import {
  BUFFERED,
  checkAfterEach,
  expectWhole,
  GROUPS,
  type Rig,
  rigFor,
  STREAMED,
  uidsOf,
  wireRigFor,
} from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { onRank, refusal } from "./spoil.ts";

checkAfterEach();

const FAILURES = [500, 503];
/** In the middle of page 37. */
const PAGE_37 = 36 * 200 + 100;
const EIGHT_THOUSAND = rowsOf(8_000);

async function rigOf(mode: Mode, flags: Readonly<Record<string, string>>, fault: Fault): Promise<Rig> {
  const shelf = createShelf(rowsOf(mode.records), mode.order);
  return rigFor({ habits: { ...mode.habits, fault }, shelf, flags: { ...mode.flags, ...flags } });
}

describe("T-DRN-13: a page that fails once", () => {
  it.each(MODES)("$name: is asked for again, and the list is whole", async (mode) => {
    for (const flags of [BUFFERED, STREAMED]) {
      for (const status of mode.records > 2_000 ? [500] : FAILURES) {
        const rig = await rigOf(mode, flags, onRank(Math.floor(mode.records * 0.7), refusal(status), 1));
        expectWhole(await rig.list("alice", mode.target), uidsOf(rig.platform.shelf), `${status}`);
      }
    }
  });
});

describe("T-DRN-14: a page that always fails, before anything was sent", () => {
  it.each(MODES)("$name: is a clean error", async (mode) => {
    for (const status of mode.records > 2_000 ? [500] : FAILURES) {
      const rig = await rigOf(mode, BUFFERED, onRank(Math.floor(mode.records * 0.7), refusal(status)));
      const outcome = await rig.list("alice", mode.target);
      if (outcome.kind !== "error") throw new Error(`${status}: ${outcome.kind}`);
      expect(outcome.status).toBeGreaterThanOrEqual(500);
      expect(outcome.got.text).not.toContain('"items"');
    }
  });
});

/** Ways in which page 37 comes after 36 others. */
const WAYS: readonly { name: string; habits: Partial<Habits>; flags: Readonly<Record<string, string>> }[] = [
  { name: "by cursor, keyset tokens", habits: { skip: "ignored" }, flags: {} },
  { name: "in windows", habits: {}, flags: {} },
  ...variants<{ name: string; habits: Partial<Habits>; flags: Readonly<Record<string, string>> }[]>(
    [],
    [
      { name: "by cursor, offset tokens", habits: { skip: "ignored", tokens: "offset" }, flags: {} },
      { name: "by one reader", habits: {}, flags: { listsReaders: "1" } },
    ],
  ),
];

describe("T-DRN-15: a page that always fails, after 36 pages were sent", () => {
  it.each(WAYS)("$name: breaks the response: no final chunk, and no JSON", async ({ habits, flags }) => {
    for (const fault of variants(
      [refusal(500), refusal(404)],
      [500, 503, 401, 404].map((status) => refusal(status)),
    )) {
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

  it("is told to the operator: the list is not complete", async () => {
    const rig = await wireRigFor({
      habits: { fault: onRank(600, refusal(500)) },
      shelf: createShelf(rowsOf(900)),
      flags: STREAMED,
    });
    expect((await rig.list()).kind).toBe("broken");
    expect(rig.exchanges).toHaveLength(1);
    expect(rig.exchanges[0]!.list?.outcome).not.toBe("complete");
  });
});

describe("T-DRN-16: a client of HTTP/1.0", () => {
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

  it("gets a clean error for a list within it that fails", async () => {
    const rig = await wireRigFor({
      habits: { fault: onRank(700, refusal(500)) },
      shelf: createShelf(rowsOf(900)),
      flags: sizes,
    });
    const [head, body] = split(await getRaw({ url: rig.url, target: GROUPS, as: "alice" }, "1.0"));
    expect(head).toMatch(/^HTTP\/1\.[01] 5\d\d /);
    expect(isJson(body)).toBe(true);
  });
});

function split(text: string): [head: string, body: string] {
  const at = text.indexOf("\r\n\r\n");
  return [text.slice(0, at), text.slice(at + 4)];
}

/** What a client makes of chunks, as far as they came. */
function unchunked(body: string): string {
  let text = "";
  let at = 0;
  while (at < body.length) {
    const line = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.slice(at, line), 16);
    if (line < 0 || !(length > 0)) break;
    text += body.slice(line + 2, line + 2 + length);
    at = line + 4 + length;
  }
  return text;
}
