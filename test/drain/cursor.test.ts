import { describe, expect, it } from "vitest";
import { NO_MEMORY } from "../support/drains.ts";
import {
  type Answer,
  broken,
  drainedByCursor as drained,
  drained as inParallel,
  keysOf,
  type Platform,
  pageOf,
  planOf,
  quiet,
  raw,
  respond,
  uidsOf,
} from "./simulator.ts";
import { knowing, SMALL } from "./stage.ts";

const KEYS = keysOf(40);
const TEN = { limits: { pageSize: 10 } };

describe("a quiet list", () => {
  for (const tokens of ["keyset", "offset"] as const) {
    for (const count of [0, 1, 199, 200, 201, 399, 400, 10_000]) {
      it(`T-DRN-01 of ${count} records arrives byte for byte, ${tokens} tokens`, async () => {
        const outcome = await drained(quiet(keysOf(count), tokens));
        expect(uidsOf(outcome)).toEqual(keysOf(count));
        const pages = Math.max(1, Math.ceil(count / 200));
        const witness = pages === 1 ? "cover" : "count";
        expect(outcome.result).toMatchObject({ records: count, pages, witness });
        expect(outcome.facts).toEqual([{ pages, records: count, witness, outcome: "complete" }]);
        expect(outcome.notes).toEqual([]);
      });
    }
  }

  it("asks page one without a token and each next page with the token of the page before", async () => {
    const { requests } = await drained(quiet(keysOf(25)), TEN);
    expect(requests).toEqual([{ size: 10 }, { size: 10, token: "k:u000009" }, { size: 10, token: "k:u000019" }]);
  });
});

describe("pages that are odd but allowed", () => {
  it("T-DRN-09 three empty pages with tokens in a row are read past, again and again", async () => {
    const answers: Answer[] = [];
    for (let page = 0; page < 4; page++) {
      for (let i = 0; i < 3; i++) answers.push({ items: [], next: `e${page}-${i}` });
      answers.push({ items: [{ uid: `u${page}` }], next: page === 3 ? "" : `n${page}` });
    }
    const outcome = await drained((_, call) => respond(answers[call]!));
    expect(uidsOf(outcome)).toEqual(["u0", "u1", "u2", "u3"]);
  });

  it("T-DRN-09 a hundred empty pages with new tokens are read past, in every way", async () => {
    const emptyRun =
      (at: readonly number[]): Platform =>
      (s) => {
        const [key, left] = (s.token ?? "").split("|");
        const rest = Number(left ?? 0);
        if (rest > 0) return respond({ items: [], next: `${key}|${rest - 1}`, total: "40", skipped: 0 });
        const page = pageOf(
          KEYS,
          { ...s, ...(key === undefined || s.token === undefined ? {} : { token: key }) },
          "keyset",
        );
        const first = Number((page.items[0] as { uid: string } | undefined)?.uid.slice(1) ?? 0);
        return respond(page.next !== "" && at.includes(first) ? { ...page, next: `${page.next}|100` } : page);
      };
    for (const parts of [knowing(false), knowing(true), knowing(true, "keyset")])
      for (const windowRecords of [20, 1000])
        expect(
          uidsOf(await inParallel(emptyRun([0, 8, 10, 16]), { limits: { ...SMALL, windowRecords }, parts })),
        ).toEqual(KEYS);
  });

  it("T-DRN-09 empty pages count towards lists.maxPages", async () => {
    const outcome = await drained((_, call) => respond({ items: [], next: `t${call}` }), { limits: { maxPages: 30 } });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", options: ["lists.maxPages"] });
    expect(outcome.requests).toHaveLength(30);
    const behind: Platform = (s, call) =>
      s.skip === undefined && s.token === undefined
        ? quiet(KEYS)(s, call)
        : respond({ items: [], next: `t${call}`, total: "40" });
    const parallel = await inParallel(behind, { limits: { ...SMALL, maxPages: 30 }, parts: knowing(true) });
    expect(parallel.problem?.reason).toBe("DRAIN_TOO_LARGE");
  });

  it("T-DRN-10 short pages in the middle do not end a list", async () => {
    const platform = broken(quiet(KEYS), 1, (selector) => respond(pageOf(KEYS, selector, "keyset", 3)));
    expect(uidsOf(await drained(platform, TEN))).toEqual(KEYS);
  });

  it("T-DRN-10 a platform that caps its pages is read whole", async () => {
    const outcome = await drained(quiet(keysOf(450), "keyset", 100));
    expect(uidsOf(outcome)).toEqual(keysOf(450));
    expect(outcome.result).toMatchObject({ pages: 5, witness: "count" });
  });

  it("T-DRN-11 a plain platform without skip and totalCount is read whole, unproven", async () => {
    const outcome = await drained((selector) => {
      const { items, next } = pageOf(KEYS, selector, "keyset");
      return respond({ items, next });
    }, TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "none" });
    expect(outcome.notes).toEqual([]);
    expect(outcome.requests.every((selector) => selector.skip === undefined)).toBe(true);
  });

  it("T-DRN-12 no totalCount that is absurd or too low changes the list, and none that is wrong proves it", async () => {
    for (const total of [undefined, "", "-1", "x", 1.5, String(2 ** 70), "3", "0", "1e999", -0.5]) {
      const outcome = await drained((selector) => respond({ ...pageOf(KEYS, selector, "keyset"), total }), TEN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness: "none" });
    }
  });

  it("T-DRN-12 a totalCount that changes, or that only some pages carry, proves nothing and is noted", async () => {
    for (const totals of [
      ["41", "40", "40", "40"],
      ["40", "41", "40", "40"],
      ["40", undefined, "40", "40"],
    ]) {
      const outcome = await drained((selector, call) => {
        return respond({ ...pageOf(KEYS, selector, "keyset"), total: totals[call] });
      }, TEN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness: "none" });
      expect(outcome.notes).toEqual(["list-total"]);
    }
  });
});

describe("order", () => {
  it("T-DRN-05 ties in another order per page lose nothing that was sent and are noted", async () => {
    const pages: Answer[] = [
      { items: [{ uid: "a" }, { uid: "b" }], next: "1" },
      { items: [{ uid: "b" }, { uid: "c" }], next: "" },
    ];
    const outcome = await drained((_, call) => respond(pages[call]!));
    expect(uidsOf(outcome)).toEqual(["a", "b", "c"]);
    expect(outcome.notes).toEqual(["list-order", "list-duplicate"]);
  });

  it("T-DRN-05 an order that changes between pages so far that the list seems to begin again is an error", async () => {
    const pages: Answer[] = [
      { items: [{ uid: "a" }, { uid: "b" }], next: "1" },
      { items: [{ uid: "a" }, { uid: "c" }], next: "" },
    ];
    const outcome = await drained((s) => respond(s.token === undefined ? pages[0]! : pages[1]!));
    expect(outcome.problem?.reason).toBe("DRAIN_INCOMPLETE");
  });

  it("T-DRN-29 a record that sorts before the last one is kept when it was never seen", async () => {
    const pages: Answer[] = [
      { items: [{ uid: "a" }, { uid: "c" }], next: "1", total: 4 },
      { items: [{ uid: "B" }, { uid: "b" }], next: "", total: 4 },
    ];
    const outcome = await drained((_, call) => respond(pages[call]!));
    expect(uidsOf(outcome)).toEqual(["a", "c", "B", "b"]);
    expect(outcome.notes).toEqual(["list-order"]);
  });

  it("a list in another order by declaration is no oddity", async () => {
    const keys = KEYS.toReversed();
    const outcome = await drained(quiet(keys, "offset"), { ...TEN, plan: planOf(false) });
    expect(uidsOf(outcome)).toEqual(keys);
    expect(outcome.notes).toEqual([]);
  });
});

describe("witness", () => {
  it("a witness below the required one is an error that says both", async () => {
    const more: Platform = (s) => respond({ ...pageOf(KEYS, s, "keyset"), total: "39" });
    const outcome = await drained(more, { ...TEN, require: "count" });
    expect(outcome.problem).toMatchObject({
      reason: "LIST_UNPROVEN",
      metadata: { required: "count", witness: "none" },
    });
    expect(outcome.facts).toEqual([{ pages: 4, records: 40, witness: "none", outcome: "unproven" }]);
  });

  it("what was proved is told, though it was not enough", async () => {
    const memory = { ...NO_MEMORY, heedsSkip: () => false };
    const turned: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond(s.token === "k:u000019" ? { ...page, items: page.items.toReversed() } : page);
    };
    const outcome = await drained(turned, { ...TEN, require: "cover", parts: { memory, tokens: "keyset" } });
    expect(outcome.problem).toMatchObject({ metadata: { required: "cover", witness: "count" } });
    expect(outcome.facts).toEqual([{ pages: 4, records: 40, witness: "count", outcome: "unproven" }]);
  });

  it("a proof that nothing could give is not waited for", async () => {
    for (const tokens of ["unknown", "offset"] as const) {
      const memory = { ...NO_MEMORY, heedsSkip: () => false };
      const outcome = await drained(quiet(KEYS), { ...TEN, require: "cover", parts: { memory, tokens } });
      expect(outcome.problem).toMatchObject({ reason: "LIST_UNPROVEN", metadata: { required: "cover" } });
      expect(outcome.requests).toHaveLength(1);
      expect(outcome.facts).toMatchObject([{ pages: 1, witness: "none", outcome: "unproven" }]);
    }
  });
});

describe("a list that changes while it is read", () => {
  it("T-DRN-28 a list emptied midway is empty when it is read again", async () => {
    const outcome = await drained((selector, call) => respond(pageOf(call < 2 ? KEYS : [], selector, "keyset")), TEN);
    expect(outcome.result).toMatchObject({ records: 0, chunks: [] });
    expect(outcome.notes).toEqual(["list-page-again", "list-read-again"]);
  });

  it("a page of nothing at all behind a list that counts is no end of it", async () => {
    const nothing: Platform = () => raw(200, '{"items":[],"next":""}');
    const once = await drained(broken(quiet(KEYS), 2, nothing), TEN);
    expect(uidsOf(once)).toEqual(KEYS);
    expect(once.notes).toEqual(["list-page-again"]);
    const always = await drained((s, call) => (s.token === undefined ? quiet(KEYS) : nothing)(s, call), TEN);
    expect(always.problem?.reason).toBe("UPSTREAM_INVALID");
  });

  it("a list emptied midway on a platform that leaves zeros out is empty when it is read again", async () => {
    const outcome = await drained(
      (s, call) => (call < 2 ? quiet(KEYS)(s, call) : raw(200, '{"items":[],"next":""}')),
      TEN,
    );
    expect(outcome.result).toMatchObject({ records: 0, chunks: [] });
    expect(outcome.notes).toEqual(["list-page-again", "list-read-again"]);
  });

  it("T-DRN-28 a list doubled midway ends, with every persistent record once", async () => {
    const doubled = KEYS.flatMap((key) => [key, `${key}x`]);
    const outcome = await drained((s, call) => respond(pageOf(call < 2 ? KEYS : doubled, s, "keyset")), TEN);
    const uids = uidsOf(outcome);
    expect(new Set(uids).size).toBe(uids.length);
    expect(KEYS.filter((key) => !uids.includes(key))).toEqual([]);
  });

  it("T-DRN-04 a delete that an offset token trips over never counts as proved", async () => {
    const less = KEYS.slice(1);
    const outcome = await drained((s, call) => respond(pageOf(call < 2 ? KEYS : less, s, "offset")), TEN);
    expect(uidsOf(outcome)).toHaveLength(39);
    expect(outcome.result).toMatchObject({ witness: "none" });
    expect(outcome.notes).toEqual(["list-total"]);
  });
});

describe("slots and report", () => {
  it("a list of one page needs no slot", async () => {
    const outcome = await drained(quiet(keysOf(3)), TEN);
    expect(uidsOf(outcome)).toEqual(keysOf(3));
    expect(outcome.claims).toEqual({ taken: 0, released: 0 });
  });

  it("without a slot there is no second page", async () => {
    const refuse = new Error("no slot");
    const outcome = await drained(quiet(KEYS), {
      ...TEN,
      parts: {
        claim: () => {
          throw refuse;
        },
      },
    });
    expect(outcome).toMatchObject({ error: refuse, facts: [{ outcome: "incomplete", pages: 1 }] });
    expect(outcome.requests).toHaveLength(1);
  });
});
