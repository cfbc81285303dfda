import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { settled } from "../upstream/clock.ts";
import { drained, keysOf, type Options, planOf, quiet, raw, stage, uidsOf } from "./simulator.ts";
import { holding, knowing, memory, SMALL } from "./stage.ts";

const KEYS = keysOf(100);
const WINDOWS = [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96];
const guessing = (count: number | undefined, heeds: boolean | undefined = true): Options => ({
  limits: SMALL,
  parts: { memory: memory(heeds, count).of },
});
const skips = (requests: readonly { readonly skip?: number }[]) =>
  requests.flatMap((s) => (s.skip === undefined ? [] : [s.skip]));

describe("a list that was long the last time", () => {
  it("is asked for in parallel together with its first page", async () => {
    const { served, open, most, flow } = holding(quiet(KEYS));
    const done = drained(served, guessing(100));
    await settled();
    expect(open.map((call) => call.selector.skip)).toEqual([undefined, 8, 16, 24]);
    await flow();
    const outcome = await done;
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(skips(outcome.requests)).toEqual(WINDOWS);
    expect(outcome.result).toMatchObject({ pages: 13, witness: "cover" });
    expect(outcome.notes).toEqual([]);
    expect(outcome.claims).toEqual({ taken: 1, released: 1 });
    expect(most.atOnce).toBeLessThanOrEqual(4);
  });

  it("has its slot before anything is asked for", async () => {
    const refused = new Problem("OVERLOADED", "no slot");
    const outcome = await drained(quiet(KEYS), {
      limits: SMALL,
      parts: {
        memory: memory(true, 100).of,
        claim: async () => {
          throw refused;
        },
      },
    });
    expect([outcome.problem, outcome.requests]).toEqual([refused, []]);
    expect(outcome.facts).toMatchObject([{ outcome: "overloaded", pages: 0 }]);
  });

  it("is remembered as long as it is now", async () => {
    for (const count of [101, 60, 400]) {
      const { of, told } = memory(true, 60);
      const outcome = await drained(quiet(keysOf(count)), { limits: SMALL, parts: { memory: of } });
      expect(uidsOf(outcome)).toEqual(keysOf(count));
      expect(told.at(-1)).toEqual(["count", "/list?size=10", count]);
    }
  });

  it("is remembered as of one page when it is, if it was guessed", async () => {
    for (const [count, told] of [
      [100, [["count", "/list?size=10", 5]]],
      [undefined, []],
    ] as const) {
      const remembered = memory(true, count);
      await drained(quiet(keysOf(5)), { limits: SMALL, parts: { memory: remembered.of } });
      expect(remembered.told).toEqual(told);
    }
  });

  it("is whole, whatever it has become", async () => {
    for (const remembered of [11, 25, 100, 500, 1000]) {
      for (const count of [0, 1, 9, 10, 11, 18, 19, 40, 99, 100, 101, 300]) {
        for (const cap of [200, 7, 3]) {
          const outcome = await drained(quiet(keysOf(count), "keyset", cap), guessing(remembered));
          expect(uidsOf(outcome)).toEqual(keysOf(count));
          expect(outcome.result).toMatchObject({ witness: "cover" });
          expect(outcome.notes).toEqual([]);
        }
      }
    }
  });

  it("is read as many pages at a time as its length asks for, however short it was", async () => {
    const { served, open, most, flow } = holding(quiet(KEYS));
    const listed = drained(served, guessing(25));
    await flow();
    expect(uidsOf(await listed)).toEqual(KEYS);
    expect([most.atOnce, open.length]).toEqual([4, 0]);
  });

  it("costs a bounded number of requests more when it is shorter, or its pages are", async () => {
    const short = await drained(quiet(keysOf(5)), guessing(1000));
    expect(short.requests.length).toBeLessThanOrEqual(1 + 8);
    const capped = await drained(quiet(KEYS, "keyset", 7), guessing(1000));
    const plain = await drained(quiet(KEYS, "keyset", 7), guessing(undefined));
    expect(capped.requests.length).toBeLessThanOrEqual(plain.requests.length + 8);
  });

  it("stops what was guessed when its first page is refused, or all there is", async () => {
    for (const [first, expected] of [
      [raw(403, "{}"), "refused"],
      [undefined, "list"],
    ] as const) {
      const { served, open } = holding(quiet(keysOf(5)));
      const done = drained(served, guessing(100));
      await settled();
      const isFirst = (call: (typeof open)[number]) => call.selector.skip === undefined;
      while (!open.some(isFirst)) await open[0]?.answer();
      await open.find(isFirst)?.answer(first);
      const outcome = await done;
      expect(outcome.result?.kind).toBe(expected);
      await settled();
      expect(open).toEqual([]);
      expect(outcome.claims).toEqual({ taken: 1, released: 1 });
    }
  });

  it("stops what was guessed when it is of no use, before other calls take its place", async () => {
    const { served, open, most, flow } = holding(quiet(KEYS, "keyset", 7));
    const done = drained(served, guessing(1000));
    await settled();
    const isFirst = (call: (typeof open)[number]) => call.selector.skip === undefined;
    while (!open.some(isFirst)) await open[0]?.answer();
    await open.find(isFirst)?.answer();
    await settled();
    // Pages of seven records, with an overlap of two.
    expect(open.map((call) => (call.selector.skip ?? 0) % 5)).toEqual([0, 0, 0, 0]);
    await flow();
    expect(uidsOf(await done)).toEqual(KEYS);
    expect(most.atOnce).toBe(4);
  });

  it("is guessed anew when its first page could not be read, and nothing of the first guess is left", async () => {
    const { served, open, flow } = holding(quiet(KEYS));
    const done = drained(served, guessing(100));
    await settled();
    await open[0]?.answer(raw(200, "<html>"));
    await settled();
    expect(open.map((call) => call.selector.skip)).toEqual([undefined, 8, 16, 24]);
    await flow();
    const outcome = await done;
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.claims).toEqual({ taken: 1, released: 1 });
  });

  it("is read as it is found when it has no use for windows any more", async () => {
    // Longer than windows may be by now: segments.
    const limits = { ...SMALL, windowRecords: 60 };
    const grown = await drained(quiet(KEYS), { limits, parts: { memory: memory(true, 60).of } });
    expect(uidsOf(grown)).toEqual(KEYS);
    expect(grown.requests.some((s) => s.token !== undefined)).toBe(true);
    // Out of order: its cursor.
    const turned = await drained(quiet(KEYS.toReversed(), "offset"), guessing(100));
    expect(uidsOf(turned)).toEqual(KEYS.toReversed());
    expect(turned.requests.filter((s) => s.token !== undefined)).toHaveLength(9);
    // No more than were under way when the first page came.
    expect(skips(turned.requests).length).toBeLessThanOrEqual(4);
  });
});

describe("nothing is guessed", () => {
  /** How many windows are asked for before anything is known. */
  async function guesses(options: Options): Promise<number> {
    const { served, open, flow } = holding(quiet(KEYS));
    const done = drained(served, options);
    await settled();
    expect(open[0]?.selector).toEqual({ size: 10 });
    const asked = open.length - 1;
    await flow();
    expect(uidsOf(await done)).toEqual(KEYS);
    return asked;
  }

  it("of a list that nothing is known of", async () => {
    expect(await guesses(guessing(undefined))).toBe(0);
    expect(await guesses(guessing(100))).toBe(3);
  });

  it("while it is not known that skip works", async () => {
    for (const heeds of [undefined, false]) {
      const parts = { memory: memory(heeds, 100).of };
      expect(await guesses({ limits: SMALL, parts })).toBe(0);
    }
  });

  it("of a list that was of one page, or longer than windows may be", async () => {
    expect(await guesses(guessing(10))).toBe(0);
    expect(await guesses(guessing(1000))).toBe(3);
    expect(await guesses(guessing(1001))).toBe(0);
  });

  it("of a list without an order", async () => {
    expect(await guesses({ ...guessing(100), plan: planOf(false) })).toBe(0);
  });

  it("of another list of the same resource", async () => {
    const asked: string[] = [];
    const of = { ...memory(true).of, countOf: (target: string) => void asked.push(target) };
    await stage(quiet(KEYS), { limits: SMALL, parts: { memory: of } }).drain(planOf());
    expect(new Set(asked)).toEqual(new Set(["/list?size=10"]));
  });

  it("twice: a list that failed is guessed again only while none of it was sent", async () => {
    const outcome = await drained(
      (s, call) => (s.skip === 40 && call < 12 ? raw(200, "<html>") : quiet(KEYS)(s, call)),
      { limits: { ...SMALL, readers: 1 }, parts: { ...knowing(true), memory: memory(true, 100).of } },
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.claims).toEqual({ taken: 1, released: 1 });
  });
});
