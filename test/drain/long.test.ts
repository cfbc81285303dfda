import { describe, expect, it } from "vitest";
import type { PageSelector } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import { keysOf, type Platform, pageOf, planOf, quiet, raw, respond, stage } from "./simulator.ts";
import { knowing, pull, SEGMENTS, SMALL, streamed } from "./stage.ts";

const KEYS = keysOf(100);
/** Bytes of the chunks of `keysOf(26)`: ten records, and twice eight. */
const BYTES = 10 * 17 + 9 + 2 * (8 * 17 + 7);
const KNOWN = { parts: knowing(true) };

describe("a list", () => {
  it("is answered whole up to the buffer's bytes, and goes out beyond", async () => {
    const on = (bufferBytes: number) =>
      stage(quiet(keysOf(26)), { ...KNOWN, limits: { ...SMALL, bufferBytes } }).longDrain(planOf());
    const whole = await on(BYTES);
    expect(whole).toMatchObject({ kind: "list", records: 26, witness: "cover" });
    const list = await on(BYTES - 1);
    expect(list).toMatchObject({ kind: "long", floor: "cover" });
    expect(await pull(list).rest()).toEqual({ uids: keysOf(26), error: undefined });
  });

  it("is always answered whole where it was asked for whole", async () => {
    const limits = { ...SMALL, bufferBytes: 0 };
    const list = await stage(quiet(KEYS), { ...KNOWN, limits }).drain(planOf());
    expect(list).toMatchObject({ kind: "list", records: 100 });
  });

  it("T-DRN-01 of any length goes out byte for byte, with what its first page was answered with", async () => {
    for (const count of [1, 10, 11, 40, 100, 400]) {
      const { uids, error, list, facts } = await streamed(quiet(keysOf(count)), KNOWN);
      expect([uids, error]).toEqual([keysOf(count), undefined]);
      expect(list).toMatchObject({ kind: "long", floor: "cover" });
      expect(facts.at(-1)).toMatchObject({ records: count, witness: "cover", outcome: "complete" });
    }
    const named: Platform = (s) => ({
      ...(quiet(KEYS)(s, 0) as ReturnType<typeof raw>),
      headers: [["x-page", String(s.skip ?? 0)]],
    });
    expect((await streamed(named, KNOWN)).list.headers).toEqual([["x-page", "0"]]);
  });

  it("is reported when it begins, as if the client left, and when it is over", async () => {
    const { facts, claims } = await streamed(quiet(KEYS), KNOWN);
    expect(facts).toHaveLength(2);
    expect(facts[0]).toMatchObject({ witness: "none", outcome: "aborted" });
    expect(facts[0]?.records).toBeGreaterThan(0);
    expect(facts[1]).toMatchObject({ records: 100, witness: "cover", outcome: "complete" });
    expect(claims).toEqual({ taken: 1, released: 1 });
  });
});

describe("what is announced", () => {
  const floor = async (platform: Platform, options: Parameters<typeof streamed>[1]) => {
    const { list, uids, error, facts } = await streamed(platform, options);
    expect([uids, error]).toEqual([KEYS, undefined]);
    return [list.floor, facts.at(-1)?.witness];
  };

  it("is a proof by borders, where windows are read", async () => {
    expect(await floor(quiet(KEYS), KNOWN)).toEqual(["cover", "cover"]);
    expect(await floor(quiet(KEYS), { parts: knowing(undefined) })).toEqual(["cover", "cover"]);
  });

  it("is a proof by tokens only where they are positions", async () => {
    for (const parts of [knowing(false), knowing(true), knowing(false, "offset")]) {
      expect(await floor(quiet(KEYS), { limits: SEGMENTS, parts })).toEqual(["none", "count"]);
    }
    for (const heeds of [true, false]) {
      const options = { limits: SEGMENTS, parts: knowing(heeds, "keyset") };
      expect(await floor(quiet(KEYS), options)).toEqual(["cover", "cover"]);
    }
  });

  it("is no count that nobody requires: it is only known at the end", async () => {
    expect(await floor(quiet(KEYS), { parts: knowing(false), require: "count" })).toEqual(["count", "count"]);
    expect(await floor(quiet(KEYS), { parts: knowing(false) })).toEqual(["none", "count"]);
    const later = { parts: knowing(false), limits: { bufferBytes: 400 } };
    expect(await floor(quiet(KEYS), { ...later, require: "count" })).toEqual(["count", "count"]);
    expect(await floor(quiet(KEYS), later)).toEqual(["none", "count"]);
  });

  it("is no less than a proof, where that is to be had and a count would do", async () => {
    expect(await floor(quiet(KEYS), { ...KNOWN, require: "count" })).toEqual(["cover", "cover"]);
    expect(await floor(quiet(KEYS), { ...KNOWN, require: "cover" })).toEqual(["cover", "cover"]);
  });

  it("is what the list is, when its end is already known", async () => {
    const one = await streamed(() =>
      respond({ items: KEYS.slice(0, 5).map((uid) => ({ uid })), next: "", total: "5" }),
    );
    expect([one.list.floor, one.facts.at(-1)?.witness]).toEqual(["cover", "cover"]);
    const page = respond({ items: [{ uid: "a" }], next: "", total: "5" });
    const wrong = await streamed(() => page, { parts: { totals: "ignore" } });
    expect([wrong.list.floor, wrong.error]).toEqual(["none", undefined]);
  });

  it("is nothing for a list that already left its order", async () => {
    const keys = ["b", "a", ...KEYS];
    const { list, uids } = await streamed(quiet(keys, "offset"), { parts: knowing(true, "keyset") });
    expect([list.floor, uids]).toEqual(["none", keys]);
  });

  it("is nothing for a list that promises no order", async () => {
    const { list } = await streamed(quiet(KEYS), { parts: knowing(true, "keyset"), plan: planOf(false) });
    expect(list.floor).toBe("none");
  });
});

describe("nothing goes out", () => {
  it("of a list whose required proof cannot be reached", async () => {
    const on = stage(quiet(KEYS), {
      limits: { ...SMALL, bufferBytes: 0 },
      parts: knowing(false),
      require: "cover",
    });
    await expect(on.longDrain(planOf())).rejects.toMatchObject({
      reason: "LIST_UNPROVEN",
      metadata: { required: "cover", witness: "none" },
    });
    expect(on.facts).toMatchObject([{ records: 10, witness: "none", outcome: "unproven" }]);
    expect(on.claims).toEqual({ taken: 0, released: 0 });
    expect(on.requests.length).toBe(1);
  });

  it("of a list whose count is not met, when its end is known by then", async () => {
    for (const count of [5, 20]) {
      const on = stage((s) => respond({ ...pageOf(keysOf(count), s, "keyset"), total: "25" }), {
        limits: { ...SMALL, bufferBytes: count * 18 - 12 },
        parts: { ...knowing(false), totals: "ignore" },
        require: "count",
      });
      await expect(on.longDrain(planOf())).rejects.toMatchObject({ reason: "LIST_UNPROVEN" });
      expect(on.facts).toMatchObject([{ outcome: "unproven", records: count }]);
    }
  });

  it("of a list that is refused, or too large, before that", async () => {
    const answer = raw(403, "{}");
    const refused = stage(() => answer, { limits: SMALL });
    expect(await refused.longDrain(planOf())).toEqual({ kind: "refused", response: answer });
    const large = stage(quiet(KEYS), { limits: { ...SMALL, maxRecords: 50 } });
    await expect(large.longDrain(planOf())).rejects.toMatchObject({ reason: "DRAIN_TOO_LARGE" });
  });
});

describe("a list that went out in part is broken off", () => {
  /** How a list ends whose pages are right up to rank 60. */
  async function ended(later: Platform, options: Parameters<typeof streamed>[1] = KNOWN) {
    const rank = (s: PageSelector) => s.skip ?? (s.token === undefined ? 0 : Number(s.token.slice(3)));
    const outcome = await streamed((s, call) => (rank(s) > 60 ? later : quiet(KEYS))(s, call), options);
    expect(outcome.claims).toEqual({ taken: 1, released: 1 });
    expect(outcome.uids.length).toBeGreaterThan(50);
    expect(outcome.uids).toEqual(KEYS.slice(0, outcome.uids.length));
    return outcome;
  }
  const turned: Platform = (s) => {
    const page = pageOf(KEYS, s, "keyset");
    return respond({ ...page, items: page.items.toReversed() });
  };

  it("T-DRN-15 when a page is refused", async () => {
    for (const parts of [knowing(true), knowing(false)]) {
      const { error, facts } = await ended(() => raw(403, "{}"), { parts });
      expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE", metadata: { status: "403" } });
      expect(facts.at(-1)).toMatchObject({ outcome: "refused", witness: "none" });
    }
  });

  const away: Platform = () => {
    throw new Problem("UPSTREAM_UNREACHABLE", "gone");
  };
  it.each<[string, string, Platform]>([
    ["the platform cannot be reached", "UPSTREAM_UNREACHABLE", away],
    ["pages stay unreadable", "UPSTREAM_INVALID", () => raw(200, "<html>")],
  ])("T-DRN-15 when %s", async (_, reason, later) => {
    const { error, facts } = await ended(later);
    expect(error).toMatchObject({ reason });
    expect(facts.at(-1)).toMatchObject({ outcome: "incomplete" });
  });

  it("when records leave the order that was to prove it", async () => {
    for (const tokens of ["unknown", "keyset"] as const) {
      for (const heeds of [true, false]) {
        if (tokens === "unknown" && !heeds) continue;
        const { error, list } = await ended(turned, { parts: knowing(heeds, tokens) });
        expect(list.floor).toBe("cover");
        expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      }
    }
  });

  it("when skip has no effect any more, and nothing else proves the rest", async () => {
    const ignores: Platform = ({ skip: _, ...rest }) => quiet(KEYS)(rest, 0);
    const { error, facts } = await ended(ignores);
    expect(error).toBeInstanceOf(Problem);
    expect(facts.at(-1)?.outcome).not.toBe("complete");
    const keyset = await ended(ignores, { parts: knowing(true, "keyset") });
    expect([keyset.uids, keyset.error]).toEqual([KEYS, undefined]);
    expect(keyset.facts.at(-1)).toMatchObject({ outcome: "complete", witness: "cover" });
    expect(keyset.notes).toEqual(["list-skip-ignored"]);
  });

  it("when records leave their order for once, unless its tokens bring them all in order", async () => {
    for (const tokens of ["unknown", "keyset"] as const) {
      let left = 1;
      const once: Platform = (s, call) => ((s.skip ?? 0) > 60 && left-- > 0 ? turned : quiet(KEYS))(s, call);
      const { uids, error, notes } = await streamed(once, { parts: knowing(true, tokens), limits: { readers: 1 } });
      expect(notes).toContain("list-way-left");
      if (tokens === "unknown") expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      else expect([uids, error, notes]).toEqual([KEYS, undefined, ["list-way-left", "list-read-again"]]);
    }
  });

  it("when a gap cannot be closed", async () => {
    const elsewhere: Platform = (s) => {
      if (s.skip === undefined) return quiet(KEYS)(s, 0);
      return respond({ ...pageOf(KEYS, { size: 10, skip: 90 }, "keyset"), skipped: s.skip, next: "k:x" });
    };
    const { error, facts } = await ended(elsewhere);
    expect(error).toBeInstanceOf(Problem);
    expect(facts.at(-1)?.outcome).not.toBe("complete");
  });

  it("when the count that was required is not met", async () => {
    const { error, list } = await ended((s) => respond({ ...pageOf(KEYS, s, "keyset"), total: "101" }), {
      parts: { ...knowing(false), totals: "ignore" },
      require: "count",
    });
    expect(list.floor).toBe("count");
    expect(error).toMatchObject({ reason: "LIST_UNPROVEN", metadata: { required: "count", witness: "none" } });
  });

  it("when it becomes too large", async () => {
    const more = [...KEYS, ...Array.from({ length: 100 }, (_, i) => `v${i + 100}`)];
    const { error, facts } = await streamed((s, call) => respond(pageOf(call < 6 ? KEYS : more, s, "keyset")), {
      ...KNOWN,
      limits: { maxRecords: 120 },
    });
    expect(error).toMatchObject({ reason: "DRAIN_TOO_LARGE" });
    expect(facts.at(-1)).toMatchObject({ outcome: "too-large" });
  });

  it("when it takes too long", async () => {
    let ms = 0;
    const { error } = await streamed(
      (s, call) => {
        ms += 1000;
        return quiet(KEYS)(s, call);
      },
      { limits: { maxSeconds: 8, readers: 1 }, parts: { ...knowing(true), now: () => ms } },
    );
    expect(error).toMatchObject({ reason: "UPSTREAM_TIMEOUT" });
  });
});

describe("a token that is no position, behind a proof that was announced,", () => {
  it("breaks the list off", async () => {
    // Announced while windows are read; beyond its count and a hundred records the list is read in segments.
    const uncounted: Platform = (s) => {
      const page = pageOf(keysOf(300), s, "keyset");
      return respond({ ...page, total: page.next === "" ? "300" : "50" });
    };
    const limits = { windowRecords: 100, readers: 1 };
    const { uids, error, list } = await streamed(uncounted, { ...KNOWN, limits });
    expect(list.floor).toBe("cover");
    expect(error).toBeInstanceOf(Problem);
    expect(uids.length).toBeGreaterThan(100);
    const keyset = await streamed(uncounted, { parts: knowing(true, "keyset"), limits });
    expect([keyset.list.floor, keyset.error, keyset.uids]).toEqual(["cover", undefined, keysOf(300)]);
  });
});

it("a list that is broken off was right up to there", async () => {
  const keys = keysOf(300);
  const uncounted: Platform = (s) => respond({ ...pageOf(keys, s, "keyset"), total: s.skip === 96 ? "300" : "100" });
  const { uids, error } = await streamed(uncounted, { ...KNOWN, limits: { windowRecords: 100, readers: 1 } });
  expect(error?.constructor ?? "whole").toBe(uids.length === 300 ? "whole" : Problem);
  expect(uids).toEqual(keys.slice(0, uids.length));
});
