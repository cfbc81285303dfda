import { describe, expect, it } from "vitest";
import { drained, keysOf, type Platform, pageOf, respond, uidsOf } from "./simulator.ts";
import { knowing, memory, SEGMENTS, SMALL, streamed } from "./stage.ts";

const KEYS = keysOf(100);
const ONE = { limits: { ...SMALL, readers: 1 }, parts: knowing(true) };

/** The last page as `end` changes it, by how often it was asked for (from 1). */
function ending(end: (page: ReturnType<typeof pageOf>, time: number) => object, at = (_: number) => KEYS): Platform {
  let times = 0;
  return (s) => {
    const page = pageOf(at(times), s, "keyset");
    if (page.next !== "" || s.token !== undefined) return respond(page);
    times += 1;
    return respond({ ...page, ...end(page, times) });
  };
}

describe("a last page that contradicts its own count", () => {
  it("is read again, and believed when it agrees then", async () => {
    for (const times of [1, 2]) {
      const outcome = await drained(
        ending((_, time) => (time <= times ? { total: "101" } : {})),
        ONE,
      );
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness: "cover" });
      expect(outcome.requests.slice(-1 - times).map((s) => s.skip)).toEqual(Array(1 + times).fill(96));
      expect(outcome.notes).toEqual(["list-page-again"]);
    }
  });

  it("T-DRN-12, DIFF-05: is read on behind, and once more from page one, where it goes on counting more: then it is an error", async () => {
    const always: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond(page.next === "" ? { ...page, total: "101" } : page);
    };
    const outcome = await drained(always, ONE);
    expect(outcome.problem).toMatchObject({
      reason: "DRAIN_INCOMPLETE",
      message: expect.stringMatching(/counts 101 records, and 100 were read .*upstream\.v2\.totals: ignore/),
      metadata: { read: "100", total: "101" },
    });
    expect(outcome.notes).toEqual(["list-page-again", "list-read-again"]);
    expect(outcome.facts).toMatchObject([{ witness: "none", outcome: "incomplete" }]);
    const gone = await streamed(always, ONE);
    expect([gone.error, gone.list.floor]).toMatchObject([{ metadata: { read: "100", total: "101" } }, "cover"]);
  });

  it("is the end where counts are ignored", async () => {
    const outcome = await drained(
      ending(() => ({ total: "101" })),
      { ...ONE, parts: { ...ONE.parts, totals: "ignore" } },
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.requests).toHaveLength(13);
    expect(outcome.notes).toEqual(["list-total"]);
  });

  it("is no end while it is full and counts more: a platform that loses its tokens behind skip is read whole", async () => {
    const platform: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond(s.skip === undefined ? page : { ...page, next: "" });
    };
    const outcome = await drained(platform, { ...ONE, parts: { memory: memory(true).of } });
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "cover" });
  });

  it("that leaves a record out once is read again before it is taken", async () => {
    let times = 0;
    const platform: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      if (page.next !== "" || times++ > 0) return respond(page);
      return respond({ ...page, items: page.items.filter((_, i) => i !== 3) });
    };
    const outcome = await drained(platform, ONE);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "cover" });
  });

  it("followed by records that pass a ceiling refuses the list", async () => {
    const later = [...KEYS, "v1", "v2", "v3"];
    const outcome = await drained(
      ending(
        (_, time) => (time === 1 ? { total: "101" } : {}),
        (times) => (times === 0 ? KEYS : later),
      ),
      { ...ONE, limits: { ...ONE.limits, maxRecords: 102 } },
    );
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { count: "103" } });
  });
});

describe("a page without a token that counts fewer records than were read, though more were counted before,", () => {
  const WAYS = [
    ["by cursor", { limits: SMALL, parts: knowing(false) }],
    ["by cursor, its tokens known", { limits: SMALL, parts: knowing(false, "keyset") }],
    ["in windows", ONE],
    ["in segments", { limits: { ...SEGMENTS, readers: 2 }, parts: knowing(true) }],
  ] as const;
  /** Pages that begin at record 40 or later hold `records` of theirs and count `total`; `times`: so many, the first ones. */
  const sunken = (records: number, total: string, times = Number.POSITIVE_INFINITY): Platform => {
    let left = times;
    return (s) => {
      const page = pageOf(KEYS, s, "keyset");
      const [first] = page.items as readonly { readonly uid: string }[];
      const odd = first !== undefined && first.uid >= "u000040" && (s.token !== undefined || records > 0);
      if (!odd || left-- <= 0) return respond(page);
      return respond({ ...page, items: page.items.slice(0, records), next: "", total });
    };
  };

  it.each(WAYS)("is read again, and believed no more when it is another one then: %s", async (_, options) => {
    for (const records of [0, 3])
      for (const total of ["0", "1", "39"]) {
        expect(uidsOf(await drained(sunken(records, total, 1), options))).toEqual(KEYS);
        const long = await streamed(sunken(records, total, 1), options);
        expect([long.error, long.uids]).toEqual([undefined, KEYS]);
      }
  });

  it.each(WAYS)("ends no list: %s", async (_, options) => {
    for (const records of [0, 3]) {
      const outcome = await drained(sunken(records, "5"), options);
      if (outcome.problem === undefined) expect(uidsOf(outcome)).toEqual(KEYS);
      else expect(outcome.problem.reason).toBe("DRAIN_INCOMPLETE");
      const long = await streamed(sunken(records, "5"), options);
      if (long.error === undefined) expect(long.uids).toEqual(KEYS);
    }
  });

  it("is the end of a list that did shrink: its first page says so when it is read again", async () => {
    for (const [left, read] of [
      [[], 0],
      [KEYS.slice(0, 15), 15],
    ] as const) {
      const outcome = await drained((s, call) => respond(pageOf(call < 4 ? KEYS : left, s, "keyset")), WAYS[0][1]);
      expect(uidsOf(outcome)).toHaveLength(read);
      expect(outcome.notes).toContain("list-read-again");
    }
    const gone = await streamed(
      (s, call) => respond(pageOf(call < 4 ? KEYS : KEYS.slice(0, 15), s, "keyset")),
      WAYS[1][1],
    );
    expect([gone.error, gone.uids]).toEqual([undefined, KEYS.slice(0, 40)]);
  });
});

describe("a last page that has a token, which leads to an empty one,", () => {
  const trailing: Platform = (s) => {
    if (s.token === "end") return respond({ items: [], next: "", total: "100" });
    const page = pageOf(KEYS, s, "keyset");
    return respond(page.next === "" ? { ...page, next: "end" } : page);
  };

  it("is the end of the list, proved where tokens are positions", async () => {
    for (const [tokens, witness] of [
      ["keyset", "cover"],
      ["offset", "count"],
      ["unknown", "count"],
    ] as const) {
      const outcome = await drained(trailing, { ...ONE, parts: knowing(true, tokens) });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness });
      expect(outcome.requests.at(-1)).toEqual({ size: 10, token: "end" });
      expect(outcome.requests.length).toBeLessThanOrEqual(13 + 2);
      expect(outcome.notes).toEqual([]);
    }
  });
});

describe("where parts run out before the list does", () => {
  const KNOWN_SHORT: Platform = (s) => {
    const page = pageOf(KEYS, s, "keyset");
    return respond({ ...page, total: page.next === "" ? "100" : "25" });
  };

  it("a token that is a position is followed, and any other place is looked for by rank", async () => {
    const keyset = await drained(KNOWN_SHORT, { ...ONE, parts: knowing(true, "keyset") });
    expect(uidsOf(keyset)).toEqual(KEYS);
    expect(keyset.result).toMatchObject({ witness: "cover" });
    expect(keyset.requests.some((s) => s.token !== undefined)).toBe(true);
    const unknown = await drained(KNOWN_SHORT, ONE);
    expect(uidsOf(unknown)).toEqual(KEYS);
    expect(unknown.result).toMatchObject({ witness: "cover" });
    expect(unknown.requests.every((s) => s.token === undefined)).toBe(true);
  });

  it("the very beginning, asked for by rank, is no sign of a skip that is ignored", async () => {
    const later = ["u000000", ...Array.from({ length: 60 }, (_, i) => `v${i + 10}`)];
    const platform: Platform = (s, call) => {
      if (call < 3) return respond({ ...pageOf(KEYS, s, "keyset"), total: "26" });
      return respond({ ...pageOf(later, s, "keyset", s.skip === 0 ? 2 : 200), total: "61" });
    };
    const outcome = await drained(platform, ONE);
    expect(outcome.notes).not.toContain("list-skip-ignored");
    expect(outcome.requests.filter((s) => s.skip === 0).length).toBeGreaterThan(1);
    expect(outcome.result).toMatchObject({ kind: "list", witness: "cover" });
  });
});
