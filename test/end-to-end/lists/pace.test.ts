/** All readers of a list respect its platform's pauses and its client's pace. T-DRN-19, 21, 22. */
import { describe, expect, it } from "vitest";
import { variants } from "../../support/tier.ts";
import { get, open } from "./client.ts";
import { fastClock } from "./clock.ts";
import type { Fault, Habits } from "./platform.ts";
import {
  checkAfterEach,
  expectWhole,
  GROUPS,
  rigFor,
  STREAMED,
  sleep,
  uidsOf,
  until,
  type WireRig,
  wireRigFor,
} from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { refusal } from "./spoil.ts";

checkAfterEach();

const READERS = 4;
interface Way {
  readonly name: string;
  readonly habits: Partial<Habits>;
  readonly flags: Readonly<Record<string, string>>;
  readonly records: number;
}
const WAYS: readonly Way[] = [
  { name: "by cursor", habits: { skip: "ignored" }, flags: {}, records: 6_000 },
  { name: "in windows", habits: {}, flags: {}, records: 6_000 },
  { name: "long, by segments", habits: {}, flags: { upstreamV2PageTokens: "keyset" }, records: 12_000 },
];

/** A list whose page `at` is refused with 429 and `Retry-After: 1`; counts the calls within that second. */
async function pausedAt({ habits, flags, records }: Way, at: number) {
  const clock = fastClock();
  const shelf = createShelf(rowsOf(records));
  const told = { at: Number.POSITIVE_INFINITY };
  const refuse = refusal(429, { "retry-after": "1" });
  const fault: Fault = (page, ask, held) => {
    if (ask.index !== at) return page;
    told.at = clock.now();
    return refuse(page, ask, held);
  };
  const wait: Habits["wait"] = ({ index }) => (index === at ? undefined : clock.wait(2));
  const rig = await rigFor({ habits: { ...habits, fault, wait }, shelf, flags, clock });
  expectWhole(await rig.list(), uidsOf(shelf), `at page ${at}`);
  expect(rig.platform.asked.length).toBeGreaterThan(at + 1);
  return rig.platform.asked.filter((ask) => ask.at > told.at && ask.at < told.at + 1_000).length;
}

describe("T-DRN-19: Retry-After: 1", () => {
  it.each(WAYS)(
    "$name: all readers pause after a 429, none asks within the second, and the list is whole",
    async (way) => {
      for (const at of variants([5], [5, 20])) expect(await pausedAt(way, at)).toBe(0);
    },
  );
});

/** Reads a list and leaves when `records` of it came; gives how many pages had been asked for. */
async function leaveAt(rig: WireRig, records: number): Promise<number> {
  let left = -1;
  const reader = await open({ url: rig.url, target: GROUPS, as: "alice" }, (each) => {
    if (left >= 0 || each.bytes() < records * 300) return;
    left = rig.platform.asked.length;
    each.leave();
  });
  expect((await reader.ended).complete).toBe(false);
  return left;
}

const hasLeft = (rig: WireRig) => until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");

describe("T-DRN-21: a client that leaves in the middle", () => {
  const rows = rowsOf(20_000);
  const briefly = () => sleep(2);

  it.each([
    { name: "by cursor", habits: { skip: "ignored" as const }, flags: STREAMED },
    { name: "by segments", habits: {}, flags: { ...STREAMED, upstreamV2PageTokens: "keyset" } },
    {
      name: "in windows",
      habits: { tokens: "offset" as const },
      flags: { ...STREAMED, upstreamV2PageTokens: "offset" },
    },
  ])("$name: no more pages are asked for than there are readers, and its place is free", async ({ habits, flags }) => {
    for (let round = 0; round < variants(2, 12); round++) {
      const rig = await wireRigFor({ habits: { ...habits, wait: briefly }, shelf: createShelf(rows), flags });
      const left = await leaveAt(rig, 200 + 300 * round);
      await hasLeft(rig);
      await until(() => rig.platform.busy.now === 0, "pages are still read");
      expect(rig.platform.asked.length - left).toBeLessThanOrEqual(READERS);
      // As many lists as may be read at a time: all of them find a place at once.
      rig.platform.shelf = createShelf(rows.slice(0, 450));
      const after = await Promise.all([rig.list(), rig.list(), rig.list(), rig.list()]);
      expect(after.map(({ kind }) => kind)).toEqual(["whole", "whole", "whole", "whole"]);
    }
  });
});

describe("T-DRN-22: a client that takes nothing", () => {
  it.each(variants(WAYS.slice(1, 2), WAYS))(
    "$name: stops the reading of pages, while the client's other requests are served",
    async ({ habits, flags, records }) => {
      const shelf = createShelf(rowsOf(records));
      const rig = await wireRigFor({
        habits: { ...habits, filler: 20_000 },
        shelf,
        flags: { ...flags, listsMaxBytes: "1GiB" },
      });
      const reader = await open({ url: rig.url, target: GROUPS, as: "alice" });
      reader.pause();
      let asked = -1;
      await until(async () => {
        if (asked === rig.platform.asked.length) return true;
        asked = rig.platform.asked.length;
        await sleep(150);
        return false;
      }, "it goes on reading pages");
      // Pages of 4 MB: some fill the buffers of both connections, some are read ahead.
      expect(asked).toBeLessThan(records / 200 / 2);
      const one = await get({ url: rig.url, target: "/iam/v1/groups/abc/def", as: "alice" });
      const passed = await get({ url: rig.url, target: "/iam/v2beta1/groups/abc/def", as: "alice" });
      expect([one.status, passed.status]).toEqual([200, 200]);
      reader.leave();
      await hasLeft(rig);
    },
  );

  it("for a while gets the rest when it goes on", async () => {
    const shelf = createShelf(rowsOf(12_000));
    const rig = await wireRigFor({ shelf, habits: { filler: 1_000 }, flags: { upstreamV2PageTokens: "keyset" } });
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
