/** Is a list that nobody writes to whole, whatever its length and whatever the platform says of it? (Design section 5.) */
import { describe, expect, it } from "vitest";
import { get } from "./client.ts";
import { LONG, MODES, type Mode, SHORT_MODES } from "./modes.ts";
import { outcomeOf, witnessOf } from "./outcome.ts";
import { tokenAt, v1Of } from "./pages.ts";
import type { Habits } from "./platform.ts";
import { BUFFERED, checkAfterEach, expectWhole, GROUPS, rigFor, STREAMED, uidsOf } from "./rig.ts";
import { byDictionary, byName, createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

/** The list of `mode`, whole; then once more as a stream. */
async function bothWays(mode: Mode, habits: Partial<Habits>): Promise<void> {
  for (const flags of [BUFFERED, STREAMED]) {
    const shelf = createShelf(rowsOf(mode.records), mode.order);
    const rig = await rigFor({ habits: { ...mode.habits, ...habits }, shelf, flags: { ...mode.flags, ...flags } });
    const outcome = await rig.list("alice", mode.target);
    expectWhole(outcome, uidsOf(shelf));
  }
}

describe("T-DRN-01: a quiet list", () => {
  const ways = (["keyset", "offset"] as const).flatMap((tokens) => [
    { tokens, how: "answered whole", flags: BUFFERED },
    { tokens, how: "streamed", flags: STREAMED },
  ]);
  it.each(ways)("of any length, $how, $tokens tokens, is byte for byte v1's", async ({ tokens, flags }) => {
    const rig = await rigFor({ habits: { tokens }, flags });
    for (const count of [0, 1, 199, 200, 201, 399, 400, 401, 10_000]) {
      const shelf = createShelf(rowsOf(count));
      rig.platform.shelf = shelf;
      const got = await get({ url: rig.url, target: GROUPS, as: "alice" });
      expect([count, got.status, got.complete]).toEqual([count, 200, true]);
      const reference = `{"items":[${shelf.rows.map((row) => v1Of(row, "alice")).join(",")}]}`;
      // Not toBe: a difference of megabytes takes minutes to print.
      expect([count, got.text.length]).toEqual([count, reference.length]);
      expect(got.text === reference).toBe(true);
    }
  });

  it.each(MODES)("$name is whole", async (mode) => {
    await bothWays(mode, {});
  });

  it("of up to 10,000 records in order of uid is proved", async () => {
    const rig = await rigFor({ flags: BUFFERED });
    for (const count of [0, 1, 199, 200, 201, 399, 400, 401, 450, 2_000, 10_000]) {
      rig.platform.shelf = createShelf(rowsOf(count));
      const outcome = await rig.list();
      expectWhole(outcome, uidsOf(rig.platform.shelf), `list of ${count}`);
      expect({ count, witness: witnessOf(outcome) }).toEqual({ count, witness: "cover" });
    }
  });

  it("longer than windows reach is proved where the tokens are known", async () => {
    for (const tokens of ["keyset", "offset"] as const) {
      const shelf = createShelf(rowsOf(10_600));
      const rig = await rigFor({ habits: { tokens }, shelf, flags: { ...BUFFERED, upstreamV2Tokens: tokens } });
      expect(witnessOf(await rig.list())).toBe("cover");
    }
  });
});

describe("T-DRN-10: short pages", () => {
  it.each(MODES)("$name: pages of any length and a cap of 100 leave nothing out", async (mode) => {
    await bothWays(mode, { cap: 100 });
    if (mode.records < LONG) await bothWays(mode, { cap: 37 });
  });

  it.each(SHORT_MODES)("$name: some pages in the middle that are short leave nothing out", async (mode) => {
    await bothWays(mode, {
      fault: (page, { index }, shelf) => {
        if (index % 3 !== 0 || page.rows.length < 20) return page;
        const nextPageToken = tokenAt(shelf, page.start + 17, mode.habits.tokens ?? "keyset");
        return { ...page, rows: page.rows.slice(0, 17), members: { ...page.members, nextPageToken } };
      },
    });
  });
});

describe("T-DRN-12: a total that is wrong", () => {
  /** `telling`: tried with long lists as well. */
  const totals: readonly { name: string; total: (right: number, call: number) => unknown; telling?: true }[] = [
    { name: "absent", total: () => undefined, telling: true },
    { name: "empty", total: () => "" },
    { name: "-1", total: () => "-1" },
    { name: "a number", total: (right) => right },
    { name: "2^70", total: () => String(2n ** 70n), telling: true },
    { name: "null", total: () => null },
    { name: "an object", total: () => ({ count: 3 }) },
    { name: "zero", total: () => "0" },
    { name: "too low", total: (right) => String(Math.floor(right / 3)), telling: true },
    { name: "too low by one", total: (right) => String(right - 1) },
    { name: "too high", total: (right) => String(right + 900), telling: true },
    { name: "too high by one", total: (right) => String(right + 1) },
    {
      name: "changing",
      total: (right, call) => String(Math.max(0, right + ((call * 7919) % 800) - 400)),
      telling: true,
    },
    { name: "there on page one only", total: (right, call) => (call === 0 ? String(right) : undefined) },
  ];
  it.each(MODES)("$name: the list is whole, whatever the total", async (mode) => {
    const shelf = createShelf(rowsOf(mode.records), mode.order);
    const rig = await rigFor({ habits: mode.habits, shelf, flags: mode.flags });
    for (const { name, total, telling } of totals) {
      if (mode.records >= LONG && telling === undefined) continue;
      const first = rig.platform.asked.length;
      rig.platform.habits = {
        ...rig.platform.habits,
        fault: (page, { index }) => ({
          ...page,
          members: { ...page.members, totalCount: total(page.total, index - first) },
        }),
      };
      let outcome = await rig.list("alice", mode.target);
      // What was announced as proved is broken off when its last page counts more than there are; the next is not announced so.
      if (outcome.kind === "broken" && name.startsWith("too high")) outcome = await rig.list("alice", mode.target);
      expectWhole(outcome, uidsOf(shelf), `total ${name}`);
    }
  });
});

describe("T-DRN-11: a platform that does not skip", () => {
  const lies: readonly { name: string; habits: Partial<Habits> }[] = [
    { name: "ignores it", habits: { skip: "ignored" } },
    {
      name: "ignores it and says that it did not",
      habits: {
        skip: "ignored",
        fault: (page, ask) => ({ ...page, members: { ...page.members, skipped: ask.skip } }),
      },
    },
    {
      name: "skips and says another number",
      habits: {
        fault: (page, ask) => ({ ...page, members: { ...page.members, skipped: ask.skip > 0 ? ask.skip + 1 : 0 } }),
      },
    },
    {
      name: "skips and does not say so",
      habits: { fault: (page) => ({ ...page, members: { ...page.members, skipped: undefined } }) },
    },
    {
      name: "refuses it",
      habits: {
        fault: (page, ask) =>
          ask.skip > 0 ? { status: 400, body: '{"code":3,"message":"skip: unknown","details":[]}' } : page,
      },
    },
  ];
  const lengths = [450, 10_600];
  it.each(lies)("$name: the list is whole", async ({ habits }) => {
    for (const length of lengths) {
      const shelf = createShelf(rowsOf(length));
      const rig = await rigFor({ habits, shelf, fresh: true });
      expectWhole(await rig.list(), uidsOf(shelf), `first list, of ${length}`);
      expectWhole(await rig.list(), uidsOf(shelf), `second list, of ${length}`);
    }
  });

  it.each(lies)("$name: a list that is streamed from its first page on is whole", async ({ habits }) => {
    const shelf = createShelf(rowsOf(700));
    const rig = await rigFor({ habits, shelf, flags: STREAMED, fresh: true });
    expectWhole(await rig.list(), uidsOf(shelf), "first list");
    expectWhole(await rig.list(), uidsOf(shelf), "second list");
  });

  it("is read page by page, and not much more than once", async () => {
    const shelf = createShelf(rowsOf(4_000));
    const rig = await rigFor({ habits: { skip: "ignored" }, shelf });
    expectWhole(await rig.list(), uidsOf(shelf));
    // Twenty pages, and as many as there are readers to find out.
    expect(rig.platform.asked.length).toBeLessThanOrEqual(24);
    expect(rig.platform.asked.filter(({ token }) => token !== undefined).length).toBeGreaterThanOrEqual(19);
  });
});

describe("T-DRN-29: an order that is not the order of bytes", () => {
  it.each([
    { name: "a dictionary's", order: byDictionary },
    { name: "by name", order: byName },
  ])("$name: the list is whole, and nothing claims to be proved", async ({ order }) => {
    for (const tokens of ["keyset", "offset"] as const) {
      const rig = await rigFor({ flags: { upstreamV2Tokens: tokens, ...BUFFERED }, fresh: true });
      for (const length of [150, 450, 2_000, 10_600]) {
        const shelf = createShelf(rowsOf(length), order);
        rig.platform.reset({ tokens }, shelf);
        const outcome = await rig.list();
        expectWhole(outcome, uidsOf(shelf), `${tokens}, ${length}`);
        if (length > 200) expect(witnessOf(outcome)).not.toBe("cover");
      }
    }
  });
});

describe("filters that carryover applies", () => {
  it("leave out what they should in every way of reading, and the rest is whole", async () => {
    for (const length of [450, 2_000, 10_600]) {
      const shelf = createShelf(rowsOf(length));
      const rig = await rigFor({ shelf });
      const outcome = outcomeOf(await get({ url: rig.url, target: "/iam/v1/roles?parent=/", as: "alice" }), "alice");
      const roots = uidsOf(shelf).filter((uid) => !uid.includes("/"));
      expect(roots.length).toBeGreaterThan(10);
      expectWhole(outcome, roots);
    }
  });
});
