/** An unchanged list is whole, whatever its length, and however many lists are read at a time. */
import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { variants } from "../../support/tier.ts";
import { get } from "./client.ts";
import { MODES, type Mode } from "./modes.ts";
import { witnessOf } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, GROUPS, rigFor, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

const shelfOf = (mode: Mode) => createShelf(rowsOf(mode.records), mode.order);
describe("T-DRN-01: a quiet list", () => {
  it.each(MODES)("$name: is whole, and proved where it can be", async (mode) => {
    const buffered = await rigFor({ ...mode, shelf: shelfOf(mode), flags: { ...mode.flags, ...BUFFERED } });
    const outcome = await buffered.list("alice", mode.target);
    expectWhole(outcome, uidsOf(buffered.platform.shelf));
    expect(witnessOf(outcome)).toBe(mode.proved ? "cover" : "count");
    const streamed = await wireRigFor({ ...mode, shelf: shelfOf(mode), flags: { ...mode.flags, ...STREAMED } });
    expectWhole(await streamed.list("alice", mode.target), uidsOf(streamed.platform.shelf));
  });
});

describe("T-DRN-23, T-DRN-30: a list of 100,000 records (20,000 in npm test)", () => {
  const records = variants(20_000, 100_000);

  it("is whole, and its first bytes come while most of it is still to be read", async () => {
    const shelf = createShelf(rowsOf(records));
    const rig = await wireRigFor({ shelf, flags: { upstreamV2PageTokens: "keyset" } });
    const first = { asked: -1 };
    const { complete, text } = await get({ url: rig.url, target: GROUPS, as: "alice" }, () => {
      if (first.asked < 0) first.asked = rig.platform.asked.length;
    });
    expect(complete).toBe(true);
    const ids = (JSON.parse(text) as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(ids.length).toBe(records);
    const uids = uidsOf(shelf);
    expect(ids.every((id, index) => id === uids[index])).toBe(true);
    const pages = records / 200;
    expect(first.asked).toBeLessThan(variants(0.6, 0.3) * pages);
    // A few more than there are, where readers meet.
    expect(rig.platform.asked.length).toBeLessThanOrEqual(1.12 * pages);
    expect(rig.exchanges[0]!.list).toMatchObject({ records, witness: "cover", outcome: "complete" });
    expect(rig.exchanges[0]!.responseBytes).toBe(text.length);
    if (pages < 500) return;
    figure("T-DRN-23", "calls for a list of 500 pages", rig.platform.asked.length, "calls");
    figure("T-DRN-30", "calls before the first byte of it", first.asked, "calls");
  });
});

describe("T-DRN-24: many long lists at a time", () => {
  const flags = { listsMaxConcurrent: "4", ...STREAMED };

  it("are read so many at a time; the others wait, all are served, and what is no list waits for none", async () => {
    const shelf = createShelf(rowsOf(1_400));
    const gate: { open: () => void } = { open: () => {} };
    const opened = new Promise<void>((resolve) => Object.assign(gate, { open: resolve }));
    const rig = await wireRigFor({ shelf, flags, habits: { wait: () => opened } });
    const asking = Array.from({ length: 20 }, (_, index) => rig.list(`tenant-${index % 5}`));
    const passed = get({ url: rig.url, target: "/iam/v2beta1/groups/abc/def", as: "tenant-1" });
    const one = get({ url: rig.url, target: "/iam/v1/groups/abc/def", as: "tenant-2" });
    expect([(await passed).status, (await one).status]).toEqual([200, 200]);
    gate.open();
    const outcomes = await Promise.all(asking);
    for (const outcome of outcomes) expectWhole(outcome, uidsOf(shelf));
    expect(rig.platform.busy.most).toBeLessThanOrEqual(4 * 4 + 20);
  });
});
