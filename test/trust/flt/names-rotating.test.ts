import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createAddressWatch } from "../../../src/upstream/certificate-renewal.ts";
import type { Pool } from "../../../src/upstream/pool.ts";
import { figure } from "../../support/figures.ts";

/** Looks in an hour, at one every 15 s. */
const HOUR = 240;
/** Looks within which any move is followed. */
const BOUND = 40;

/** What the name gives when it is asked at a time (in looks) for the `question`th time. */
type Answer = (at: number, question: number) => readonly string[];

/** After which of `looks` looks at a name connections are renewed. Between two looks up to two are made to what it then gives. */
async function renewals(looks: number, answer: Answer): Promise<readonly number[]> {
  const renewed: number[] = [];
  const used = new Set<string>();
  let [at, questions] = [0, 0];
  let run: () => void = () => {};
  const pool = { hostname: "platform.test", addresses: () => used, renew: () => used.clear() };
  const names = createAddressWatch({
    lookup: (_hostname, _options, callback) =>
      callback(
        null,
        answer(at, questions++).map((address) => ({ address, family: 4 })),
      ),
    later: (_ms, look) => {
      run = look;
      return () => {};
    },
    everyMs: 15_000,
    moved: () => renewed.push(at),
  });
  names.add(pool as unknown as Pool);
  names.start();
  for (; at < looks; at++) {
    for (let i = 0; i < (at + 1) % 3; i++) used.add(answer(at - 0.5, questions++)[0] ?? "");
    run();
    await turn();
  }
  names.close();
  return renewed;
}

/** `count` of `of` addresses, the next ones at every question. */
const inTurn = (count: number, of: number, net = "10.0.0"): Answer => {
  return (_, question) => Array.from({ length: count }, (_, i) => `${net}.${(question * count + i) % of}`);
};

/** `count` of `of` addresses, any at every question; a small generator of its own, so that each run is the same. */
function atRandom(count: number, of: number): Answer {
  let seed = 42;
  const draw = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * of);
  };
  return () => Array.from({ length: count }, () => `10.0.0.${draw()}`);
}

/** One until shortly before the look `at`, and then the other. */
const until = (at: number, first: Answer, second: Answer): Answer => {
  return (now, question) => (now < at - 0.6 ? first : second)(now, question);
};

describe("T-FLT-16: a name that gives some of its addresses, others each time", () => {
  it.each<[string, Answer, number]>([
    ["one of eight, in turn", inTurn(1, 8), 1],
    ["three of twelve, in turn", inTurn(3, 12), 1],
    ["eight of thirty, in turn", inTurn(8, 30), 1],
    ["one of eight, at random", atRandom(1, 8), 3],
    ["three of twelve, at random", atRandom(3, 12), 2],
  ])("(%s) is found out, and its connections are left alone", async (name, answer, most) => {
    const renewed = await renewals(HOUR, answer);
    figure("T-FLT-16", `renewals of connections in an hour, for a name that gives ${name}`, renewed.length, "renewals");
    expect(renewed.length).toBeLessThanOrEqual(most);
  });

  it("costs a renewal every ten minutes at most, however many they are", async () => {
    for (const answer of [inTurn(1, 200), atRandom(1, 200), (_: number, question: number) => [`fd00::${question}`]]) {
      const renewed = await renewals(HOUR, answer);
      for (const [i, look] of renewed.entries())
        expect(look - (renewed[i - 1] ?? -BOUND)).toBeGreaterThanOrEqual(BOUND);
    }
  });

  it("is followed at once to addresses that it has never given", async () => {
    // Before this look there is no connection: nothing but its answer tells.
    const renewed = await renewals(HOUR, until(101, inTurn(1, 8), inTurn(1, 8, "10.9.9")));
    expect(renewed.slice(1)).toEqual([101]);
  });

  it(`is followed within ${BOUND} looks when it gives one of them no more`, async () => {
    const renewed = await renewals(HOUR, until(100, inTurn(1, 8), inTurn(1, 7)));
    expect(renewed.slice(1)).toEqual([expect.toSatisfy((look) => look > 100 && look <= 100 + BOUND)]);
  });
});

describe("T-FLT-16: a name that gives the same each time", () => {
  const [one, other, third, both] = [["10.0.0.1"], ["10.0.0.2"], ["10.0.0.3"], ["10.0.0.1", "10.0.0.2"]] as const;

  it.each([
    ["another address", one, other],
    ["one address less", both, other],
  ])("is followed at once to %s", async (_, before, after) => {
    const renewed = await renewals(
      HOUR,
      until(
        100,
        () => before,
        () => after,
      ),
    );
    expect(renewed).toEqual([100]);
  });

  it.each([
    ["back", one],
    ["to a third place", third],
  ])(`is followed within ${BOUND} looks when it moves on soon, %s`, async (_, last) => {
    const moves = until(
      110,
      until(
        100,
        () => one,
        () => other,
      ),
      () => last,
    );
    const renewed = await renewals(HOUR, moves);
    expect(renewed[0]).toBe(100);
    expect(renewed.slice(1)).toEqual([expect.toSatisfy((look) => look >= 110 && look <= 110 + BOUND)]);
  });
});
