import { describe, expect, it } from "vitest";
import type { ListPage, PageSelector } from "../../../src/model/list.ts";
import { takeNew } from "../../../src/upstream/drain/merged.ts";
import { joins, seek } from "../../../src/upstream/drain/seek.ts";
import { keysOf, type Options, type Platform, pageOf, planOf, quiet, raw, respond } from "./simulator.ts";
import { runOf, SMALL } from "./stage.ts";

const KEYS = keysOf(1000);

/** A seek after the first `taken` of `KEYS` were taken, when the list is what `platform` says. */
async function sought(taken: number, platform: Platform, repairs = 16, options: Options = {}) {
  const requests: PageSelector[] = [];
  const run = runOf(
    (selector, call) => {
      requests.push(selector);
      return platform(selector, call);
    },
    { ...options, limits: { ...SMALL, ...options.limits } },
  );
  const { request, read } = planOf();
  const first: ListPage = read(respond({ ...pageOf(KEYS, { size: taken }, "keyset", taken), total: undefined }));
  expect(request({ size: 1 }).method).toBe("GET");
  takeNew(run.merged, first);
  run.repairs = repairs;
  const found = await seek(run);
  const keys = found.kind === "page" ? found.keys : undefined;
  return { found, keys, skips: requests.map((s) => s.skip), repairs: run.repairs };
}

describe("the commit point", () => {
  it("is looked for a little before its rank", async () => {
    const { keys, skips } = await sought(20, quiet(KEYS));
    expect(skips).toEqual([18]);
    expect(keys).toEqual(KEYS.slice(18, 28));
  });

  it("is looked for at the beginning when it is no further than that", async () => {
    expect((await sought(1, quiet(KEYS))).skips).toEqual([0]);
    expect((await sought(2, quiet(KEYS))).skips).toEqual([0]);
    expect((await sought(3, quiet(KEYS))).skips).toEqual([1]);
  });

  it("is found with the record itself gone, when what follows was not skipped", async () => {
    const { keys, skips } = await sought(20, quiet([...KEYS.slice(0, 19), ...KEYS.slice(20)]));
    expect(skips).toEqual([18]);
    expect(keys).toEqual([...KEYS.slice(18, 19), ...KEYS.slice(20, 29)]);
  });

  /** Back in steps of one, four, sixteen and sixty-four pages, and on from there page by page. */
  const FAR = [398, 388, 348, 188, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96];

  it("is looked for further back, four times as far each time, when many records before it are gone", async () => {
    const { keys, skips } = await sought(400, quiet(KEYS.slice(300)), 100);
    expect(skips).toEqual(FAR);
    expect(keys).toEqual(KEYS.slice(396, 406));
    const near = await sought(400, quiet(KEYS.slice(5)));
    expect(near.skips).toEqual([398, 388]);
    expect(near.keys).toEqual(KEYS.slice(393, 403));
  });

  it("is looked for no further on than the list is counted to go", async () => {
    const { keys, skips } = await sought(500, quiet(KEYS.slice(450, 520)));
    expect(skips).toEqual([498, 68, 28, 36, 44]);
    expect(keys).toEqual(KEYS.slice(494, 504));
    const end = await sought(500, quiet(KEYS.slice(0, 300)));
    expect(end.skips).toEqual([498, 298]);
    expect(end.found).toMatchObject({ keys: KEYS.slice(298, 300), nextPageToken: "" });
  });

  it("is looked for without a count, too", async () => {
    const uncounted: Platform = (s) => respond({ ...pageOf(KEYS.slice(300), s, "keyset"), total: undefined });
    expect((await sought(400, uncounted, 100)).skips).toEqual(FAR);
    const wild: Platform = (s) => respond({ ...pageOf(KEYS.slice(300), s, "keyset"), total: "-5" });
    expect((await sought(400, wild, 100)).skips).toEqual(FAR);
  });

  it("is passed, step by step, when many records were put before it", async () => {
    const more = Array.from({ length: 30 }, (_, i) => `a${String(i).padStart(2, "0")}`);
    const { keys, skips } = await sought(20, quiet([...more, ...KEYS]));
    expect(skips).toEqual([18, 26, 34, 42]);
    expect(keys).toEqual(KEYS.slice(12, 22));
  });

  it("is passed by one record at least, however short pages are", async () => {
    const { keys, skips } = await sought(20, quiet(["a", ...KEYS], "keyset", 2));
    expect(skips.filter((skip) => skip !== undefined)).toEqual([18, 19, 20]);
    expect(keys).toEqual(KEYS.slice(19, 21));
  });

  it("may be the end of the list", async () => {
    const { found, skips } = await sought(20, quiet(KEYS.slice(0, 20)));
    expect(skips).toEqual([18]);
    expect(found).toMatchObject({ kind: "page", keys: KEYS.slice(18, 20), nextPageToken: "" });
  });

  it("of a list that is empty by now is its end", async () => {
    const { found, skips } = await sought(20, quiet([]));
    expect(skips).toEqual([18, 0]);
    expect(found).toMatchObject({ kind: "page", keys: [], nextPageToken: "" });
  });

  it("holds a record behind it, or is the end, when it is given", async () => {
    // A short page that ends with the commit point, and is not the end.
    const short: Platform = (s) => respond(pageOf(KEYS, s, "keyset", s.skip === 18 ? 2 : 10));
    const { keys, skips } = await sought(20, short);
    expect(skips).toEqual([18, undefined, 19]);
    expect(keys).toEqual(KEYS.slice(19, 29));
  });

  describe("on a platform whose last page has a token, which leads to an empty one,", () => {
    const twenty = KEYS.slice(0, 20);
    /** Its last page, and the page behind the token of that. */
    const trailing =
      (behind: Platform, keys: readonly string[] = twenty): Platform =>
      (s, call) => {
        if (s.token === "end") return behind(s, call);
        const page = pageOf(keys, s, "keyset");
        return respond(page.next === "" ? { ...page, next: "end" } : page);
      };
    const empty: Platform = () => respond({ items: [], next: "", total: "20" });

    it("is the end of the list, by that empty page", async () => {
      const { found, skips, repairs } = await sought(20, trailing(empty));
      expect(skips).toEqual([18, undefined]);
      expect(found).toMatchObject({ kind: "page", keys: [], nextPageToken: "", skip: undefined });
      expect(repairs).toBe(14);
    });

    it("is not the end when there is something behind it after all, or that is refused", async () => {
      const more: Platform = () => respond({ items: [], next: "more" });
      const record: Platform = () => respond({ items: [{ uid: "z" }], next: "" });
      for (const behind of [more, record]) {
        expect((await sought(20, trailing(behind), 6)).found).toEqual({ kind: "lost", why: "repairs" });
      }
      const refused: Platform = () => raw(403, "{}");
      expect((await sought(20, trailing(refused), 6)).found).toMatchObject({ kind: "refused" });
    });

    it("is looked for behind short pages only, and while there are repairs", async () => {
      const full = trailing(empty, KEYS.slice(0, 28));
      // Ten records before the commit point: a page that is full has more behind it.
      const moved = trailing(empty, [...Array.from({ length: 8 }, (_, i) => `a${i}`), ...twenty]);
      expect((await sought(20, moved)).skips).toEqual([18, 26, undefined]);
      expect((await sought(20, full)).skips).toEqual([18]);
      expect((await sought(20, trailing(empty), 1)).skips).toEqual([18]);
    });
  });
});

describe("a seek ends", () => {
  /** Never joins on. */
  const behind: Platform = (s) => respond({ items: [{ uid: "z" }], next: "t", total: "1000", skipped: s.skip });

  it("when too much had to be repaired", async () => {
    const { found, skips, repairs } = await sought(900, (s, call) => (s.skip === 0 ? quiet(KEYS) : behind)(s, call), 5);
    expect(found).toEqual({ kind: "lost", why: "repairs" });
    expect(skips).toHaveLength(5);
    expect(repairs).toBe(-1);
  });

  it("before its first call when nothing may be repaired any more", async () => {
    expect((await sought(20, quiet(KEYS), 1)).skips).toEqual([18]);
    expect(await sought(20, quiet(KEYS), 0)).toMatchObject({ found: { kind: "lost", why: "repairs" }, skips: [] });
  });

  it("with the platform's refusal", async () => {
    const answer = raw(403, "{}");
    expect((await sought(20, () => answer)).found).toEqual({ kind: "refused", response: answer });
  });

  it("when skip is not heeded, or keys are out of order", async () => {
    const unskipped: Platform = (s) => respond({ ...pageOf(KEYS, { size: s.size }, "keyset"), skipped: 0 });
    expect((await sought(20, unskipped)).found).toEqual({ kind: "lost", why: "skip" });
    const turned: Platform = (s) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond({ ...page, items: page.items.toReversed() });
    };
    expect((await sought(20, turned)).found).toEqual({ kind: "lost", why: "order" });
  });
});

describe("a page joins on", () => {
  function joined(keys: readonly string[], skip: number | undefined, lastKey: string | undefined): boolean {
    const run = runOf(quiet([]));
    run.merged.lastKey = lastKey;
    const page = planOf().read(respond({ items: keys.map((uid) => ({ uid })), next: "" }));
    return joins(run.merged, { ...page, kind: "page", skip });
  }

  it("when it begins at or before the last record taken", () => {
    expect(joined(["b", "c"], 5, "b")).toBe(true);
    expect(joined(["a", "c"], 5, "b")).toBe(true);
    expect(joined(["c"], 5, "b")).toBe(false);
    expect(joined(["b", "c"], undefined, "b")).toBe(true);
    expect(joined(["c"], undefined, "b")).toBe(false);
  });

  it("when it begins the list, whatever it holds", () => {
    expect(joined(["c"], 0, "b")).toBe(true);
    expect(joined([], 0, "b")).toBe(true);
  });

  it("never when it holds nothing, or nothing was taken yet", () => {
    expect(joined([], 5, "b")).toBe(false);
    expect(joined([], undefined, "b")).toBe(false);
    expect(joined(["a"], 5, undefined)).toBe(false);
  });
});
