/** What does the drain say in each of the known counterexamples to joining pages by their borders? (Design: drains.) */
import { describe, expect, it } from "vitest";
import { planFor } from "./platform.ts";
import { keysOf, lists, type Script, type Staged, staged } from "./staged.ts";

const PAIRS = { pageSize: 2, overlap: 1 } as const;
const KINDS = ["keyset", "offset"] as const;

/** In an order that is not by uid nothing is read in parallel, or by place, and nothing is proved. */
function expectByCursor({ requests, atOnce, witness }: Staged): void {
  expect(atOnce).toBe(1);
  expect(requests.filter((request) => (request.skip ?? 0) > 0)).toEqual([]);
  expect(witness).not.toBe("cover");
}

describe("CE1: an insert into the last window pushes the last record out of it", () => {
  it.each(KINDS)(
    "399 records, one inserted behind the 250th before the second page is read: the last is there (%s)",
    async (tokens) => {
      const before = keysOf(399);
      const after = before.toSpliced(251, 0, "k00250x");
      const { out, witness } = await staged(lists({ tokens }, before, after));
      expect(out).toEqual(after);
      expect(witness).toBe("cover");
    },
  );

  it("the smallest one: a, b and d in pages of two, c inserted", async () => {
    const { out, witness } = await staged(lists({ tokens: "offset" }, ["a", "b", "d"], ["a", "b", "c", "d"]), {
      measures: PAIRS,
    });
    expect(out).toEqual(["a", "b", "c", "d"]);
    expect(witness).toBe("cover");
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "1,000 records in parallel windows, inserts before call %i: every one is there",
    async (call) => {
      const before = keysOf(1000);
      const after = [...before, ...before.filter((_, i) => i % 50 === 0).map((key) => `${key}x`)].toSorted();
      const moments = Array.from({ length: call + 1 }, (_, i) => (i < call ? before : after));
      const { out, witness, atOnce } = await staged(lists({ tokens: "offset" }, ...moments));
      expect(before.filter((key) => !out.includes(key))).toEqual([]);
      expect(witness).toBe("cover");
      expect(atOnce).toBeGreaterThan(1);
    },
  );
});

describe("CE2: records with equal sort keys come in another order each time, without any write", () => {
  const script: Script = (selector, call) => {
    const keys = selector.token === undefined && selector.skip === undefined ? ["a", "b", "c"] : ["c", "b", "a"];
    return lists({ tokens: "offset" }, keys)(selector, call);
  };

  it("an order by name is read by cursor, and a list that lost one of them claims nothing", async () => {
    const drained = await staged(script, { measures: PAIRS, plan: planFor(false) });
    expectByCursor(drained);
    expect(new Set(drained.out).size).toBe(drained.out.length);
    expect(drained.out).not.toContain("c");
    expect(drained.witness ?? "none").toBe("none");
  });

  it("where the order is said to be by uid and is not, it is seen and nothing is claimed for it", async () => {
    const { witness, out } = await staged(script, { measures: PAIRS });
    expect(new Set(out).size).toBe(out.length);
    expect(witness).not.toBe("cover");
  });
});

describe("CE3: a rename moves a record over the border while another one before it is deleted", () => {
  // By name: d is renamed to the front and a deleted, so the second page begins where it would have begun.
  const script = lists({ tokens: "offset" }, ["a", "b", "c", "d"], ["d", "b", "c"]);

  it("an order by name is read by cursor, and the list that lost a record claims nothing", async () => {
    const drained = await staged(script, { measures: PAIRS, plan: planFor(false) });
    expectByCursor(drained);
    expect(drained.out).not.toContain("d");
    expect(drained.witness).toBe("none");
  });
});

describe("CE4: the same with an insert at the far end, so that all counts agree", () => {
  const script = lists({ tokens: "offset" }, ["a", "b", "c", "d"], ["d", "b", "c", "e"]);

  it("an order by name is read by cursor; counts that agree are all that is claimed, and no proof", async () => {
    const drained = await staged(script, { measures: PAIRS, plan: planFor(false) });
    expectByCursor(drained);
    expect(drained.out).toEqual(["a", "b", "c", "e"]);
    expect(drained.witness).toBe("count");
  });
});

describe("CE5: the platform leaves a record out of one answer", () => {
  // `cover` rests on it that a page holds all records between its first and its last: no client can see otherwise.
  it("what is proved is proved for the pages as the platform gave them; the count that is not met is noted", async () => {
    const whole = keysOf(1000);
    const lossy = whole.filter((_, i) => i !== 100);
    const { out, notes } = await staged((selector, call) => {
      const all = lists({ tokens: "keyset" }, whole)(selector, call);
      const cut = JSON.parse(new TextDecoder().decode(all.body)) as { items: string[] };
      const items = cut.items.filter((key) => lossy.includes(key));
      return { ...all, body: new TextEncoder().encode(JSON.stringify({ ...cut, items })) };
    });
    expect(out).toEqual(lossy);
    expect(notes).toContain("list-total");
  });
});

describe("CE6: a page comes from a replica that is behind", () => {
  // Persistent is what was there since the oldest moment that any page was served from.
  it("a record made just before the list is read can be missing; what the replica had is there, once", async () => {
    const now = keysOf(1000);
    const old = now.filter((key) => key !== "k00500");
    const { out, witness } = await staged((selector, call) =>
      lists({ tokens: "keyset" }, (selector.skip ?? 0) === 380 ? old : now)(selector, call),
    );
    expect(old.filter((key) => !out.includes(key))).toEqual([]);
    expect(new Set(out).size).toBe(out.length);
    expect(witness).toBe("cover");
  });
});

describe("CE7: a list is not a snapshot", () => {
  // Each moment had x or y; the pages that would have shown them were read at other moments.
  it("a record that goes, and one that comes instead where it was read already, can both be missing", async () => {
    const both = keysOf(1000);
    const before = both.filter((key) => key !== "k00050");
    const after = both.filter((key) => key !== "k00950");
    const { out, witness } = await staged(lists({ tokens: "keyset" }, before, after));
    expect(out).toEqual(both.filter((key) => key !== "k00050" && key !== "k00950"));
    expect(witness).toBe("cover");
  });
});

describe("CE8: the platform takes no notice of skip", () => {
  it.each([
    ["ignored", "keyset", "cover"],
    ["ignored", "unknown", "count"],
    ["claimed", "keyset", "cover"],
    ["claimed", "unknown", "count"],
  ] as const)("%s, tokens %s: the list is whole, by the cursor, and claims %s", async (skip, tokens, claims) => {
    const { out, witness, requests } = await staged(lists({ tokens: "keyset", skip }, keysOf(1000)), { tokens });
    expect(out).toEqual(keysOf(1000));
    expect(witness).toBe(claims);
    expect(requests.length).toBeLessThan(5 + 8);
  });
});

describe("CE9: pages hold fewer records than were asked for", () => {
  it.each(["keyset", "unknown"] as const)("cut to 100 of 200, tokens %s: the list is whole", async (tokens) => {
    const { out, witness, requests } = await staged(lists({ tokens: "keyset", cap: 100 }, keysOf(1000)), { tokens });
    expect(out).toEqual(keysOf(1000));
    expect(witness).not.toBe("none");
    expect(requests.length).toBeLessThan(20);
  });
});

describe("CE10: the platform orders uids in another way than by their bytes", () => {
  // As in a collation that takes no notice of slashes.
  const plain = (key: string): string => key.replaceAll("/", "");
  const keys = ["a/b", "a/z", "ab", "ac", "a/d", "ae", "af/x", "a/g", "ah", "ai"].toSorted((a, b) =>
    plain(a) < plain(b) ? -1 : 1,
  );

  it("it is seen in the pages themselves: the list is whole, and not claimed to be proved", async () => {
    const { out, witness } = await staged(lists({ tokens: "offset" }, keys), { measures: PAIRS });
    expect(out.toSorted()).toEqual(keys.toSorted());
    expect(witness).toBe("count");
  });
});
