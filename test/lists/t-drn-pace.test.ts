/** Do all readers of a list obey its platform's pauses and its client's pace? T-DRN-19 to 22, 30. */

import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { get, open } from "./client.ts";
import type { Ask } from "./pages.ts";
import type { Fault, Habits } from "./platform.ts";
import {
  BUFFERED,
  checkAfterEach,
  expectWhole,
  GROUPS,
  type Rig,
  rigFor,
  STREAMED,
  sleep,
  uidsOf,
  until,
} from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { refusal } from "./spoil.ts";

checkAfterEach();

const READERS = 4;
const WAYS: readonly {
  name: string;
  habits: Partial<Habits>;
  flags: Readonly<Record<string, string>>;
  records: number;
}[] = [
  { name: "by cursor", habits: { skip: "ignored" }, flags: {}, records: 6_000 },
  { name: "in windows", habits: {}, flags: {}, records: 6_000 },
  { name: "long, by segments", habits: {}, flags: { upstreamV2Tokens: "keyset" }, records: 12_000 },
];
const briefly = () => sleep(2);

describe("T-DRN-19: 429 with Retry-After: 1", () => {
  it.each(WAYS)("$name: all readers pause, none asks within the second, and the list is whole", async (way) => {
    for (const at of way.name === "in windows" ? [5, 20] : [20]) {
      const shelf = createShelf(rowsOf(way.records));
      const told = { at: Number.POSITIVE_INFINITY };
      const refuse = refusal(429, { "retry-after": "1" });
      const fault: Fault = (page, ask, held) => {
        if (ask.index !== at) return page;
        told.at = performance.now();
        return refuse(page, ask, held);
      };
      // Only the refusal goes out without delay: what came before it is on its way.
      const wait = (ask: Ask) => (ask.index === at ? undefined : briefly());
      const rig = await rigFor({ habits: { ...way.habits, fault, wait }, shelf, flags: way.flags });
      const outcome = await rig.list();
      expectWhole(outcome, uidsOf(shelf), `at page ${at}`);
      expect(rig.platform.asked.length).toBeGreaterThan(at + 1);
      const inside = rig.platform.asked.filter((ask) => ask.at > told.at && ask.at < told.at + 995);
      // Those that were sent before anybody could have read the refusal.
      expect(inside.length).toBeLessThan(READERS);
    }
  });

  it("503 with Retry-After: 1 is obeyed in the same way", async () => {
    const shelf = createShelf(rowsOf(6_000));
    const told = { at: Number.POSITIVE_INFINITY };
    const refuse = refusal(503, { "retry-after": "1" });
    const fault: Fault = (page, ask, held) => {
      if (ask.index !== 9) return page;
      told.at = performance.now();
      return refuse(page, ask, held);
    };
    const rig = await rigFor({ habits: { fault, wait: (ask) => (ask.index === 9 ? undefined : briefly()) }, shelf });
    expectWhole(await rig.list(), uidsOf(shelf));
    expect(rig.platform.asked.filter((ask) => ask.at > told.at && ask.at < told.at + 995).length).toBeLessThan(READERS);
  });
});

describe("T-DRN-20: 429 with Retry-After: 600", () => {
  it("is passed on at once, with its pause, and nobody asks any more", async () => {
    for (const way of WAYS) {
      for (const at of [0, 7]) {
        const refuse = refusal(429, { "retry-after": "600" });
        const fault: Fault = (page, ask, held) => (ask.index >= at ? refuse(page, ask, held) : page);
        const rig = await rigFor({
          habits: { ...way.habits, fault },
          shelf: createShelf(rowsOf(way.records)),
          flags: { ...way.flags, ...BUFFERED },
          fresh: true,
        });
        const outcome = await rig.list();
        if (outcome.kind !== "error") throw new Error(`${way.name}: ${outcome.kind}`);
        const told = [way.name, outcome.status, outcome.got.fields.get("retry-after")];
        expect(told).toEqual([way.name, 429, "600"]);
        // Asked for at the same time, not after it.
        expect(rig.platform.asked.length).toBeLessThanOrEqual(at + 2 * READERS);
      }
    }
  });
});

/** Reads a list and leaves when `records` of it came. */
async function leaveAt(rig: Rig, records: number): Promise<number> {
  let left = -1;
  const reader = await open({ url: rig.url, target: GROUPS, as: "alice" }, (each) => {
    if (left >= 0 || each.bytes() < records * 300) return;
    left = rig.platform.asked.length;
    each.leave();
  });
  const { complete } = await reader.ended;
  expect(complete).toBe(false);
  return left;
}

describe("T-DRN-21: a client that leaves in the middle", () => {
  const rows = rowsOf(20_000);
  it.each([
    { name: "by cursor", habits: { skip: "ignored" as const }, flags: STREAMED },
    { name: "by segments", habits: {}, flags: { ...STREAMED, upstreamV2Tokens: "keyset" } },
    { name: "in windows", habits: { tokens: "offset" as const }, flags: { ...STREAMED, upstreamV2Tokens: "offset" } },
  ])("$name: no more pages are asked for than there are readers, and its place is free", async ({ habits, flags }) => {
    for (let round = 0; round < 12; round++) {
      const shelf = createShelf(rows);
      const rig = await rigFor({ habits: { ...habits, wait: briefly }, shelf, flags });
      const left = await leaveAt(rig, 200 + 100 * round);
      await until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");
      await sleep(10);
      await until(() => rig.platform.busy.now === 0, "pages are still read");
      expect(rig.platform.asked.length - left).toBeLessThanOrEqual(READERS);
      // As many lists as may be read at a time: all of them find a place at once.
      rig.platform.shelf = createShelf(rows.slice(0, 450));
      const after = await Promise.all([rig.list(), rig.list(), rig.list(), rig.list()]);
      expect(after.map(({ kind }) => kind)).toEqual(["whole", "whole", "whole", "whole"]);
    }
  });

  it("before its first byte costs no page more either", async () => {
    for (const skip of ["honest", "ignored"] as const) {
      const rig = await rigFor({
        habits: { skip, wait: briefly },
        shelf: createShelf(rows.slice(0, 8_000)),
        flags: BUFFERED,
      });
      const leaving = new AbortController();
      const asking = fetch(`${rig.url}${GROUPS}`, {
        headers: { authorization: "Bearer alice" },
        signal: leaving.signal,
      });
      await until(() => rig.platform.asked.length >= 6, "no page is asked for");
      const left = rig.platform.asked.length;
      leaving.abort();
      await expect(asking).rejects.toThrow();
      await until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");
      await until(() => rig.platform.busy.now === 0, "pages are still read");
      expect(rig.platform.asked.length - left).toBeLessThanOrEqual(READERS);
    }
  });
});

describe("T-DRN-22: a client that takes nothing", () => {
  /** Bytes that a connection holds for somebody who does not read. */
  async function held(): Promise<number> {
    return new Promise((resolve) => {
      const server = createServer((socket) => {
        const piece = Buffer.alloc(65_536);
        const push = () => {
          while (socket.write(piece)) if (socket.bytesWritten > 2 ** 28) return;
        };
        socket.on("drain", push);
        socket.on("error", () => {});
        push();
        let before = -1;
        const timer = setInterval(() => {
          const now = socket.bytesWritten - socket.writableLength;
          if (now !== before) {
            before = now;
            return;
          }
          clearInterval(timer);
          resolve(now);
          client.destroy();
          socket.destroy();
          server.close();
        }, 100);
      });
      let client: ReturnType<typeof connect>;
      server.listen(0, "127.0.0.1", () => {
        client = connect((server.address() as AddressInfo).port, "127.0.0.1");
        client.on("error", () => {});
        client.pause();
      });
    });
  }

  const filler = 20_000;
  it.each(WAYS)("$name: stops the reading of pages, and nothing is lost by it", async (way) => {
    const shelf = createShelf(rowsOf(way.records));
    const rig = await rigFor({
      habits: { ...way.habits, filler },
      shelf,
      flags: { ...way.flags, listsMaxBytes: "1GiB" },
    });
    const capacity = await held();
    const reader = await open({ url: rig.url, target: GROUPS, as: "alice" });
    reader.pause();
    let asked = -1;
    await until(async () => {
      if (asked === rig.platform.asked.length) return true;
      asked = rig.platform.asked.length;
      await sleep(400);
      return false;
    }, "it goes on reading pages");
    const pageBytes = 200 * filler;
    // What the connection holds, what is answered whole at most, and the pages that may be read ahead.
    const most = Math.ceil((2 * capacity + 2 * 1024 ** 2) / pageBytes) + 2 * READERS + 2;
    expect(asked).toBeLessThanOrEqual(most);
    expect(asked).toBeLessThan(way.records / 200 - 5);
    reader.leave();
    await until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");
  });

  it("for a while gets the rest when it goes on", async () => {
    const shelf = createShelf(rowsOf(12_000));
    const rig = await rigFor({ shelf, habits: { filler: 1_000 }, flags: { upstreamV2Tokens: "keyset" } });
    const reader = await open({ url: rig.url, target: GROUPS, as: "alice" });
    for (let pause = 0; pause < 5; pause++) {
      reader.pause();
      await sleep(20);
      reader.resume();
      await sleep(5);
    }
    const { complete, text } = await reader.ended;
    expect(complete).toBe(true);
    const ids = (JSON.parse(text) as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(ids.length).toBe(12_000);
    expect(ids).toEqual(uidsOf(shelf));
  });
});

describe("other requests", () => {
  it("of a client are answered while its list waits for it", async () => {
    const rig = await rigFor({ shelf: createShelf(rowsOf(12_000)), habits: { filler: 2_000 }, flags: {} });
    const reader = await open({ url: rig.url, target: GROUPS, as: "alice" });
    reader.pause();
    const one = await get({ url: rig.url, target: "/iam/v1/groups/abc/def", as: "alice" });
    const passed = await get({ url: rig.url, target: "/iam/v2beta1/groups/abc/def", as: "alice" });
    expect([one.status, passed.status]).toEqual([200, 200]);
    reader.leave();
    await until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");
  });
});
