/** All readers of a list respect its platform's pauses and its client's pace. T-DRN-19, 21, 22. */
import { describe, expect, it } from "vitest";
import { variants } from "../../support/tier.ts";
import { get, open } from "./client.ts";
import { fastClock } from "./clock.ts";
import type { Fault, Habits } from "./platform.ts";
import { checkAfterEach, expectWhole, GROUPS, rigFor, sleep, uidsOf, until, type WireRig, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { refusal } from "./spoil.ts";

checkAfterEach();

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

const hasLeft = (rig: WireRig) => until(() => rig.exchanges.some(({ aborted }) => aborted), "nobody noticed");

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
});
