/** What becomes of very long lists, and of many at a time? T-DRN-23 to 25, 30. */
import { describe, expect, it } from "vitest";
import { figure } from "../support/figures.ts";
import { get, open } from "./client.ts";
import { outcomeOf, witnessOf } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, GROUPS, rigFor, STREAMED, sleep, uidsOf, until } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

const HUNDRED_THOUSAND = rowsOf(100_000);

describe("T-DRN-23, T-DRN-30: a list of 100,000 records", () => {
  it("is whole, and its first bytes come while most of it is still to be read", async () => {
    const shelf = createShelf(HUNDRED_THOUSAND);
    const rig = await rigFor({ shelf, flags: { upstreamV2Tokens: "keyset" } });
    const first = { asked: -1 };
    const reader = await open({ url: rig.url, target: GROUPS, as: "alice" }, () => {
      if (first.asked < 0) first.asked = rig.platform.asked.length;
    });
    const { complete, text } = await reader.ended;
    expect(complete).toBe(true);
    const ids = (JSON.parse(text) as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(ids.length).toBe(100_000);
    const uids = uidsOf(shelf);
    expect(ids.every((id, index) => id === uids[index])).toBe(true);
    expect(first.asked).toBeLessThan(150);
    // Five hundred pages; a few more where readers meet.
    expect(rig.platform.asked.length).toBeLessThanOrEqual(560);
    expect(rig.exchanges[0]!.list).toMatchObject({ records: 100_000, witness: "cover", outcome: "complete" });
    expect(rig.exchanges[0]!.responseBytes).toBe(text.length);
    figure("T-DRN-23", "calls for a list of 500 pages", rig.platform.asked.length, "calls");
    figure("T-DRN-30", "calls before the first byte of it", first.asked, "calls");
  });
});

describe("T-DRN-24: many long lists at a time", () => {
  const flags = { listsMaxConcurrent: "4", listsMaxConcurrentPerCredential: "2", listsQueueSeconds: "0", ...STREAMED };

  it("are read so many at a time, the others are told when to come again", async () => {
    const shelf = createShelf(HUNDRED_THOUSAND.slice(0, 3_000));
    const rig = await rigFor({ shelf, flags, habits: { wait: () => sleep(3) } });
    const asking = Array.from({ length: 20 }, (_, index) => {
      const as = `tenant-${index % 5}`;
      return get({ url: rig.url, target: GROUPS, as }).then((got) => outcomeOf(got, as));
    });
    const passed = get({ url: rig.url, target: "/iam/v2beta1/groups/abc/def", as: "tenant-1" });
    const one = get({ url: rig.url, target: "/iam/v1/groups/abc/def", as: "tenant-2" });
    const finished = { lists: 0 };
    for (const each of asking) void each.then(({ kind }) => (finished.lists += kind === "whole" ? 1 : 0));
    expect([(await passed).status, (await one).status]).toEqual([200, 200]);
    // What is no list did not wait for any.
    expect(finished.lists).toBe(0);
    const outcomes = await Promise.all(asking);
    const whole = outcomes.filter(({ kind }) => kind === "whole");
    expect(whole.length).toBeGreaterThanOrEqual(4);
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
    const shelf = createShelf(HUNDRED_THOUSAND.slice(0, 1_000));
    const rig = await rigFor({ shelf, flags: { ...flags, listsQueueSeconds: "20s" } });
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => rig.list(`tenant-${index % 5}`)));
    for (const outcome of outcomes) expectWhole(outcome, uidsOf(shelf));
  });

  it("of one credential leave places to another", async () => {
    const shelf = createShelf(HUNDRED_THOUSAND.slice(0, 5_000));
    const rig = await rigFor({ shelf, flags, habits: { wait: () => sleep(2) } });
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

  it("and does not say so is an error, or breaks: never the part that is allowed", async () => {
    for (const how of [BUFFERED, STREAMED]) {
      for (const habits of [{}, { skip: "ignored" }] as const) {
        const rig = await rigFor({
          shelf: createShelf(rowsOf(1_000)),
          habits: { ...habits, fault: (page) => ({ ...page, members: { ...page.members, totalCount: "12" } }) },
          flags: { ...how, listsMaxRecords: "800" },
        });
        const outcome = await rig.list();
        expect(outcome.kind).not.toBe("whole");
        if (how === BUFFERED) expect(outcome).toMatchObject({ status: 422, reason: "DRAIN_TOO_LARGE" });
      }
    }
  });

  it("in pages or bytes is refused as well", async () => {
    for (const limit of [{ listsMaxPages: "3" }, { listsMaxBytes: "64KiB" }]) {
      const rig = await rigFor({ shelf: createShelf(rowsOf(1_500)), flags: limit });
      expect(await rig.list()).toMatchObject({ kind: "error", status: 422, reason: "DRAIN_TOO_LARGE" });
      rig.platform.shelf = createShelf(rowsOf(199));
      expectWhole(await rig.list(), uidsOf(rig.platform.shelf), JSON.stringify(limit));
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
