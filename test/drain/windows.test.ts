import { describe, expect, it } from "vitest";
import type { PageSelector } from "../../src/model/list.ts";
import {
  type Answer,
  drained,
  keysOf,
  type Platform,
  pageOf,
  planOf,
  quiet,
  raw,
  respond,
  uidsOf,
} from "./simulator.ts";
import { knowing, memory, SMALL } from "./stage.ts";

const KEYS = keysOf(100);
const TEN = { limits: SMALL };
const KNOWN = { ...TEN, parts: knowing(true) };

/** Page one, then windows of `size` that begin `overlap` records before the one before ends. */
function windowsOf(count: number, size: number, overlap: number): PageSelector[] {
  const asked: PageSelector[] = [{ size }];
  for (let skip = size - overlap; skip < count; skip += size - overlap) asked.push({ size, skip });
  return asked;
}

describe("a quiet list", () => {
  for (const tokens of ["keyset", "offset"] as const) {
    for (const count of [201, 399, 400, 401, 600, 601, 2000, 10_000]) {
      it(`T-DRN-01 of ${count} records arrives byte for byte and proved, ${tokens} tokens`, async () => {
        const outcome = await drained(quiet(keysOf(count), tokens));
        expect(uidsOf(outcome)).toEqual(keysOf(count));
        const asked = windowsOf(count, 200, 10);
        expect(outcome.requests).toEqual(asked);
        expect(outcome.result).toMatchObject({ records: count, pages: asked.length, witness: "cover" });
        expect(outcome.facts).toEqual([{ pages: asked.length, records: count, witness: "cover", outcome: "complete" }]);
        expect(outcome.notes).toEqual([]);
        expect(outcome.claims).toEqual({ taken: 1, released: 1 });
      });
    }
  }

  it("T-DRN-01 of one page is asked for once", async () => {
    for (const count of [0, 1, 199, 200]) {
      const outcome = await drained(quiet(keysOf(count)));
      expect(outcome.requests).toEqual([{ size: 200 }]);
      expect(outcome.result).toMatchObject({ records: count, witness: "cover" });
    }
  });

  it("whose every border holds is proved though its first count was too low", async () => {
    const outcome = await drained((s, call) => {
      return respond({ ...pageOf(KEYS, s, "keyset"), total: call === 0 ? "30" : "100" });
    }, TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "cover" });
    expect(outcome.notes).toEqual(["list-total"]);
  });

  it("whose hidden records are left out is proved by all of them", async () => {
    const odd = (uid: string) => Number(uid.slice(1)) % 2 === 1;
    const outcome = await drained(quiet(KEYS), { ...TEN, plan: planOf(true, odd) });
    expect(uidsOf(outcome)).toEqual(KEYS.filter((uid) => !odd(uid)));
    expect(outcome.result).toMatchObject({ records: 50, witness: "cover" });
  });

  it("has the records of one window in one chunk, without what was taken before", async () => {
    const { result } = await drained(quiet(keysOf(25)), TEN);
    if (result?.kind !== "list") throw new Error("no list");
    const text = (keys: readonly string[]) => keys.map((uid) => JSON.stringify({ uid })).join(",");
    const keys = keysOf(25);
    expect(result.chunks.map((chunk) => new TextDecoder().decode(chunk))).toEqual([
      text(keys.slice(0, 10)),
      text(keys.slice(10, 18)),
      text(keys.slice(18)),
    ]);
  });
});

describe("one page after another", () => {
  it("a page is asked for alone while it is not known whether skip works", async () => {
    const waves: number[] = [];
    let wave = 0;
    const outcome = await drained(
      async (selector, call) => {
        wave += 1;
        await new Promise((resolve) => setImmediate(resolve));
        if (wave > 0) waves.push(wave);
        wave = 0;
        return quiet(KEYS)(selector, call);
      },
      { ...TEN, parts: knowing(undefined) },
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(waves.slice(0, 2)).toEqual([1, 1]);
    expect(Math.max(...waves)).toBeGreaterThan(1);
  });

  it("skip that worked is remembered, and how many records there were", async () => {
    const { of, told } = memory(undefined);
    await drained(quiet(KEYS), { ...TEN, parts: { memory: of } });
    expect(
      told.filter(([what]) => what === "skip").every(([, name, heeded]) => name === "groups" && heeded === true),
    ).toBe(true);
    expect(told.at(-1)).toEqual(["count", "/list?size=10", 100]);
    expect(told.length).toBeGreaterThan(1);
  });
});

describe("pages that are shorter than asked for", () => {
  it("T-DRN-10 T-DRN-01 set the measure of the windows", async () => {
    const outcome = await drained(quiet(keysOf(450), "keyset", 100));
    expect(uidsOf(outcome)).toEqual(keysOf(450));
    expect(outcome.requests).toEqual(windowsOf(450, 100, 10).map((s) => ({ ...s, size: 200 })));
    expect(outcome.result).toMatchObject({ witness: "cover" });
    expect(outcome.notes).toEqual([]);
  });

  it("T-DRN-10 in the middle leave a gap that is closed", async () => {
    for (const length of [0, 1, 2, 3, 7]) {
      const outcome = await drained((s, call) => {
        const page = pageOf(KEYS, s, "keyset", s.skip === 40 && call < 12 ? length : 200);
        return respond(s.skip === 40 && length === 0 ? { ...page, next: "k:u000039" } : page);
      }, KNOWN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness: "cover" });
      // Records behind the token of an empty page are those that were asked for.
      expect(outcome.notes).toEqual(length === 0 ? [] : ["list-repaired"]);
    }
  });
});

describe("keys out of order", () => {
  const turned = (s: PageSelector): Answer => {
    const page = pageOf(KEYS, s, "keyset");
    return { ...page, items: page.items.toReversed() };
  };

  it("T-DRN-29 in a later window leave the list to its tokens, with all its records", async () => {
    for (const at of [8, 40, 96]) {
      const outcome = await drained((s) => respond(s.skip === at ? turned(s) : pageOf(KEYS, s, "keyset")), KNOWN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toEqual(["list-way-left"]);
      expect(outcome.result).toMatchObject({ witness: "count" });
    }
  });
});

describe("answers that are no page", () => {
  it("T-DRN-18 a window that is refused leaves the list to its tokens, where the refusal may concern skip", async () => {
    for (const [status, requests] of [
      [403, 1],
      [503, 2],
    ] as const) {
      const platform: Platform = (s, call) => (s.skip === 40 ? raw(status, "{}") : quiet(KEYS)(s, call));
      const outcome = await drained(platform, KNOWN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.requests.filter((s) => s.skip === 40)).toHaveLength(requests);
      expect(outcome.notes).toContain("list-way-left");
    }
  });

  it.each([401, 429])("T-DRN-18 a window that is refused with %i refuses the list", async (status) => {
    const answer = raw(status, "{}");
    const outcome = await drained((s, call) => (s.skip === 40 ? answer : quiet(KEYS)(s, call)), KNOWN);
    expect(outcome.result).toEqual({ kind: "refused", response: answer });
    expect(outcome.requests.filter((s) => s.skip === 40)).toHaveLength(1);
    expect(outcome.facts[0]).toMatchObject({ outcome: "refused" });
  });

  it("T-DRN-17 a window that stays unreadable is a clean error, after one more reading", async () => {
    const outcome = await drained((s, call) => (s.skip === 40 ? raw(200, "<html>") : quiet(KEYS)(s, call)), KNOWN);
    expect(outcome.problem).toMatchObject({ reason: "UPSTREAM_INVALID" });
    expect(outcome.requests.filter((s) => s.skip === 40)).toHaveLength(4);
    expect(outcome.requests.filter((s) => s.skip === undefined)).toHaveLength(2);
    expect(outcome.facts[0]).toMatchObject({ outcome: "incomplete", witness: "none" });
  });

  it("something that is no error at all ends the list as an error of carryover's own", async () => {
    const outcome = await drained((s, call) => {
      if (s.skip === 40) return Promise.reject("a string");
      return quiet(KEYS)(s, call);
    }, KNOWN);
    expect(outcome.problem).toMatchObject({ reason: "INTERNAL", cause: "a string" });
  });
});

describe("limits", () => {
  it("a list of windows is no larger by their overlap", async () => {
    const exact = { ...SMALL, maxPages: 10, maxRecords: 100, maxBytes: 100 * 17 + 100 - 13 };
    const outcome = await drained(quiet(KEYS), { limits: exact, parts: knowing(true) });
    expect(uidsOf(outcome)).toEqual(KEYS);
  });

  it("a list that ends with the last allowed page is served", async () => {
    const outcome = await drained(quiet(keysOf(50)), { limits: { ...SMALL, maxPages: 5 }, parts: knowing(true) });
    expect(uidsOf(outcome)).toEqual(keysOf(50));
  });

  it("a list that outgrows its count is refused where it passes a ceiling", async () => {
    const grows = (s: PageSelector, call: number) =>
      respond({ ...pageOf(KEYS, s, "keyset"), total: call === 0 ? "30" : "100" });
    for (const [limits, unit] of [
      [{ maxRecords: 50 }, "records"],
      [{ maxPages: 5 }, "pages"],
      [{ maxBytes: 600 }, "bytes"],
    ] as const) {
      const outcome = await drained(grows, { limits: { ...SMALL, ...limits }, parts: knowing(true) });
      expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { unit } });
      expect(outcome.facts[0]).toMatchObject({ outcome: "too-large" });
    }
  });

  it("windows that overlapped before a list went on by its cursor count as no pages", async () => {
    const ignores: Platform = ({ skip: _, ...rest }) => quiet(KEYS)(rest, 0);
    const outcome = await drained((s, call) => ((s.skip ?? 0) >= 88 ? ignores : quiet(KEYS))(s, call), {
      limits: { ...SMALL, maxPages: 10 },
      parts: knowing(true),
    });
    expect(uidsOf(outcome)).toEqual(KEYS);
  });

  it("a list whose gaps cannot be closed is left to its tokens after a bounded number of tries", async () => {
    const outcome = await drained((s, call) => {
      // Whatever is asked for by rank, but the very beginning, is the end of the list.
      if (s.skip === undefined || s.skip === 0) return quiet(KEYS)(s, call);
      return respond({ ...pageOf(KEYS, { size: s.size, skip: 90 }, "keyset"), skipped: s.skip, next: "k:x" });
    }, KNOWN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-way-left"]);
    expect(outcome.result).toMatchObject({ witness: "count" });
    // 16 tries, and as many more as it has pages; beside eight windows and the cursor.
    const tries = outcome.requests.filter((s) => s.skip !== undefined).length;
    expect(tries).toBeLessThanOrEqual(8 + 16 + 10);
    expect(tries).toBeGreaterThanOrEqual(16 + 10);
  });
});

describe("T-DRN-11 skip", () => {
  const ignores: Platform = ({ skip: _, ...rest }, call) => quiet(KEYS)(rest, call);

  it.each([
    ["as the platform says", ignores],
    ["as the first record shows", (s) => respond({ ...pageOf(KEYS, { ...s, skip: 0 }, "keyset"), skipped: s.skip })],
  ] as const satisfies [string, Platform][])(
    "that is ignored, %s, is noticed by the first window, and remembered",
    async (_, platform) => {
      const { of, told } = memory(undefined);
      const outcome = await drained(platform, { ...TEN, parts: { memory: of } });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toEqual(["list-skip-ignored"]);
      expect(outcome.result).toMatchObject({ witness: "count" });
      expect(told).toEqual([["skip", "groups", false]]);
      expect(outcome.requests.filter((s) => s.skip !== undefined).length).toBeLessThanOrEqual(2);
    },
  );

  it.each([400, 404, 410, 422, 501])(
    "that is refused with %i is ignored too, and costs no list where it has worked before",
    async (status) => {
      const refuses: Platform = (s, call) => (s.skip === undefined ? quiet(KEYS)(s, call) : raw(status, "{}"));
      const { of, told } = memory(undefined);
      expect(uidsOf(await drained(refuses, { ...TEN, parts: { memory: of } }))).toEqual(KEYS);
      expect(told).toEqual([["skip", "groups", false]]);
      const known = await drained(refuses, KNOWN);
      expect(uidsOf(known)).toEqual(KEYS);
      expect(known.notes).toContain("list-way-left");
    },
  );

  it("that stops working while a gap is closed costs no record", async () => {
    let broken = false;
    const outcome = await drained((s, call) => {
      if (s.skip === 40 && !broken) {
        broken = true;
        return respond({ ...pageOf(KEYS, { ...s, skip: 44 }, "keyset"), skipped: 40 });
      }
      return (broken && s.skip !== undefined && s.skip < 48 ? ignores : quiet(KEYS))(s, call);
    }, KNOWN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-skip-ignored"]);
  });

  it("that stops working ends a list at once that must be proved and cannot be any more", async () => {
    const half: Platform = (s, call) => ((s.skip ?? 0) > 40 ? ignores : quiet(KEYS))(s, call);
    const outcome = await drained(half, { ...KNOWN, require: "cover" });
    expect(outcome.problem).toMatchObject({ reason: "LIST_UNPROVEN", metadata: { required: "cover" } });
    expect(outcome.requests.every((s) => s.token === undefined)).toBe(true);
    const keyset = await drained(half, { ...TEN, require: "cover", parts: knowing(true, "keyset") });
    expect(uidsOf(keyset)).toEqual(KEYS);
  });
});
