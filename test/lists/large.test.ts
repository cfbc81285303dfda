/** Very long lists, and many at a time. T-DRN-23 to 25, 30. */
import { describe, expect, it } from "vitest";
import { figure } from "../support/figures.ts";
import { variants } from "../support/tier.ts";
import { get, open } from "./client.ts";
import { fastClock } from "./clock.ts";
import { witnessOf } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, GROUPS, rigFor, STREAMED, uidsOf, until, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

describe("T-DRN-23, T-DRN-30: a list of 100,000 records (20,000 in npm test)", () => {
  const records = variants(20_000, 100_000);

  it("is whole, and its first bytes come while most of it is still to be read", async () => {
    const shelf = createShelf(rowsOf(records));
    const rig = await wireRigFor({ shelf, flags: { upstreamV2Tokens: "keyset" } });
    const first = { asked: -1 };
    const reader = await open({ url: rig.url, target: GROUPS, as: "alice" }, () => {
      if (first.asked < 0) first.asked = rig.platform.asked.length;
    });
    const { complete, text } = await reader.ended;
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
  const flags = { listsMaxConcurrent: "4", listsMaxConcurrentPerCredential: "2", listsQueueSeconds: "0", ...STREAMED };

  it("are read so many at a time; the others are told when to come again, and what is no list waits for none", async () => {
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
    expect(outcomes.filter(({ kind }) => kind === "whole").length).toBeGreaterThanOrEqual(4);
    for (const outcome of outcomes) {
      if (outcome.kind === "whole") expectWhole(outcome, uidsOf(shelf));
      else if (outcome.kind === "broken") throw new Error("a list broke off");
      else {
        expect([outcome.status, outcome.reason]).toEqual([503, "OVERLOADED"]);
        expect(Number(outcome.got.fields.get("retry-after"))).toBeGreaterThan(0);
      }
    }
    expect(rig.platform.busy.most).toBeLessThanOrEqual(4 * 4 + 20);
  });

  it("wait for their turn when they may, and all are whole", async () => {
    const shelf = createShelf(rowsOf(900));
    const rig = await rigFor({ shelf, flags: { ...flags, listsQueueSeconds: "20s" } });
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => rig.list(`tenant-${index % 5}`)));
    for (const outcome of outcomes) expectWhole(outcome, uidsOf(shelf));
  });

  it("of one credential leave places to another", async () => {
    const shelf = createShelf(rowsOf(1_400));
    const clock = fastClock();
    const rig = await rigFor({ shelf, flags, clock, habits: { wait: () => clock.wait(2) } });
    const greedy = Array.from({ length: 10 }, () => rig.list("greedy"));
    await until(() => rig.platform.asked.length > 4, "nothing is read");
    expectWhole(await rig.list("modest"), uidsOf(shelf));
    const outcomes = await Promise.all(greedy);
    expect(outcomes.filter(({ kind }) => kind === "whole")).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome.kind === "error" && outcome.reason === "OVERLOADED")).toHaveLength(8);
  });
});

describe("T-DRN-25: a list that is longer than allowed", () => {
  it("is refused before its first byte, with a reason that stays, after as few pages as can be", async () => {
    for (const how of [BUFFERED, STREAMED]) {
      const rig = await rigFor({ shelf: createShelf(rowsOf(1_000)), flags: { ...how, listsMaxRecords: "800" } });
      const outcome = await rig.list();
      expect(outcome).toMatchObject({ kind: "error", status: 422, reason: "DRAIN_TOO_LARGE" });
      expect(rig.platform.asked.length).toBeLessThanOrEqual(2);
      if (outcome.kind === "error") expect(outcome.got.text).toContain("800");
      rig.platform.shelf = createShelf(rowsOf(800));
      expectWhole(await rig.list(), uidsOf(rig.platform.shelf), "as long as allowed");
    }
  });
});

describe("what an operator demands of lists", () => {
  it("cover: a list that is answered is proved, and one that cannot be is refused", async () => {
    for (const how of [BUFFERED, STREAMED]) {
      const rig = await rigFor({ flags: { ...how, listsRequire: "cover" }, shelf: createShelf(rowsOf(2_000)) });
      const outcome = await rig.list();
      expectWhole(outcome, uidsOf(rig.platform.shelf));
      expect(witnessOf(outcome)).toBe("cover");
      const blind = await rigFor({
        flags: { ...how, listsRequire: "cover" },
        shelf: createShelf(rowsOf(2_000)),
        habits: { skip: "ignored" },
        fresh: true,
      });
      const refused = await blind.list();
      expect(refused.kind).not.toBe("whole");
      if (how === BUFFERED) expect(refused).toMatchObject({ status: 502, reason: "LIST_UNPROVEN" });
    }
  });
});
