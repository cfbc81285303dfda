import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../../src/upstream/adaptive-limits.ts";

function subject({ start = 4, max = 32 } = {}) {
  const clock = { now: 1_000_000 };
  return { clock, limit: createConcurrencyLimit({ start, max, now: () => clock.now }) };
}

/** `inFlight` calls begin together and are all answered well. */
function round(limit: ConcurrencyLimit, inFlight = limit.value()): void {
  const calls = Array.from({ length: inFlight }, (_, i) => limit.begin(i + 1));
  for (const call of calls) limit.succeed(call);
}

describe("the limit", () => {
  it("doubles with each clean round up to its greatest", () => {
    const { limit } = subject();
    const seen = [4, 8, 16, 32, 32].map(() => {
      const value = limit.value();
      round(limit);
      return value;
    });
    expect(seen).toEqual([4, 8, 16, 32, 32]);
  });

  it("takes as many answers as it is high before it grows", () => {
    const { limit } = subject();
    const calls = [1, 2, 3, 4].map((inFlight) => limit.begin(inFlight));
    for (const call of calls.slice(1)) limit.succeed(call);
    expect(limit.value()).toBe(4);
    limit.succeed(calls[0] ?? 0);
    expect(limit.value()).toBe(8);
  });

  it("does not grow while it is not reached: that proves nothing about more", () => {
    const { limit } = subject();
    for (let i = 0; i < 20; i++) round(limit, 3);
    expect(limit.value()).toBe(4);
    round(limit, 4);
    expect(limit.value()).toBe(8);
  });

  it("halves at a setback, and grows by one a round afterwards", () => {
    const { limit } = subject();
    round(limit);
    limit.setBack(limit.begin(8), 8);
    expect(limit.value()).toBe(4);
    round(limit);
    expect(limit.value()).toBe(5);
    round(limit);
    expect(limit.value()).toBe(6);
  });

  it("halves once for all calls of a round trip, and learns nothing good of them either", () => {
    const { limit } = subject();
    round(limit);
    const calls = Array.from({ length: 8 }, (_, i) => limit.begin(i + 1));
    for (const call of calls.slice(0, 4)) limit.setBack(call, 8);
    for (const call of calls.slice(4)) limit.succeed(call);
    expect(limit.value()).toBe(4);
    limit.setBack(limit.begin(4), 4);
    expect(limit.value()).toBe(2);
  });

  it("never falls below one", () => {
    const { limit } = subject();
    for (let i = 0; i < 20; i++) limit.setBack(limit.begin(1), 1);
    expect(limit.value()).toBe(1);
  });

  it("comes back from one", () => {
    const { limit } = subject();
    for (let i = 0; i < 20; i++) limit.setBack(limit.begin(1), 1);
    for (let i = 0; i < 40; i++) round(limit);
    expect(limit.value()).toBe(32);
  });

  it("binds at once, when much fewer calls were under way than it allows", () => {
    const { limit } = subject();
    for (let i = 0; i < 3; i++) round(limit);
    expect(limit.value()).toBe(32);
    limit.setBack(limit.begin(6), 6);
    expect(limit.value()).toBe(3);
  });

  it("does not fall to one for a hiccup while one call was under way", () => {
    const { limit } = subject();
    limit.setBack(limit.begin(1), 1);
    expect(limit.value()).toBe(2);
  });

  it("doubles again when it was quiet for half a minute", () => {
    const { limit, clock } = subject();
    round(limit);
    limit.setBack(limit.begin(8), 8);
    clock.now += 29_999;
    round(limit);
    expect(limit.value()).toBe(5);
    clock.now += 1;
    round(limit);
    expect(limit.value()).toBe(10);
  });

  it("begins no higher than its greatest", () => {
    expect(subject({ start: 4, max: 2 }).limit.value()).toBe(2);
  });

  it("stays between one and its greatest, whatever comes", () => {
    const event = fc.record({ good: fc.boolean(), back: fc.nat(5), inFlight: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(event, { maxLength: 80, size: "max" }), (max, events) => {
        const { limit } = subject({ max });
        const calls: number[] = [];
        for (const { good, back, inFlight } of events) {
          calls.push(limit.begin(inFlight));
          const call = calls.at(-1 - back) ?? 1;
          const before = limit.value();
          if (good) limit.succeed(call);
          else limit.setBack(call, inFlight);
          expect(limit.value()).toBeGreaterThanOrEqual(1);
          expect(limit.value()).toBeLessThanOrEqual(max);
          if (good) expect(limit.value()).toBeGreaterThanOrEqual(before);
          else expect(limit.value()).toBeLessThanOrEqual(before);
        }
      }),
    );
  });
});
