import { describe, expect, it } from "vitest";
import type { Tokens } from "../../support/platform-pages.ts";
import { drained, keysOf, type Outcome, type Platform, pageOf, planOf, respond, uidsOf } from "../simulator.ts";
import { moving } from "../stage.ts";

const PAIRS = { pageSize: 2, overlap: 1 } as const;
/** As where totals count what the caller may not see: they say nothing. */
const IGNORING = { parts: { totals: "ignore" } } as const;
const BY_NAME = { limits: PAIRS, plan: planOf(false) };

/** A list as each call sees it in turn; the last moment stays. */
function seen(tokens: Tokens, ...moments: readonly (readonly string[])[]): Platform {
  return moving((call) => moments[Math.min(call, moments.length - 1)] ?? [], tokens);
}

const witnessOf = ({ facts }: Outcome) => facts.at(-1)?.witness;

/** In an order that is not by uid nothing is read in parallel, or by place, and nothing is proved. */
function expectByCursor(outcome: Outcome): void {
  expect(outcome.requests.filter((request) => request.skip !== undefined)).toEqual([]);
  expect(witnessOf(outcome)).not.toBe("cover");
}

describe("T-DRN-02: an insert into the last window pushes the last record out of it", () => {
  it.each(["keyset", "offset"] as const)(
    "399 records, one inserted behind the 250th before the second page is read: the last is there (%s)",
    async (tokens) => {
      const before = keysOf(399);
      const after = before.toSpliced(251, 0, "u000250x");
      const outcome = await drained(seen(tokens, before, after));
      expect([uidsOf(outcome), witnessOf(outcome)]).toEqual([after, "cover"]);
    },
  );

  it("the smallest one: a, b and d in pages of two, c inserted", async () => {
    const after = ["a", "b", "c", "d"];
    const outcome = await drained(seen("offset", ["a", "b", "d"], after), { limits: PAIRS });
    expect([uidsOf(outcome), witnessOf(outcome)]).toEqual([after, "cover"]);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "1,000 records in parallel windows, inserts before call %i: every one is there",
    async (call) => {
      const before = keysOf(1000);
      const after = [...before, ...before.filter((_, i) => i % 50 === 0).map((key) => `${key}x`)].toSorted();
      const outcome = await drained(moving((at) => (at < call ? before : after), "offset"));
      const out = new Set(uidsOf(outcome));
      expect(before.filter((key) => !out.has(key))).toEqual([]);
      expect(witnessOf(outcome)).toBe("cover");
    },
  );
});

describe("T-DRN-05: records with equal sort keys come in another order each time, without any write", () => {
  it.each([
    ["is said to be by name", BY_NAME],
    ["is said to be by uid and is not", { limits: PAIRS }],
  ])("where the order %s: never a list that seems whole", async (_, options) => {
    const outcome = await drained((s) => {
      const keys = s.token === undefined && s.skip === undefined ? ["a", "b", "c"] : ["c", "b", "a"];
      return respond(pageOf(keys, s, "offset"));
    }, options);
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
  });
});

describe("T-DRN-06: a rename moves a record over the border while another one before it is deleted", () => {
  // By name: d is renamed to the front and a deleted, so the second page begins where it would have begun.
  it("an order by name is read by cursor, and the list that lost a record claims nothing", async () => {
    const outcome = await drained(seen("offset", ["a", "b", "c", "d"], ["d", "b", "c"]), BY_NAME);
    expectByCursor(outcome);
    expect(uidsOf(outcome)).not.toContain("d");
    expect(witnessOf(outcome)).toBe("none");
  });

  it("with an insert at the far end, counts that agree are all that is claimed, and no proof", async () => {
    const outcome = await drained(seen("offset", ["a", "b", "c", "d"], ["d", "b", "c", "e"]), BY_NAME);
    expectByCursor(outcome);
    expect([uidsOf(outcome), witnessOf(outcome)]).toEqual([["a", "b", "c", "e"], "count"]);
  });
});

describe("the platform leaves a record out of one answer", () => {
  // `cover` rests on it that a page holds all records between its first and its last: no client can see otherwise.
  it("what is proved is proved for the pages as the platform gave them; the count that is not met is noted", async () => {
    const whole = keysOf(1000);
    const outcome = await drained((s) => {
      const page = pageOf(whole, s, "keyset");
      return respond({ ...page, items: page.items.filter((item) => (item as { uid: string }).uid !== whole[100]) });
    }, IGNORING);
    expect(uidsOf(outcome)).toEqual(whole.toSpliced(100, 1));
    expect(outcome.notes).toContain("list-total");
  });
});

describe("a page comes from a replica that is behind", () => {
  // Persistent is what was there since the oldest moment that any page was served from.
  it("a record made just before the list is read can be missing; what the replica had is there, once", async () => {
    const now = keysOf(1000);
    const old = now.toSpliced(500, 1);
    const outcome = await drained((s) => respond(pageOf(s.skip === 380 ? old : now, s, "keyset")));
    const out = uidsOf(outcome);
    expect(old.filter((key) => !out.includes(key))).toEqual([]);
    expect([new Set(out).size, witnessOf(outcome)]).toEqual([out.length, "cover"]);
  });
});

describe("a list is not a snapshot", () => {
  // Each moment had x or y; the pages that would have shown them were read at other moments.
  it("a record that goes, and one that comes instead where it was read already, can both be missing", async () => {
    const both = keysOf(1000);
    const outcome = await drained(seen("keyset", both.toSpliced(50, 1), both.toSpliced(950, 1)), IGNORING);
    expect(uidsOf(outcome)).toEqual(both.filter((_, i) => i !== 50 && i !== 950));
    expect(witnessOf(outcome)).toBe("cover");
  });
});

describe("the platform orders uids in another way than by their bytes", () => {
  // As in a collation that takes no notice of slashes.
  const keys = ["a/b", "ab", "ac", "a/d", "ae", "af/x", "a/g", "ah", "ai", "a/z"];

  it("T-DRN-29: it is seen in the pages themselves: the list is whole, and not claimed to be proved", async () => {
    const outcome = await drained(seen("offset", keys), { limits: PAIRS });
    expect([uidsOf(outcome).toSorted(), witnessOf(outcome)]).toEqual([keys.toSorted(), "count"]);
  });
});
