/** When does the breaker open, what does it let through while it is open, and what closes it? */
import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { type Breaker, createBreaker } from "../../src/upstream/breaker.ts";
import { figure } from "../support/figures.ts";

interface Subject {
  readonly breaker: Breaker;
  readonly turns: string[];
  pass(ms: number): void;
  /** A call that fails at once. */
  fail(place?: string): void;
  /** Fails until it has opened. */
  open(): void;
}

function subject(random = 0.5): Subject {
  let time = 1_000;
  const turns: string[] = [];
  const breaker = createBreaker({
    now: () => time,
    random: () => random,
    turned: (open, { failures, ms }) => turns.push(`${open ? "open" : "closed"} ${failures} ${ms}`),
  });
  const pass = (ms: number) => {
    time += ms;
  };
  const fail = (place?: string) => breaker.failed(time, place);
  return {
    breaker,
    turns,
    pass,
    fail,
    open: () => {
      while (!breaker.isOpen()) {
        fail();
        pass(250);
      }
    },
  };
}

function refusal(breaker: Breaker): Problem {
  const said = breaker.begin();
  if (said instanceof Problem) return said;
  throw new Error("it went out");
}

describe("a breaker opens", () => {
  it("after ten failures in a row over two seconds, not before", () => {
    const { breaker, turns, pass, fail } = subject();
    for (let i = 0; i < 9; i++) fail();
    pass(5_000);
    expect(breaker.begin()).toBe(6_000);
    fail();
    expect(refusal(breaker)).toMatchObject({ reason: "UPSTREAM_UNAVAILABLE", http: 503, retryAfter: 1, metadata: {} });
    expect(turns).toEqual(["open 10 5000"]);
  });

  it("for no burst, however many fail in it", () => {
    const { breaker, pass, fail } = subject();
    for (let i = 0; i < 1_000; i++) fail();
    pass(1_999);
    fail();
    expect(breaker.isOpen()).toBe(false);
    pass(1);
    fail();
    expect(breaker.isOpen()).toBe(true);
  });

  it("when calls that began long ago time out together, unless one was answered meanwhile", () => {
    const hung = subject();
    hung.pass(15_000);
    for (let i = 0; i < 10; i++) hung.breaker.failed(1_000, i % 2 === 0 ? "/a" : "/b");
    expect(hung.breaker.isOpen()).toBe(true);
    const answered = subject();
    answered.pass(14_000);
    answered.breaker.answered();
    answered.pass(1_000);
    for (let i = 0; i < 10; i++) answered.breaker.failed(1_000, i % 2 === 0 ? "/a" : "/b");
    expect(answered.breaker.isOpen()).toBe(false);
  });

  it("never while one call in ten thousand is answered", () => {
    const { breaker, pass, fail } = subject();
    for (let i = 0; i < 100_000; i++) {
      fail(`/${i}`);
      pass(0.19);
      if (i % 10_000 === 9_999) breaker.answered();
    }
    expect(breaker.isOpen()).toBe(false);
  });

  it("never for one place alone: it may be one tenant's, or one service's", () => {
    const { breaker, pass, fail } = subject();
    for (let i = 0; i < 1_000; i++) {
      fail("/iam/v2beta1/groups");
      pass(100);
    }
    expect(breaker.isOpen()).toBe(false);
    fail("/iam/v2beta1/roles");
    expect(breaker.isOpen()).toBe(true);
  });
});

describe("an open breaker", () => {
  it("lets one call through after a second, then after two, then every four", () => {
    const { breaker, pass, open } = subject();
    open();
    const gaps: number[] = [];
    let last = 0;
    for (let ms = 0; ms < 20_000; ms += 10) {
      if (typeof breaker.begin() === "number") {
        gaps.push(ms - last);
        last = ms;
      }
      pass(10);
    }
    // It had opened a quarter of a second before.
    expect(gaps).toEqual([750, 2_000, 4_000, 4_000, 4_000, 4_000]);
  });

  it("spreads these by a fifth, and says when to come back", () => {
    for (const [random, ms] of [
      [0, 800],
      [0.999_999, 1_200],
    ] as const) {
      const { breaker, pass, fail } = subject(random);
      for (let i = 0; i < 9; i++) fail();
      pass(2_000);
      fail();
      expect(refusal(breaker).retryAfter).toBe(ms > 1_000 ? 2 : 1);
      pass(ms - 1);
      expect(breaker.begin()).toBeInstanceOf(Problem);
      pass(1);
      expect(breaker.begin()).toBeTypeOf("number");
    }
  });

  it("stays open while those fail, and is closed by the first answer, whoever gets it", () => {
    const { breaker, turns, pass, fail, open } = subject();
    open();
    pass(10_000);
    expect(breaker.begin()).toBeTypeOf("number");
    fail();
    expect(breaker.begin()).toBeInstanceOf(Problem);
    breaker.answered();
    expect(Array.from({ length: 100 }, () => typeof breaker.begin())).toEqual(Array(100).fill("number"));
    expect(turns).toEqual(["open 10 2250", "closed 11 12500"]);
    fail();
    expect(breaker.isOpen()).toBe(false);
  });

  it("begins with short pauses again after it was closed", () => {
    const { breaker, pass, open } = subject();
    open();
    pass(60_000);
    breaker.begin();
    pass(60_000);
    breaker.begin();
    breaker.answered();
    open();
    pass(750);
    expect(breaker.begin()).toBeTypeOf("number");
  });
});

describe("T-FLT-25: an upstream that flaps, a second up and a second down", () => {
  it("is never shut out: it is over before the breaker believes it", () => {
    const { breaker, pass, fail } = subject();
    const seen = { up: 0, refused: 0 };
    for (let ms = 0; ms < 60_000; ms += 5) {
      const up = Math.floor(ms / 1_000) % 2 === 0;
      const began = breaker.begin();
      if (up) seen.up++;
      if (up && typeof began !== "number") seen.refused++;
      if (typeof began === "number" && up) breaker.answered();
      if (typeof began === "number" && !up) fail();
      pass(5);
    }
    expect(seen).toEqual({ up: 6_000, refused: 0 });
    figure("T-FLT-25", "calls refused while the upstream was up, 30 times a second each way", seen.refused, "calls");
  });
});
