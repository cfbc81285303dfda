import { describe, expect, it } from "vitest";
import { createLatencyJudge, type LatencyJudge } from "../../../src/upstream/adaptive-limits.ts";

/** Answers that take `ms` each (or as the function says), `count` of them; at which of them the limit was to be halved. */
function halvings(
  latency: LatencyJudge,
  count: number,
  ms: number | ((i: number) => number),
  limit = 8,
): readonly number[] {
  const found: number[] = [];
  for (let i = 1; i <= count; i++) {
    if (latency.judge(typeof ms === "number" ? ms : ms(i), limit) === "halve") found.push(i);
  }
  return found;
}

/** One that has seen 200 answers of 20 ms. */
function settled(): LatencyJudge {
  const latency = createLatencyJudge();
  halvings(latency, 200, 20);
  return latency;
}

describe("answers that take longer than they did", () => {
  it("halve the limit after two for each call that may be under way", () => {
    expect(halvings(settled(), 16, 100, 8)).toEqual([16]);
    expect(halvings(settled(), 64, 100, 32)).toEqual([64]);
  });

  it("are slow one by one before, so that the limit does not grow meanwhile", () => {
    const latency = settled();
    expect([latency.judge(20, 8), latency.judge(100, 8)]).toEqual(["usual", "slow"]);
  });

  it("halve it again as long as that helps", () => {
    const latency = settled();
    expect(halvings(latency, 16, 400, 8)).toEqual([16]);
    expect(halvings(latency, 8, 200, 4)).toEqual([8]);
    expect(halvings(latency, 8, 100, 2)).toEqual([8]);
    expect(halvings(latency, 100, 50, 1)).toEqual([]);
  });

  it("are the new usual when halving did not help: it was no queue", () => {
    const latency = settled();
    expect(halvings(latency, 16, 200, 8)).toEqual([16]);
    expect(halvings(latency, 500, 200, 4)).toEqual([]);
    expect(latency.judge(200, 4)).toBe("usual");
  });

  it("halve it again when they are slow once more after they were quick", () => {
    const latency = settled();
    expect(halvings(latency, 16, 200, 8)).toEqual([16]);
    expect(halvings(latency, 50, 20, 4)).toEqual([]);
    expect(halvings(latency, 8, 200, 4)).toEqual([8]);
  });

  it("never halve a limit of one", () => {
    expect(halvings(settled(), 500, 400, 1)).toEqual([]);
  });
});

describe("what is no reason", () => {
  it.each([
    ["twice as long, but by less than 50 ms", 60],
    ["longer by 50 ms, but not twice as long", 350],
  ])("%s", (_, ms) => {
    const latency = createLatencyJudge();
    halvings(latency, 200, ms === 60 ? 20 : 200);
    expect(halvings(latency, 300, ms)).toEqual([]);
  });

  it("a pause that all calls under way waited for, however long", () => {
    const latency = settled();
    for (let pause = 0; pause < 10; pause++) {
      expect(halvings(latency, 8, 10_000)).toEqual([]);
      expect(halvings(latency, 20, 20)).toEqual([]);
    }
  });

  it("every second page being long", () => {
    expect(halvings(settled(), 2_000, (i) => (i % 2 === 0 ? 20 : 300))).toEqual([]);
  });

  it("a first answer that took very long, or very short", () => {
    for (const first of [5_000, 0.1]) {
      const latency = createLatencyJudge();
      latency.judge(first, 4);
      expect(halvings(latency, 1_000, 30, 4)).toEqual([]);
    }
  });

  it("one answer that came by chance at once, among long ones", () => {
    const latency = createLatencyJudge();
    halvings(latency, 200, 100);
    latency.judge(0.1, 8);
    expect(halvings(latency, 500, 100)).toEqual([]);
  });

  it("a platform that became slow for good, after it was noticed once", () => {
    const latency = settled();
    const found = halvings(latency, 5_000, (i) => 150 + (i % 7) * 10, 4);
    expect(found).toEqual([8]);
  });
});

it("what was usual is forgotten slowly: an hour of slowness is noticed to its end", () => {
  const latency = settled();
  // Half of the answers are slow: never a case, and the quick ones keep what is usual where it was.
  halvings(latency, 5_000, (i) => (i % 2 === 0 ? 20 : 300));
  expect(halvings(latency, 16, 300, 8)).toHaveLength(1);
});
