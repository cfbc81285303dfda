import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { type Breaker, createBreaker } from "../../src/upstream/breaker.ts";
import { figure } from "../support/figures.ts";
import { fakeClock, settled } from "./clock.ts";

/** A breaker, what it tells, and when its upstream was asked; `open` fails until it has asked in vain. */
function subject(random = 0.5) {
  const clock = fakeClock(1_000);
  const turns: string[] = [];
  const asked: { at: number; end: (said: boolean) => Promise<void> }[] = [];
  const breaker = createBreaker({
    now: clock.now,
    random: () => random,
    later: clock.later,
    probe: () =>
      new Promise((resolve) => {
        const end = (said: boolean) => {
          resolve(said);
          return settled();
        };
        asked.push({ at: clock.now(), end });
      }),
    turned: (open, { failures, ms }) => turns.push(`${open ? "open" : "closed"} ${failures} ${ms}`),
  });
  const { pass } = clock;
  const fail = () => breaker.failed(clock.now());
  return {
    breaker,
    turns,
    asked,
    pass,
    fail,
    open: async () => {
      const before = asked.length;
      for (let i = 0; asked.length === before && i < 1_000; i++) {
        fail();
        if (asked.length === before) await pass(250);
      }
      await asked.at(-1)?.end(false);
    },
  };
}

function refusal(breaker: Breaker): Problem {
  const said = breaker.begin();
  if (said instanceof Problem) return said;
  throw new Error("it went out");
}

describe("a breaker opens", () => {
  it("after ten failures in a row over two seconds and a question in vain, not before", async () => {
    const { breaker, turns, asked, pass, fail } = subject();
    for (let i = 0; i < 9; i++) fail();
    await pass(5_000);
    expect(asked).toEqual([]);
    fail();
    expect(asked.map(({ at }) => at)).toEqual([6_000]);
    expect(breaker.begin()).toBe(6_000);
    await asked[0]?.end(false);
    expect(refusal(breaker)).toMatchObject({ reason: "UPSTREAM_UNAVAILABLE", http: 503, retryAfter: 1, metadata: {} });
    expect(turns).toEqual(["open 10 5000"]);
  });

  it("for no burst, however many fail in it", async () => {
    const { asked, pass, fail } = subject();
    for (let i = 0; i < 1_000; i++) fail();
    await pass(1_999);
    fail();
    expect(asked.length).toBe(0);
    await pass(1);
    fail();
    expect(asked.length).toBe(1);
  });

  it("when calls that began long ago time out together, unless one was answered meanwhile", async () => {
    const hung = subject();
    await hung.pass(15_000);
    for (let i = 0; i < 10; i++) hung.breaker.failed(1_000);
    expect(hung.asked.length).toBe(1);
    const answered = subject();
    await answered.pass(14_000);
    answered.breaker.answered();
    await answered.pass(1_000);
    for (let i = 0; i < 10; i++) answered.breaker.failed(1_000);
    expect(answered.asked.length).toBe(0);
  });

  it("never while somebody answers the question, whatever calls fail: one service that is down shuts nobody out", async () => {
    const { breaker, turns, asked, pass, fail } = subject();
    for (let i = 0; i < 1_000; i++) {
      fail();
      await pass(100);
      expect(breaker.isOpen()).toBe(false);
      if (asked.length > 0) await asked.at(-1)?.end(true);
    }
    expect(turns).toEqual([]);
    // Nor is the upstream asked for each of them.
    expect(asked.length).toBeLessThanOrEqual(51);
  });

  it("never when a call is answered while the question is out", async () => {
    const { breaker, turns, asked, pass, fail } = subject();
    for (let i = 0; i < 9; i++) fail();
    await pass(5_000);
    fail();
    fail();
    breaker.answered();
    await asked[0]?.end(false);
    expect([breaker.isOpen(), turns, asked.length]).toEqual([false, [], 1]);
  });
});

describe("an open breaker", () => {
  it("asks by itself after a second, then after two, then every four, and lets no call out", async () => {
    const { breaker, asked, pass, open } = subject();
    await open();
    const opened = asked.at(-1)?.at ?? 0;
    for (let ms = 0; ms < 20_000; ms += 10) {
      expect(breaker.begin()).toBeInstanceOf(Problem);
      await pass(10);
    }
    expect(asked.slice(1).map(({ at }) => at - opened)).toEqual([1_000, 3_000, 7_000, 11_000, 15_000, 19_000]);
  });

  it("spreads its questions by a fifth, and says when to come back", async () => {
    for (const [random, ms] of [
      [0, 800],
      [0.999_999, 1_200],
    ] as const) {
      const { breaker, asked, pass, open } = subject(random);
      await open();
      expect(refusal(breaker).retryAfter).toBe(ms > 1_000 ? 2 : 1);
      await pass(ms - 1);
      expect(asked.length).toBe(1);
      await pass(1);
      expect(asked.length).toBe(2);
    }
  });

  it("stays open while questions end in vain or not at all, and is closed by the first answer", async () => {
    const { breaker, turns, asked, pass, open } = subject();
    await open();
    await pass(10_000);
    await asked[1]?.end(false);
    expect(breaker.isOpen()).toBe(true);
    // The third hangs; the fourth does not.
    await asked[3]?.end(true);
    expect(Array.from({ length: 100 }, () => typeof breaker.begin())).toEqual(Array(100).fill("number"));
    expect(turns).toEqual(["open 10 2250", "closed 10 12250"]);
    await pass(60_000);
    expect(asked.length).toBe(4);
  });

  it("is closed by the answer to a call that went out before", async () => {
    const { breaker, turns, open } = subject();
    await open();
    breaker.answered();
    expect([breaker.isOpen(), turns.length]).toEqual([false, 2]);
  });

  it("begins with short pauses again after it was closed", async () => {
    const { asked, pass, open } = subject();
    await open();
    await pass(60_000);
    await asked.at(-1)?.end(true);
    await open();
    const { length } = asked;
    await pass(1_000);
    expect(asked.length).toBe(length + 1);
  });

  it("asks no more once it is given up", async () => {
    const { breaker, asked, pass, open } = subject();
    await open();
    breaker.close();
    await pass(60_000);
    expect(asked.length).toBe(1);
  });
});

describe("T-FLT-25: an upstream that flaps, a second up and a second down", () => {
  it("is never shut out: it is over before the breaker believes it", async () => {
    const { breaker, asked, pass, fail } = subject();
    const seen = { up: 0, refused: 0 };
    for (let ms = 0; ms < 60_000; ms += 5) {
      const up = Math.floor(ms / 1_000) % 2 === 0;
      const began = breaker.begin();
      if (up) seen.up++;
      if (up && typeof began !== "number") seen.refused++;
      if (typeof began === "number" && up) breaker.answered();
      if (typeof began === "number" && !up) fail();
      await pass(5);
    }
    expect(seen).toEqual({ up: 6_000, refused: 0 });
    expect(asked).toEqual([]);
    figure("T-FLT-25", "calls refused while the upstream was up, 30 times a second each way", seen.refused, "calls");
  });
});
