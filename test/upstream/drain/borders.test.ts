import { describe, expect, it } from "vitest";
import { ascends } from "../../../src/upstream/drain/merged.ts";
import { drained, keysOf, type Outcome, type Platform, pageOf, quiet, respond, uidsOf } from "./simulator.ts";
import { changed, knowing, moving, SMALL } from "./stage.ts";

const KEYS = keysOf(100);
const TEN = { limits: SMALL, parts: knowing(true) };
/** One call at a time: which call sees which list is certain. */
const ONE = { limits: { ...SMALL, readers: 1 }, parts: knowing(true) };

/** What a list must be, whatever happened: in order, nothing twice, and every one of `persistent` in it. */
function expectWhole(outcome: Outcome, persistent: readonly string[], witness = "cover"): readonly string[] {
  const uids = uidsOf(outcome);
  expect(ascends(uids)).toBe(true);
  const there = new Set(uids);
  expect(persistent.filter((key) => !there.has(key))).toEqual([]);
  expect(outcome.result).toMatchObject({ witness });
  return uids;
}

describe("a border between two windows", () => {
  it("holds when the second begins with the last record of the first", async () => {
    const outcome = await drained(moving(changed(KEYS, 1, ["u000003"])), TEN);
    expect(expectWhole(outcome, KEYS)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-total"]);
    expect(outcome.requests).toHaveLength(1 + 12);
  });

  it("does not hold when the second begins behind it: the gap is closed, and proved closed", async () => {
    const outcome = await drained(moving(changed(KEYS, 1, ["u000003", "u000004"])), TEN);
    expect(expectWhole(outcome, KEYS)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-repaired", "list-total"]);
  });

  it("T-DRN-27 that is deleted each time costs no record beside it", async () => {
    const at = (call: number) => KEYS.filter((_, rank) => (rank % 8 !== 0 && rank % 8 !== 1) || rank / 8 > call + 1);
    const outcome = await drained(moving(at), ONE);
    expectWhole(outcome, at(1000));
    expect(outcome.notes).toContain("list-repaired");
  });

  it("costs nothing when records were put before it", async () => {
    const more = ["a1", "a2", "a3", "u000003a", "u000011a", "u000055a"];
    const outcome = await drained(moving(changed(KEYS, 3, [], more)), ONE);
    expect(expectWhole(outcome, KEYS)).toEqual([...KEYS, "u000055a"].sort());
    expect(outcome.notes).not.toContain("list-repaired");
  });

  it("is nothing that a window further on can make up for", async () => {
    // Only the window at 40 is short: without it nothing may be sent that lies behind.
    let first = true;
    const platform: Platform = (s) => {
      const cut = s.skip === 40 && first ? 1 : 200;
      if (s.skip === 40) first = false;
      return respond(pageOf(KEYS, s, "keyset", cut));
    };
    const outcome = await drained(platform, TEN);
    expect(expectWhole(outcome, KEYS)).toEqual(KEYS);
    expect(outcome.requests.filter((s) => s.skip === 40)).toHaveLength(2);
  });
});

describe("the end of a list", () => {
  it("T-DRN-02 that moves while it is read is read on to", async () => {
    const later = ["u000098a", ...Array.from({ length: 25 }, (_, i) => `v${i + 10}`)];
    const outcome = await drained(moving(changed(KEYS, 12, [], later)), ONE);
    expect(expectWhole(outcome, KEYS)).toEqual([...KEYS, ...later].sort());
    expect(outcome.notes).toEqual(["list-total"]);
  });

  it("T-DRN-02 smallest case: a record put into the last window hides none that follows", async () => {
    const outcome = await drained(moving(changed(["a", "b", "d"], 1, [], ["c"])), {
      limits: { ...SMALL, pageSize: 2, overlap: 1 },
    });
    expect(expectWhole(outcome, ["a", "b", "d"])).toEqual(["a", "b", "c", "d"]);
  });

  it("T-DRN-28 that comes at once, as all else was deleted, is an end", async () => {
    for (const left of [0, 1, 5, 10, 30]) {
      for (const from of [1, 5, 12]) {
        const rest = KEYS.slice(0, left);
        const outcome = await drained(
          moving((call) => (call < from ? KEYS : rest)),
          ONE,
        );
        expectWhole(outcome, rest);
      }
    }
  });

  it("T-DRN-28 that was at the other end is found", async () => {
    const outcome = await drained(
      moving((call) => (call < 7 ? KEYS : KEYS.slice(95))),
      ONE,
    );
    expectWhole(outcome, KEYS.slice(95));
  });

  it("T-DRN-28 of a list that was doubled midway is reached", async () => {
    const doubled = KEYS.flatMap((key) => [key, `${key}x`]);
    for (const from of [1, 6, 12]) {
      const outcome = await drained(
        moving((call) => (call < from ? KEYS : doubled)),
        ONE,
      );
      expectWhole(outcome, KEYS);
    }
  });

  it("is the first page that says so, though windows behind it were planned", async () => {
    const outcome = await drained(
      (s) => respond({ ...pageOf(KEYS, s, "keyset"), total: s.skip === undefined ? "400" : "100" }),
      TEN,
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.requests.length).toBeLessThan(30);
  });

  describe("whose page contradicts its own count : more than there are proves nothing, less hides nothing", () => {
    /** The last page counts `total` records, at the end of a list of 100. */
    const counted = (total: unknown): Platform => {
      return (s, call) => {
        const page = pageOf(KEYS, s, "keyset");
        return respond(
          page.next === ""
            ? { ...page, total }
            : call < 0
              ? page
              : { ...page, total: undefined, ...(call === 0 ? { total: "100" } : {}) },
        );
      };
    };

    it("when it counts more than there are up to its end", async () => {
      for (const total of ["101", "1000"]) {
        const outcome = await drained(counted(total), TEN);
        expect(uidsOf(outcome)).toEqual(KEYS);
        expect(outcome.result).toMatchObject({ witness: "none" });
      }
    });

    it("when it counts less", async () => {
      expect((await drained(counted("99"), TEN)).result).toMatchObject({ witness: "cover" });
    });

    it("but not when it agrees, or counts nothing", async () => {
      expect((await drained(counted("100"), TEN)).result).toMatchObject({ witness: "cover" });
      expect((await drained(counted(undefined), TEN)).result).toMatchObject({ witness: "cover" });
      expect((await drained(counted("-1"), TEN)).result).toMatchObject({ witness: "cover" });
    });

    it("when it is the page of an empty list that counts", async () => {
      const outcome = await drained((s, call) => {
        if (call < 5) return quiet(KEYS)(s, call);
        return respond({ items: [], next: "", total: "3", skipped: s.skip ?? 0 });
      }, ONE);
      expect(outcome.result).toMatchObject({ witness: "none" });
    });
  });
});

describe("a list that cannot be repaired", () => {
  it("is left to its tokens after a bounded number of tries", async () => {
    const outcome = await drained((s, call) => {
      // Whatever is asked for by rank, but the very beginning, is the end of the list.
      if (s.skip === undefined || s.skip === 0) return quiet(KEYS)(s, call);
      return respond({ ...pageOf(KEYS, { size: s.size, skip: 90 }, "keyset"), skipped: s.skip, next: "k:x" });
    }, TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-way-left"]);
    expect(outcome.result).toMatchObject({ witness: "count" });
    // 16 tries, and as many more as it has pages; beside eight windows and the cursor.
    expect(outcome.requests.filter((s) => s.skip !== undefined).length).toBeLessThanOrEqual(8 + 16 + 10);
    expect(outcome.requests.filter((s) => s.skip !== undefined).length).toBeGreaterThanOrEqual(16 + 10);
  });
});

it("a last page that contradicts its count, and cannot be read again, proves nothing", async () => {
  const keys = keysOf(30);
  const platform: Platform = (s) => {
    const page = pageOf(keys, s, "keyset");
    // The last window lacks a record, and what is read behind it takes no notice of skip.
    if (s.skip === undefined || s.skip < 16) return respond(page);
    if (page.next === "" && s.skip < 24) return respond({ ...page, items: page.items.slice(1) });
    return respond({ ...pageOf(keys, { size: s.size }, "keyset"), skipped: 0 });
  };
  const outcome = await drained(platform, { limits: { pageSize: 10, overlap: 2, readers: 1 } });
  expect(outcome.result).not.toMatchObject({ witness: "cover" });
});
