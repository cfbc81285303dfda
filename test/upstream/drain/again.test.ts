import { describe, expect, it } from "vitest";
import type { PageSelector } from "../../../src/model/list.ts";
import { Problem } from "../../../src/model/problem.ts";
import {
  broken,
  drained,
  keysOf,
  type Platform,
  pageOf,
  planOf,
  quiet,
  raw,
  respond,
  stage,
  uidsOf,
} from "./simulator.ts";
import { knowing, memory, pull, SMALL, streamed } from "./stage.ts";

const KEYS = keysOf(100);
const CURSOR = { limits: SMALL, parts: knowing(false) };
const KEYSET = { limits: SMALL, parts: knowing(false, "keyset") };
/** Begins the list again, though a token was given. */
const restart: Platform = (s) => respond({ ...pageOf(KEYS, { size: s.size }, "keyset"), next: "k:u000009 again" });

describe("a list begun anew while nothing of it was sent", () => {
  it("holds nothing of what came before, and nothing twice", async () => {
    for (const at of [1, 2, 5, 9]) {
      const outcome = await drained(broken(quiet(KEYS), at, restart), CURSOR);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ records: 100, witness: "count" });
      expect(outcome.notes).toEqual(["list-read-again"]);
    }
  });

  it("forgets what is not there any more", async () => {
    const later = KEYS.filter((_, i) => i % 3 !== 0);
    const outcome = await drained((s, call) => {
      if (call === 5) return restart(s, call);
      return respond(pageOf(call < 5 ? KEYS : later, s, "keyset"));
    }, CURSOR);
    expect(uidsOf(outcome)).toEqual(later);
    expect(outcome.result).toMatchObject({ records: later.length });
  });

  it("may be empty by then", async () => {
    const outcome = await drained((s, call) => {
      if (call === 5) return restart(s, call);
      return respond(pageOf(call < 5 ? KEYS : [], s, "keyset"));
    }, CURSOR);
    expect(outcome.result).toMatchObject({ records: 0, chunks: [] });
  });

  it("may be of one page by then, which is sent at once when that is more than is held", async () => {
    const one = keysOf(9);
    const on = stage(
      (s, call) => {
        if (call === 2) return restart(s, call);
        return respond(pageOf(call < 2 ? KEYS : one, s, "keyset"));
      },
      { ...CURSOR, limits: { ...SMALL, bufferBytes: 400 } },
    );
    expect(
      uidsOf({ ...on, result: (await on.longDrain(planOf())) as never, problem: undefined, error: undefined }),
    ).toEqual(one);
  });

  it("counts towards the buffer only what it holds", async () => {
    // 179 bytes a page: two of them would be more than is held, one is not.
    const two = keysOf(20);
    const on = stage((s, call) => (call === 1 ? restart(s, call) : quiet(two)(s, call)), {
      ...CURSOR,
      limits: { ...SMALL, bufferBytes: 2 * 179 },
    });
    expect(await on.longDrain(planOf())).toMatchObject({ kind: "list", records: 20 });
    const less = stage((s, call) => (call === 1 ? restart(s, call) : quiet(two)(s, call)), {
      ...CURSOR,
      limits: { ...SMALL, bufferBytes: 2 * 179 - 1 },
    });
    const { rest } = pull(await less.longDrain(planOf()));
    expect(await rest()).toEqual({ uids: two, error: undefined });
  });

  it("is read in parallel again, and its slot is the one it has", async () => {
    const outcome = await drained(
      (s, call) => (s.skip === 40 && call < 14 ? raw(200, "<html>") : quiet(KEYS)(s, call)),
      { limits: { ...SMALL, readers: 1 }, parts: knowing(true) },
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "cover" });
    expect(outcome.claims).toEqual({ taken: 1, released: 1 });
  });

  it("is begun anew once only", async () => {
    const outcome = await drained(
      (s, call) => (s.token === "k:u000029" ? restart(s, call) : quiet(KEYS)(s, call)),
      CURSOR,
    );
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
    expect(outcome.requests.filter((s) => s.token === undefined)).toHaveLength(2);
  });

  it("is not begun anew for what a second reading cannot change", async () => {
    for (const reason of ["UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "OVERLOADED"] as const) {
      const outcome = await drained((s, call) => {
        if (call === 3) throw new Problem(reason, "no");
        return quiet(KEYS)(s, call);
      }, CURSOR);
      expect(outcome.problem?.reason).toBe(reason);
      expect(outcome.requests).toHaveLength(4);
    }
  });

  it("asks for as many repairs as the first time", async () => {
    const bad = new Set<string>();
    const outcome = await drained((s, call) => {
      const place = JSON.stringify([s, call > 12]);
      if (s.token !== undefined && call !== 12 && !bad.has(place)) {
        bad.add(place);
        return raw(503, "{}");
      }
      return call === 12 ? restart(s, call) : quiet(KEYS)(s, call);
    }, CURSOR);
    expect(uidsOf(outcome)).toEqual(KEYS);
  });
});

describe("a list begun anew after a part of it was sent", () => {
  for (const [name, options] of [
    ["nothing was announced", CURSOR],
    ["a proof was announced", KEYSET],
  ] as const) {
    it(`gives only what is new, when ${name}`, async () => {
      for (const at of [3, 5, 9]) {
        const { uids, error, facts, notes, requests } = await streamed(broken(quiet(KEYS), at, restart), options);
        expect([uids, error]).toEqual([KEYS, undefined]);
        expect(facts.at(-1)).toMatchObject({ outcome: "complete", records: 100 });
        expect(notes).toEqual(["list-read-again"]);
        expect(requests).toHaveLength(10 + at + 1);
      }
    });

    it(`is not followed when it begins again after it had caught up, when ${name}`, async () => {
      let first = true;
      const { uids, error, requests } = await streamed((s, call) => {
        if (s.token === "k:u000049" && first) {
          first = false;
          return restart(s, call);
        }
        return (s.token === "k:u000069" ? restart : quiet(KEYS))(s, call);
      }, options);
      expect(uids).toEqual(KEYS.slice(0, 70));
      expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      // Five pages and the restart; seven and the restart.
      expect(requests).toHaveLength(6 + 8);
    });

    it(`goes on where pages were cut otherwise, when ${name}`, async () => {
      const seven: Platform = (s) => respond(pageOf(KEYS, s, "keyset", 7));
      const { uids, error } = await streamed((s, call) => {
        if (call === 5) return restart(s, call);
        return (call < 5 ? quiet(KEYS) : seven)(s, call);
      }, options);
      expect([uids, error]).toEqual([KEYS, undefined]);
    });

    it(`leaves out what is gone and not what came, when ${name}`, async () => {
      const later = [...KEYS.slice(0, 60), ...KEYS.slice(70), "v"];
      const { uids, error } = await streamed((s, call) => {
        if (call === 5) return restart(s, call);
        return respond(pageOf(call < 5 ? KEYS : later, s, "keyset"));
      }, options);
      expect([uids, error]).toEqual([later, undefined]);
    });

    it(`is broken off when that fails too, when ${name}`, async () => {
      const { uids, error, facts } = await streamed(
        (s, call) => (s.token === "k:u000049" ? restart(s, call) : quiet(KEYS)(s, call)),
        options,
      );
      expect(uids).toEqual(KEYS.slice(0, 50));
      expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      expect(facts.at(-1)).toMatchObject({ outcome: "incomplete" });
    });
  }

  it("has every record that was there all the time, whatever sorts before the commit point now", async () => {
    const later = ["a", ...KEYS];
    for (const options of [CURSOR, KEYSET]) {
      const { uids, error } = await streamed((s, call) => {
        if (call === 5) return restart(s, call);
        return respond(pageOf(call < 5 ? KEYS : later, s, "keyset"));
      }, options);
      expect([error, uids.filter((uid) => uid !== "a")]).toEqual([undefined, KEYS]);
    }
  });

  it("takes a page behind a token that overlaps, whatever was announced", async () => {
    for (const options of [CURSOR, KEYSET]) {
      const { uids, error, notes } = await streamed((s, call) => {
        return s.token === "k:u000049"
          ? respond(pageOf(KEYS, { ...s, token: "k:u000046" }, "keyset"))
          : quiet(KEYS)(s, call);
      }, options);
      expect([uids, error]).toEqual([KEYS, undefined]);
      expect(notes).not.toContain("list-read-again");
    }
  });

  it("is broken off when its first page left the order that was announced", async () => {
    const turned = (s: PageSelector) => {
      const page = pageOf(KEYS, s, "keyset");
      return respond({ ...page, items: page.items.toReversed() });
    };
    const { uids, error } = await streamed((s, call) => {
      if (call === 5) return restart(s, call);
      return call < 5 ? quiet(KEYS)(s, call) : turned(s);
    }, KEYSET);
    expect(uids).toEqual(KEYS.slice(0, 50));
    expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
  });

  it("is not asked for in parallel, nor on a guess", async () => {
    const { requests, uids } = await streamed(
      (s, call) => (s.skip === 40 && call < 30 ? raw(200, "<html>") : quiet(KEYS)(s, call)),
      { limits: { readers: 1 }, parts: { ...knowing(true, "keyset"), memory: memory(true, 100).of } },
    );
    expect(uids).toEqual(KEYS);
    const again = requests.findLastIndex((s) => s.skip === undefined && s.token === undefined);
    expect(again).toBeGreaterThan(5);
    expect(requests.slice(again).every((s) => s.skip === undefined)).toBe(true);
    expect(requests.slice(again)).toHaveLength(10);
  });
});
