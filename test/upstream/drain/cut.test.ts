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
  const first = { records: 200, bytes: 80_000 };
  const windows = { from: 190, step: 190, overlap: 10, pages: 1, ahead: 8, readers: 4, aheadBytes: 4 * MIB };

  it("into overlapping windows of one page, two for each reader", () => {
    expect(cut(601, first)).toEqual(windows);
    expect(cut(10_000, first)).toEqual(windows);
  });

  it("with one reader where the whole list is three pages or less", () => {
    expect(cut(600, first)).toEqual({ ...windows, readers: 1, ahead: 2 });
    expect(cut(201, first)).toEqual({ ...windows, readers: 1, ahead: 2 });
  });

  it("with as many readers as the operator allows", () => {
    expect(cut(5000, first, { limits: { readers: 8 } })).toEqual({ ...windows, readers: 8, ahead: 16 });
    expect(cut(5000, first, { limits: { readers: 1 } })).toEqual({ ...windows, readers: 1, ahead: 2 });
  });

  it("beyond ten thousand records into segments, whose pages ahead fit into four MiB", () => {
    expect(cut(10_001, first)).toEqual({ ...windows, pages: 6, step: 6 * 200 - 10 });
    expect(cut(10_001, { records: 200, bytes: 1000 })).toEqual({ ...windows, pages: 16, step: 16 * 200 - 10 });
    expect(cut(10_001, { records: 200, bytes: MIB / 4 })).toEqual({ ...windows, pages: 2, step: 2 * 200 - 10 });
    expect(cut(10_001, first, { limits: { segmentPages: 3 } })).toEqual({ ...windows, pages: 3, step: 3 * 200 - 10 });
  });

  it("into windows however long it is, where tokens are row numbers anyway", () => {
    expect(cut(100_000, first, { parts: knowing(true, "offset") })).toEqual(windows);
    expect(cut(100_000, first, { parts: knowing(true, "keyset") })).toMatchObject({ pages: 6 });
    expect(cut(100_000, first, { parts: knowing(true, "unknown") })).toMatchObject({ pages: 6 });
  });

  it("with fewer readers, and less ahead, where pages are large", () => {
    expect(cut(10_000, { records: 200, bytes: MIB })).toEqual({ ...windows, readers: 4, ahead: 4 });
    expect(cut(10_000, { records: 200, bytes: 1.5 * MIB })).toEqual({ ...windows, readers: 2, ahead: 2 });
    expect(cut(10_000, { records: 200, bytes: 5 * MIB })).toEqual({ ...windows, readers: 1, ahead: 1 });
    expect(cut(10_001, { records: 200, bytes: 1.5 * MIB })).toEqual({ ...windows, readers: 2, ahead: 2 });
    expect(cut(10_001, { records: 200, bytes: 5 * MIB })).toEqual({ ...windows, readers: 1, ahead: 1 });
  });

  it("with less ahead where there is no room for two parts of each reader", () => {
    const bytes = Math.floor((4 * MIB) / 6);
    expect(cut(10_000, { records: 200, bytes })).toEqual({ ...windows, readers: 4, ahead: 6 });
    expect(cut(10_001, { records: 200, bytes })).toEqual({ ...windows, readers: 4, ahead: 6 });
    expect(cut(10_001, { records: 200, bytes }, { limits: { readers: 1 } })).toMatchObject({ pages: 3, ahead: 2 });
    expect(cut(10_001, { records: 200, bytes }, { limits: { readers: 2 } })).toMatchObject({ pages: 1, ahead: 4 });
  });

  it("by pages without a byte too", () => {
    expect(cut(10_000, { records: 200, bytes: 0 })).toEqual(windows);
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
  function decide(keys: readonly string[], total: number | undefined, options: Options = {}, keyOrder = true): boolean {
    const run = runOf(quiet([]), { limits: { pageSize: 10 }, ...options }, planOf(keyOrder));
    const first = page(keys, total);
    takeNew(run.merged, first);
    return canSeek(run, first);
  }
  const ten = keysOf(10);

  it("when it has an order, a count, and a first page to overlap with", () => {
    expect(decide(ten, 11)).toBe(true);
  });

  it("when its plan promises an order of keys", () => {
    expect(decide(ten, 11, {}, false)).toBe(false);
  });

  it("when the first page keeps that order", () => {
    expect(decide(["b", "a", ...ten.slice(2)], 11)).toBe(false);
  });

  it("when it is counted, as more than the first page, by a number that can be a count", () => {
    expect(decide(ten, undefined)).toBe(false);
    expect(decide(ten, 10)).toBe(false);
    expect(decide(ten, 5)).toBe(false);
    expect(decide(ten, -1)).toBe(false);
    expect(decide(ten, 11.5)).toBe(false);
    expect(decide(ten, 2 ** 70)).toBe(false);
    expect(decide(ten, Number.NaN)).toBe(false);
  });

  it("when pages are no shorter than a quarter of what was asked for, and of two records at least", () => {
    expect(decide(keysOf(3), 11)).toBe(true);
    expect(decide(keysOf(2), 11)).toBe(false);
    expect(decide(keysOf(2), 11, { limits: { pageSize: 8 } })).toBe(true);
    expect(decide(keysOf(1), 11, { limits: { pageSize: 4 } })).toBe(false);
    expect(decide([], 11)).toBe(false);
  });

  it("unless the platform is known to take no notice of skip", () => {
    expect(decide(ten, 11, { parts: knowing(false) })).toBe(false);
    expect(decide(ten, 11, { parts: knowing(true) })).toBe(true);
  });

  it("when keys are still kept", () => {
    const run = runOf(quiet([]), { limits: { pageSize: 10 } });
    takeNew(run.merged, page(ten, 11));
    run.merged.keepsKeys = false;
    expect(canSeek(run, page(ten, 11))).toBe(false);
  });
});
