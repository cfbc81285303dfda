/** A list that nobody writes to is whole, whatever its length and whatever the platform says of it (design section 5). */
import { describe, expect, it } from "vitest";
import { variants } from "../support/tier.ts";
import { get } from "./client.ts";
import { LONG, MODES, type Mode, SHORT_MODES } from "./modes.ts";
import { witnessOf } from "./outcome.ts";
import { tokenAt, v1Of } from "./pages.ts";
import type { Fault, Habits } from "./platform.ts";
import { BUFFERED, checkAfterEach, expectWhole, GROUPS, rigFor, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { byDictionary, byName, createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

const shelfOf = (mode: Mode) => createShelf(rowsOf(mode.records), mode.order);
const changed = (members: (page: Parameters<Fault>[0], ask: Parameters<Fault>[1]) => object): Fault => {
  return (page, ask) => ({ ...page, members: { ...page.members, ...members(page, ask) } });
};

/** The list of `mode`, buffered and streamed. */
async function bothWays(mode: Mode, habits: Partial<Habits>): Promise<void> {
  for (const flags of [BUFFERED, STREAMED]) {
    const shelf = shelfOf(mode);
    const rig = await rigFor({ habits: { ...mode.habits, ...habits }, shelf, flags: { ...mode.flags, ...flags } });
    expectWhole(await rig.list("alice", mode.target), uidsOf(shelf));
  }
}

describe("T-DRN-01: a quiet list", () => {
  it.each([
    { how: "buffered, keyset tokens", habits: {}, flags: BUFFERED },
    { how: "streamed, offset tokens", habits: { tokens: "offset" as const }, flags: STREAMED },
  ])("of any length, $how, is byte for byte v1's", async ({ habits, flags }) => {
    const rig = await wireRigFor({ habits, flags });
    for (const count of variants([0, 1, 200, 201, 401], [0, 1, 199, 200, 201, 399, 400, 401, 10_000])) {
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

  it.each(MODES)("$name: is whole, and proved where it can be", async (mode) => {
    const buffered = await rigFor({ ...mode, shelf: shelfOf(mode), flags: { ...mode.flags, ...BUFFERED } });
    const outcome = await buffered.list("alice", mode.target);
    expectWhole(outcome, uidsOf(buffered.platform.shelf));
    expect(witnessOf(outcome)).toBe(mode.proof === "always" ? "cover" : "count");
    const streamed = await wireRigFor({ ...mode, shelf: shelfOf(mode), flags: { ...mode.flags, ...STREAMED } });
    expectWhole(await streamed.list("alice", mode.target), uidsOf(streamed.platform.shelf));
  });
});

describe("T-DRN-10: short pages", () => {
  it.each(MODES)("$name: a cap on pages leaves nothing out", async (mode) => {
    await bothWays(mode, { cap: mode.records < LONG ? 37 : 100 });
  });

  it.each(SHORT_MODES)("$name: short pages in the middle leave nothing out", async (mode) => {
    await bothWays(mode, {
      fault: (page, { index }, shelf) => {
        if (index % 3 !== 0 || page.rows.length < 20) return page;
        const nextPageToken = tokenAt(shelf, page.start + 17, mode.habits.tokens ?? "keyset");
        return { ...page, rows: page.rows.slice(0, 17), members: { ...page.members, nextPageToken } };
      },
    });
  });
});

describe("T-DRN-12: a wrong total", () => {
  /** `telling`: tried with long lists as well. */
  const totals: readonly { name: string; total: (right: number, call: number) => unknown; telling?: true }[] = [
    { name: "too high", total: (right) => String(right + 900), telling: true },
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
    { name: "too high by one", total: (right) => String(right + 1) },
    {
      name: "changing",
      total: (right, call) => String(Math.max(0, right + ((call * 7919) % 800) - 400)),
      telling: true,
    },
    { name: "there on page one only", total: (right, call) => (call === 0 ? String(right) : undefined) },
  ];
  it.each(MODES)("$name: leaves the list whole", async (mode) => {
    const rig = await rigFor({ ...mode, shelf: shelfOf(mode) });
    for (const { name, total, telling } of totals) {
      if (mode.records >= LONG && telling === undefined) continue;
      const first = rig.platform.asked.length;
      const fault = changed((page, { index }) => ({ totalCount: total(page.total, index - first) }));
      rig.platform.habits = { ...rig.platform.habits, fault };
      let outcome = await rig.list("alice", mode.target);
      // A list that was announced as proved is broken off when its last page counts more than there are; the next is not announced so.
      if (outcome.kind === "broken" && name.startsWith("too high")) outcome = await rig.list("alice", mode.target);
      // The same when it turns out longer than windows can prove.
      if (outcome.kind === "broken" && name === "too low" && mode.proof === "quiet") continue;
      expectWhole(outcome, uidsOf(rig.platform.shelf), `total ${name}`);
    }
  });
});

describe("T-DRN-11: a platform that does not skip", () => {
  const lies: readonly { name: string; habits: Partial<Habits> }[] = [
    { name: "ignores it", habits: { skip: "ignored" } },
    {
      name: "ignores it and says that it did not",
      habits: { skip: "ignored", fault: changed((_, ask) => ({ skipped: ask.skip })) },
    },
    {
      name: "skips and says another number",
      habits: { fault: changed((_, ask) => ({ skipped: ask.skip > 0 ? ask.skip + 1 : 0 })) },
    },
    { name: "skips and does not say so", habits: { fault: changed(() => ({ skipped: undefined })) } },
    {
      name: "refuses it",
      habits: {
        fault: (page, ask) =>
          ask.skip > 0 ? { status: 400, body: '{"code":3,"message":"skip: unknown","details":[]}' } : page,
      },
    },
  ];
  it.each(lies)("$name: the list is whole, the first time and the second", async ({ habits }) => {
    for (const [length, flags] of [
      [450, {}],
      [700, STREAMED],
      [variants(1_400, LONG), {}],
    ] as const) {
      const shelf = createShelf(rowsOf(length));
      const rig = await rigFor({ habits, shelf, flags, fresh: true });
      expectWhole(await rig.list(), uidsOf(shelf), `first list, of ${length}`);
      expectWhole(await rig.list(), uidsOf(shelf), `second list, of ${length}`);
    }
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
      for (const length of variants([150, 450, 1_400], [150, 450, 2_000, LONG])) {
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
    for (const length of variants([450, 1_400], [450, 1_400, LONG])) {
      const shelf = createShelf(rowsOf(length));
      const rig = await rigFor({ shelf });
      const roots = uidsOf(shelf).filter((uid) => !uid.includes("/"));
      expect(roots.length).toBeGreaterThan(10);
      expectWhole(await rig.list("alice", "/iam/v1/roles?parent=/"), roots);
    }
  });
});
