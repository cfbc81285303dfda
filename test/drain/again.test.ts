import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
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
