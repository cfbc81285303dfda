import { describe, expect, it } from "vitest";
import type { PageSelector } from "../../src/model/list.ts";
import { drained, keysOf, type Platform, pageOf, quiet, respond, uidsOf } from "./simulator.ts";
import { changed, knowing, memory, moving, SEGMENTS, streamed } from "./stage.ts";

const KEYS = keysOf(100);
const FOUR = { limits: SEGMENTS, parts: knowing(true) };
const skips = (requests: readonly PageSelector[]) => requests.flatMap((s) => (s.skip === undefined ? [] : [s.skip]));
const tokens = (requests: readonly PageSelector[]) => requests.flatMap((s) => (s.token === undefined ? [] : [s.token]));

describe("a long quiet list", () => {
  for (const kind of ["keyset", "offset"] as const) {
    for (const [count, heads, pages] of [
      [10_001, [190, 3390 - 10, 6590 - 20, 9790 - 30], 1 + 3 * 16 + 2],
      [20_000, [190, 3380, 6570, 9760, 12_950, 16_140, 19_330], 1 + 6 * 16 + 4],
    ] as const) {
      it(`T-DRN-01 of ${count} records arrives byte for byte, ${kind} tokens`, async () => {
        for (const [told, witness] of [
          ["unknown", "count"],
          ["keyset", "cover"],
        ] as const) {
          const outcome = await drained(quiet(keysOf(count), kind), { parts: knowing(true, told) });
          expect(uidsOf(outcome)).toEqual(keysOf(count));
          expect(skips(outcome.requests)).toEqual(heads);
          expect(outcome.requests).toHaveLength(pages);
          expect(new Set(tokens(outcome.requests)).size).toBe(pages - 1 - heads.length);
          expect(outcome.result).toMatchObject({ records: count, pages, witness });
          expect(outcome.notes).toEqual([]);
        }
      });
    }
  }

  it("is cut into windows where tokens are row numbers, and proved", async () => {
    const outcome = await drained(quiet(keysOf(10_400), "offset"), { parts: knowing(true, "offset") });
    expect(uidsOf(outcome)).toEqual(keysOf(10_400));
    expect(tokens(outcome.requests)).toEqual([]);
    expect(outcome.result).toMatchObject({ witness: "cover" });
  });

  it("one record beyond the longest of windows is read in segments", async () => {
    const limits = { ...SEGMENTS, windowRecords: 100 };
    expect(tokens((await drained(quiet(KEYS), { ...FOUR, limits })).requests)).toEqual([]);
    expect(tokens((await drained(quiet(keysOf(101)), { ...FOUR, limits })).requests)).not.toEqual([]);
  });

  it("of small pages: each segment ends where it meets the next", async () => {
    const outcome = await drained(quiet(KEYS), FOUR);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(skips(outcome.requests)).toEqual([8, 46, 84]);
    expect(tokens(outcome.requests).toSorted()).toEqual(
      [17, 27, 37, 55, 65, 75, 93].map((n) => `k:${KEYS[n]}`).toSorted(),
    );
  });
});

describe("what a page behind a token says it skipped", () => {
  /** `chain`: the skip with which its chain began; `rank`: records before the page; `pages`: pages of the chain before it. */
  type Says = (page: { readonly chain: number; readonly rank: number; readonly pages: number }) => number | undefined;
  /** `again`: each page of a chain skips once more. */
  const chained =
    (says: Says, again = false): Platform =>
    (s) => {
      const [key = "", of = String(s.skip ?? 0), count = "0"] = (s.token ?? "").split("|");
      const [chain, pages] = [Number(of), Number(count)];
      const token = { size: s.size, token: key, ...(again ? { skip: chain } : {}) };
      const page = pageOf(KEYS, s.token === undefined ? s : token, "keyset");
      const [first] = page.items as readonly { readonly uid: string }[];
      const rank = first === undefined ? KEYS.length : KEYS.indexOf(first.uid);
      const skipped = s.token === undefined ? (s.skip ?? 0) : says({ chain, rank, pages });
      return respond({ ...page, next: page.next === "" ? "" : `${page.next}|${chain}|${pages + 1}`, skipped });
    };
  const OPTIONS = (["unknown", "keyset"] as const).map((told) => ({ limits: SEGMENTS, parts: knowing(true, told) }));

  it.each<[string, Says]>([
    ["nothing", () => undefined],
    ["its own skip alone", () => 0],
    ["what its chain skipped", ({ chain }) => chain],
    ["its position", ({ rank }) => rank],
  ])("%s, costs nothing", async (_, says) => {
    for (const options of OPTIONS) {
      const outcome = await drained(chained(says), options);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(skips(outcome.requests)).toEqual([8, 46, 84]);
      expect(outcome.notes).toEqual([]);
      expect(await streamed(chained(says), options)).toMatchObject({ uids: KEYS, error: undefined });
    }
  });

  it.each<[string, Says, boolean]>([
    ["the skip of its chain once more for each page", ({ chain, pages }) => chain * (pages + 1), false],
    ["some number", () => 7, false],
    ["that its chain skips again with each page", ({ chain, pages }) => chain * (pages + 1), true],
    ["nothing of skipping again with each page", () => undefined, true],
  ])("%s, costs the reading in parallel and no record", async (_, says, again) => {
    for (const options of OPTIONS) {
      const outcome = await drained(
        chained((page) => (page.chain === 0 ? 0 : says(page)), again),
        options,
      );
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toContain("list-read-again");
      const platform = chained((page) => (page.chain === 0 ? 0 : says(page)), again);
      const { uids, error } = await streamed(platform, options);
      // Tokens that leave records out in silence are noticed by the count, when a part has gone out.
      if (says({ chain: 8, rank: 18, pages: 1 }) === undefined)
        expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      else expect([uids.toSorted(), error]).toEqual([KEYS, undefined]);
    }
  });

  it("though no skip was asked for, is believed unless as many records came as are counted", async () => {
    const cursor = { limits: SEGMENTS, parts: knowing(false, "keyset") };
    const counted = await drained(
      chained(() => 7),
      cursor,
    );
    expect(uidsOf(counted)).toEqual(KEYS);
    expect(counted.result).toMatchObject({ witness: "count" });
    const uncounted: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond({ ...page, total: undefined, skipped: s.token === "k:u000019" ? 7 : 0 });
    };
    expect((await drained(uncounted, cursor)).problem).toMatchObject({
      reason: "DRAIN_INCOMPLETE",
      message: expect.stringContaining("a page skipped 7 records that were asked for"),
    });
    expect((await streamed(uncounted, cursor)).error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
  });
});

describe("what tokens prove", () => {
  const OVER = { ...SEGMENTS, windowRecords: 10, segmentPages: 2 };
  const SHORT = keysOf(19);

  it("nothing, where it is not known that they are positions: only a page that overlaps is", async () => {
    // A record before the border: a row number then points at a record that was already taken.
    const overlaps = moving(changed(SHORT, 2, [], ["a"]), "offset");
    const outcome = await drained(overlaps, { limits: OVER, parts: knowing(true) });
    expect(uidsOf(outcome)).toEqual(SHORT);
    expect(outcome.result).toMatchObject({ witness: "cover" });
    expect((await drained(quiet(SHORT), { limits: OVER, parts: knowing(true) })).result).toMatchObject({
      witness: "count",
    });
  });

  it("T-DRN-04 nothing, when the page behind one is empty: a record may have slipped through", async () => {
    const slips = moving(changed(SHORT, 2, ["u000000"]), "offset");
    const outcome = await drained(slips, { limits: OVER, parts: knowing(true) });
    expect(outcome.requests.at(-1)).toEqual({ size: 10, token: "o:18" });
    expect(outcome.result).toMatchObject({ witness: "none" });
  });

  it("the whole list when it is read by nothing else", async () => {
    for (const [told, witness] of [
      ["keyset", "cover"],
      ["offset", "count"],
      ["unknown", "count"],
    ] as const) {
      const outcome = await drained(quiet(KEYS), { limits: SEGMENTS, parts: knowing(false, told) });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness });
    }
  });

  it("nothing of a list that was no longer in order", async () => {
    const platform: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond(s.token === "k:u000029" ? { ...page, items: page.items.toReversed() } : page);
    };
    const outcome = await drained(platform, { limits: SEGMENTS, parts: knowing(false, "keyset") });
    expect(uidsOf(outcome)).toHaveLength(100);
    expect(outcome.result).toMatchObject({ witness: "count" });
  });
});

describe("a token that leads elsewhere", () => {
  const restarts: Platform = (s) => respond(pageOf(KEYS, s.token === "k:u000027" ? { size: s.size } : s, "keyset"));

  it("T-DRN-08 to the page before it: noticed by its last record", async () => {
    const repeats: Platform = (s, call) =>
      quiet(KEYS)(s.token === "k:u000027" ? { ...s, token: "k:u000017" } : s, call);
    const outcome = await drained(repeats, { ...FOUR, parts: knowing(true, "keyset") });
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-token-restarted"]);
    expect(outcome.requests.filter((s) => s.token === "k:u000027").length).toBeLessThanOrEqual(4);
  });

  it("says nothing about skip", async () => {
    const { of, told } = memory(true);
    await drained(restarts, { ...FOUR, parts: { memory: of } });
    expect(told).not.toContainEqual(["skip", "groups", false]);
  });

  it("T-DRN-07 to page one, always: the list is read past it by rank, and proved", async () => {
    const outcome = await drained(restarts, { ...FOUR, parts: knowing(true, "keyset") });
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "cover" });
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-token-restarted"]);
  });
});
