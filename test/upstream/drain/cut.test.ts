import { describe, expect, it } from "vitest";
import type { ListPage } from "../../../src/model/list.ts";
import { canSeek, cutOf } from "../../../src/upstream/drain/cut.ts";
import { READING } from "../../../src/upstream/drain/limits.ts";
import { takeNew } from "../../../src/upstream/drain/merged.ts";
import { keysOf, type Options, planOf, quiet } from "./simulator.ts";
import { knowing, runOf } from "./stage.ts";

const MIB = 2 ** 20;

/** A page of `keys`, as it was read. */
function page(keys: readonly string[], totalCount?: number): ListPage {
  const starts = keys.map((_, i) => 2 * i);
  const ends = starts.map((start) => start + 1);
  const bytes = new Uint8Array(Math.max(0, 2 * keys.length - 1));
  return { bytes, starts, ends, keys, nextPageToken: "t", totalCount, skipped: undefined };
}

function cut(total: number, first: { records: number; bytes: number }, options: Options = {}) {
  const run = runOf(quiet([]), options);
  run.merged.rank = first.records;
  return cutOf(run, first, total);
}

describe("how a list is cut", () => {
  const windows = { from: 190, step: 190, overlap: 10, pages: 1, ahead: 8, readers: 4, aheadBytes: 4 * MIB };

  const segments = (pages: number) => ({ pages, step: pages * 200 - 10 });
  const sixth = Math.floor((4 * MIB) / 6);
  const knows = (tokens: "keyset" | "offset" | "unknown"): Options => ({ parts: knowing(true, tokens) });
  const readers = (count: number): Options => ({ limits: { readers: count } });

  it.each<[string, number, bytes: number, Options, object]>([
    ["into overlapping windows of one page, two for each reader", 601, 80_000, {}, {}],
    ["into such windows up to ten thousand records", 10_000, 80_000, {}, {}],
    ["with one reader where the whole list is three pages", 600, 80_000, {}, { readers: 1, ahead: 2 }],
    ["with one reader where it is less", 201, 80_000, {}, { readers: 1, ahead: 2 }],
    ["with as many readers as the operator allows", 5000, 80_000, readers(8), { readers: 8, ahead: 16 }],
    ["with one reader where no more are allowed", 5000, 80_000, readers(1), { readers: 1, ahead: 2 }],
    ["beyond that into segments whose pages ahead fit into four MiB", 10_001, 80_000, {}, segments(6)],
    ["into segments of 16 pages at most", 10_001, 1000, {}, segments(16)],
    ["into short segments of large pages", 10_001, MIB / 4, {}, segments(2)],
    ["into segments as long as configured", 10_001, 80_000, { limits: { segmentPages: 3 } }, segments(3)],
    ["into windows however long it is, where tokens are row numbers", 100_000, 80_000, knows("offset"), {}],
    ["into segments where they are positions", 100_000, 80_000, knows("keyset"), segments(6)],
    ["into segments where they may be anything", 100_000, 80_000, knows("unknown"), segments(6)],
    ["with less ahead of large pages", 10_000, MIB, {}, { readers: 4, ahead: 4 }],
    ["with fewer readers of larger ones", 10_000, 1.5 * MIB, {}, { readers: 2, ahead: 2 }],
    ["with one reader of the largest", 10_000, 5 * MIB, {}, { readers: 1, ahead: 1 }],
    ["with fewer readers of segments, too", 10_001, 1.5 * MIB, {}, { readers: 2, ahead: 2 }],
    ["with one reader of the largest, too", 10_001, 5 * MIB, {}, { readers: 1, ahead: 1 }],
    ["with less ahead where there is no room for two parts of each reader", 10_000, sixth, {}, { ahead: 6 }],
    ["so in segments, too", 10_001, sixth, {}, { ahead: 6 }],
    ["for one reader", 10_001, sixth, readers(1), { readers: 1, ahead: 2, ...segments(3) }],
    ["for two readers", 10_001, sixth, readers(2), { readers: 2, ahead: 4 }],
    ["by pages without a byte too", 10_000, 0, {}, {}],
  ])("%s", (_, total, bytes, options, differs) => {
    expect(cut(total, { records: 200, bytes }, options)).toEqual({ ...windows, ...differs });
  });

  it("with an overlap of at most half a page", () => {
    expect(cut(500, { records: 5, bytes: 100 }, { limits: { pageSize: 20 } })).toMatchObject({ from: 3, step: 3 });
    expect(cut(500, { records: 20, bytes: 100 })).toMatchObject({ from: 10, step: 10 });
    expect(cut(500, { records: 21, bytes: 100 })).toMatchObject({ from: 11, step: 11 });
    expect(cut(500, { records: 2, bytes: 100 })).toMatchObject({ from: 1, step: 1 });
  });

  it("by measures that belong together", () => {
    expect(READING).toEqual({ overlap: 10, windowRecords: 10_000, segmentPages: 16 });
  });
});

describe("a list is read in parallel only", () => {
  /** What is decided for a list whose first page is `keys`. */
  function decide(keys: readonly string[], total: number | undefined, options: Options, keyOrder: boolean): boolean {
    const run = runOf(quiet([]), { limits: { pageSize: 10 }, ...options }, planOf(keyOrder));
    const first = page(keys, total);
    takeNew(run.merged, first);
    return canSeek(run, first);
  }
  const ten = keysOf(10);

  it.each<[string, readonly string[], number | undefined, Options, keyOrder: boolean, boolean]>([
    ["when it has an order, a count, and a first page to overlap with", ten, 11, {}, true, true],
    ["when its plan promises an order of keys", ten, 11, {}, false, false],
    ["when the first page keeps that order", ["b", "a", ...ten.slice(2)], 11, {}, true, false],
    ...[undefined, 10, 5, -1, 11.5, 2 ** 70, Number.NaN].map(
      (total): [string, readonly string[], number | undefined, Options, boolean, boolean] => [
        `when it is counted as more than the first page, not as ${total}`,
        ten,
        total,
        {},
        true,
        false,
      ],
    ),
    ["when pages are no shorter than a quarter of what was asked for", keysOf(3), 11, {}, true, true],
    ["not when they are", keysOf(2), 11, {}, true, false],
    ["when they are of two records at least", keysOf(2), 11, { limits: { pageSize: 8 } }, true, true],
    ["not when they are of one", keysOf(1), 11, { limits: { pageSize: 4 } }, true, false],
    ["not when they are of none", [], 11, {}, true, false],
    ["unless the platform is known to take no notice of skip", ten, 11, { parts: knowing(false) }, true, false],
    ["when it is known to heed it", ten, 11, { parts: knowing(true) }, true, true],
  ])("%s", (_, keys, total, options, keyOrder, expected) => {
    expect(decide(keys, total, options, keyOrder)).toBe(expected);
  });

  it("when keys are still kept", () => {
    const run = runOf(quiet([]), { limits: { pageSize: 10 } });
    takeNew(run.merged, page(ten, 11));
    run.merged.keepsKeys = false;
    expect(canSeek(run, page(ten, 11))).toBe(false);
  });
});
