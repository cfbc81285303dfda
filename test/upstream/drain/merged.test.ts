import { describe, expect, it } from "vitest";
import type { ListPage } from "../../../src/model/list.ts";
import { keptBytes } from "../../../src/upstream/drain/keep.ts";
import {
  ascends,
  emptyMerged,
  forgetKeys,
  indexOf,
  plausible,
  startOver,
  takeBehind,
  takeNew,
} from "../../../src/upstream/drain/merged.ts";
import { planOf, respond } from "./simulator.ts";
import { uidsIn } from "./stage.ts";

function page(keys: readonly string[], total?: unknown, next = "t", hidden = ""): ListPage {
  const plan = planOf(true, (uid) => hidden.includes(uid));
  return plan.read(respond({ items: keys.map((uid) => ({ uid })), next, total }));
}
const uids = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : uidsIn(bytes));

describe("a page behind the commit point", () => {
  it("gives only what lies behind it", () => {
    const merged = emptyMerged(true);
    expect(uids(takeBehind(merged, page(["b", "d"]), 0))).toEqual(["b", "d"]);
    expect(uids(takeBehind(merged, page(["c", "d", "e"]), 1))).toEqual(["e"]);
    expect(uids(takeBehind(merged, page(["a", "e"]), 1))).toBeUndefined();
    expect(uids(takeBehind(merged, page([]), 9))).toBeUndefined();
    expect(merged).toMatchObject({ distinct: 3, shown: 3, pages: 4, firstKey: "b", lastKey: "e", ascending: true });
  });

  it("sets the rank by where it was asked for, or counts on from a token", () => {
    const merged = emptyMerged(true);
    takeBehind(merged, page(["b", "d"]), 0);
    expect(merged.rank).toBe(2);
    takeBehind(merged, page(["d", "e", "f"]), 7);
    expect(merged.rank).toBe(10);
    takeBehind(merged, page(["f", "g", "h"]), undefined);
    expect(merged.rank).toBe(12);
    takeBehind(merged, page(["a"]), 50);
    expect(merged.rank).toBe(12);
  });

  it("says where the cursor goes on, unless it holds nothing new", () => {
    const merged = emptyMerged(true);
    takeBehind(merged, page(["b"], 1, "one"), 0);
    takeBehind(merged, page(["b"], 1, "two"), 0);
    expect(merged.token).toBe("one");
    takeBehind(merged, page(["c"], 1, "three"), undefined);
    expect(merged.token).toBe("three");
  });

  it("leaves its keys to be looked up, while they are kept", () => {
    const merged = emptyMerged(true);
    takeBehind(merged, page(["b", "d"]), 0);
    // What came to lie before the commit point was never given to anybody.
    takeBehind(merged, page(["c", "d", "e"]), 1);
    expect([...indexOf(merged)]).toEqual(["b", "d", "e"]);
    expect(merged.ascended).toEqual([]);
    takeBehind(merged, page(["f"]), 1);
    forgetKeys(merged);
    takeBehind(merged, page(["g"]), 1);
    expect(merged).toMatchObject({ ascended: [], keepsKeys: false, distinct: 5 });
  });

  it("counts hidden records, and does not show them", () => {
    const merged = emptyMerged(true);
    expect(uids(takeBehind(merged, page(["a", "b", "c"], 3, "", "b"), 0))).toEqual(["a", "c"]);
    expect(merged).toMatchObject({ distinct: 3, shown: 2, bytes: '{"uid":"a"},{"uid":"c"}'.length });
    expect(takeBehind(merged, page(["d"], 4, "", "d"), 3)).toBeUndefined();
    expect(merged).toMatchObject({ distinct: 4, shown: 2, lastKey: "d" });
  });
});

describe("a page of a cursor", () => {
  it("gives every key that was not there, in its own order", () => {
    const merged = emptyMerged(true);
    expect(uids(takeNew(merged, page(["b", "d"])))).toEqual(["b", "d"]);
    expect(merged).toMatchObject({ ascending: true, proved: true, repeated: false });
    expect(uids(takeNew(merged, page(["e", "c", "d"])))).toEqual(["e", "c"]);
    expect(merged).toMatchObject({ ascending: false, proved: false, repeated: true, distinct: 4, rank: 5 });
    expect(uids(takeNew(merged, page(["f", "g"])))).toEqual(["f", "g"]);
    expect(uids(takeNew(merged, page(["f", "g"])))).toBeUndefined();
    expect(merged).toMatchObject({ ascending: false, distinct: 6, firstKey: "b", lastKey: "g", token: "t" });
  });

  it("that comes in order repeats nothing", () => {
    const merged = emptyMerged(true);
    takeNew(merged, page(["b"]));
    takeNew(merged, page(["a"]));
    expect(merged).toMatchObject({ ascending: false, repeated: false, distinct: 2 });
  });

  it("keeps no keys when they are not to be kept", () => {
    const merged = emptyMerged(true);
    forgetKeys(merged);
    takeNew(merged, page(["b"]));
    expect(merged.ascended).toEqual([]);
  });

  it("that is empty changes nothing but where the list goes on", () => {
    const merged = emptyMerged(true);
    takeNew(merged, page(["b"]));
    expect(takeNew(merged, page([], undefined, "x"))).toBeUndefined();
    expect(merged).toMatchObject({ firstKey: "b", lastKey: "b", token: "x", pages: 2, distinct: 1, ascending: true });
  });
});

describe("the count", () => {
  it("is steady while every page names the same one", () => {
    const merged = emptyMerged(true);
    takeNew(merged, page(["a"], "3"));
    takeNew(merged, page(["b"], "3"));
    expect(merged).toMatchObject({ total: 3, latestTotal: 3, steady: true });
    takeNew(merged, page(["c"], "4"));
    expect(merged).toMatchObject({ total: 3, latestTotal: 4, steady: false });
    takeNew(merged, page(["d"], "3"));
    expect(merged).toMatchObject({ total: 3, latestTotal: 3, steady: false });
  });

  it("is not steady when some page, or none, names it", () => {
    const merged = emptyMerged(true);
    takeNew(merged, page(["a"]));
    expect(merged).toMatchObject({ total: undefined, latestTotal: 0, steady: false });
    takeNew(merged, page(["b"], "3"));
    expect(merged).toMatchObject({ total: undefined, latestTotal: 3, steady: false });
    takeNew(merged, page(["c"]));
    expect(merged.latestTotal).toBe(3);
  });

  it("is one only when it can be", () => {
    expect([0, 5, 2 ** 53 - 1].map(plausible)).toEqual([0, 5, 2 ** 53 - 1]);
    expect([undefined, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map(plausible)).toEqual(
      Array(6).fill(undefined),
    );
  });
});

describe("a list that is read again", () => {
  it("begins with its own count, and keeps what was taken", () => {
    const merged = emptyMerged(true);
    takeNew(merged, page(["a", "b"], "3"));
    takeNew(merged, page(["c"], "4"));
    startOver(merged);
    expect(merged).toMatchObject({ pages: 0, rank: 0, steady: true, catchingUp: true, distinct: 3, lastKey: "c" });
    takeNew(merged, page(["a", "d"], "4"));
    expect(merged).toMatchObject({ pages: 1, total: 4, steady: true, distinct: 4 });
  });
});

describe("a list that is read again, page by page,", () => {
  function again() {
    const merged = emptyMerged(true);
    takeNew(merged, page(["b", "d"], "4"));
    takeNew(merged, page(["f"], "4"));
    startOver(merged);
    return merged;
  }

  it("is in order though its first pages are known, and its commit point stays", () => {
    const merged = again();
    expect(takeNew(merged, page(["b", "d"], "4"))).toBeUndefined();
    expect(merged).toMatchObject({ lastKey: "f", ascending: true, proved: true, repeated: false, distinct: 3 });
    expect(takeNew(merged, page([], "4"))).toBeUndefined();
    expect(uids(takeNew(merged, page(["d", "f", "g"], "4")))).toEqual(["g"]);
    expect(merged).toMatchObject({ lastKey: "g", ascending: true, proved: true, repeated: false, distinct: 4 });
  });

  it("is not in order when a record that was not there lies before the commit point", () => {
    const merged = again();
    expect(uids(takeNew(merged, page(["a", "b"], "4")))).toEqual(["a"]);
    expect(merged).toMatchObject({ ascending: false, proved: false, repeated: false, distinct: 4 });
  });

  it("is not in order when its pages are not", () => {
    const merged = again();
    takeNew(merged, page(["d", "b"], "4"));
    expect(merged).toMatchObject({ ascending: false, proved: false, repeated: false });
  });

  it("repeats a record only when that is not because it is read again", () => {
    const merged = again();
    merged.catchingUp = false;
    takeNew(merged, page(["b", "d"], "4"));
    expect(merged).toMatchObject({ ascending: false, proved: false, repeated: true, lastKey: "d" });
  });

  it("stays out of order when it was", () => {
    const merged = again();
    merged.ascending = false;
    takeNew(merged, page(["b", "d"], "4"));
    expect(merged).toMatchObject({ ascending: false, proved: false, lastKey: "d" });
  });
});

describe("keys ascend", () => {
  it("when each lies behind the one before, and the first behind the last", () => {
    expect([ascends([]), ascends(["a"]), ascends(["a", "b"]), ascends(["", "a"])]).toEqual([true, true, true, true]);
    expect([ascends(["a", "a"]), ascends(["b", "a"]), ascends(["a", "c", "b"])]).toEqual([false, false, false]);
    expect([ascends(["b"], "a"), ascends(["b"], "b"), ascends(["b"], "c"), ascends([], "c")]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe("kept bytes", () => {
  const five = page(["a", "b", "c", "d", "e"]);
  const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
  const kept = (wanted: number[], of = five) => keptBytes(of, Uint8Array.from(wanted));

  it("of a whole page are the page's own, and of any other a copy", () => {
    const whole = kept([1, 1, 1, 1, 1]);
    expect([whole?.bytes.buffer === five.bytes.buffer, whole?.records]).toEqual([true, 5]);
    const rest = kept([0, 1, 1, 1, 1]);
    expect([rest?.bytes.buffer === five.bytes.buffer, rest?.records]).toEqual([false, 4]);
    expect(rest?.bytes.buffer.byteLength).toBe(rest?.bytes.length);
  });

  it("are separated by single commas, wherever something is left out", () => {
    for (const wanted of [
      [1, 0, 1, 0, 1],
      [0, 1, 0, 1, 0],
      [1, 1, 0, 0, 1],
      [0, 0, 1, 1, 1],
      [1, 1, 1, 0, 0],
      [0, 0, 0, 0, 1],
    ]) {
      const keys = five.keys.filter((_, i) => wanted[i] === 1);
      expect(text(kept(wanted)?.bytes)).toBe(keys.map((uid) => JSON.stringify({ uid })).join(","));
      expect(kept(wanted)?.records).toBe(keys.length);
    }
  });

  it("are nothing at all when there is nothing to show", () => {
    expect(kept([0, 0, 0, 0, 0])).toBeUndefined();
    expect(kept([1, 1], page(["a", "b"], 2, "", "ab"))).toBeUndefined();
    expect(kept([], page([]))).toBeUndefined();
  });

  it("come from pages whose ranges are whole", () => {
    expect(() => keptBytes({ ...five, starts: [0] }, Uint8Array.from([1, 1]))).toThrow("internal error");
    expect(() => keptBytes({ ...five, ends: [1] }, Uint8Array.from([1, 1]))).toThrow("internal error");
  });

  it("have no use for a page that says nothing of hidden records", () => {
    const { hidden: _, ...bare } = five;
    expect(text(keptBytes(bare, Uint8Array.from([1, 0, 0, 0, 1]))?.bytes)).toBe('{"uid":"a"},{"uid":"e"}');
  });
});
