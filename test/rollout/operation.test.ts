import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isEvidence,
  type OperationEvent,
  type OperationEvidence,
  promotionBlocker,
  reduceOperation,
  UNKNOWN_OPERATION,
} from "../../src/rollout/promotion.ts";

const EQUAL: OperationEvent = { kind: "compared", differs: false };
const DIFFERENT: OperationEvent = { kind: "compared", differs: true };
const FAILED: OperationEvent = { kind: "failed", failure: "platform" };
const REQUEST = requestAt(1);
const ALL = { sample: 1, differencesBelow: 0.01, late: false };

function requestAt(sample: number): OperationEvent {
  return { kind: "request", sample };
}

function given(...events: readonly (readonly [number, OperationEvent])[]): OperationEvidence {
  let evidence = UNKNOWN_OPERATION;
  for (const [count, event] of events) for (let n = 0; n < count; n++) evidence = reduceOperation(evidence, event);
  return evidence;
}

function whyNot(sample: number, ...events: readonly (readonly [number, OperationEvent])[]): string | undefined {
  const sampled = events.map(([count, event]) => [count, event === REQUEST ? requestAt(sample) : event] as const);
  return promotionBlocker(given(...sampled), { ...ALL, sample })?.why;
}

describe("how often", () => {
  test("an operation that is asked for often needs twenty comparisons, and no more however often it is", () => {
    expect(whyNot(1, [1_000_000, REQUEST], [19, EQUAL])).toBe("too-few");
    expect(whyNot(1, [1_000_000, REQUEST], [20, EQUAL])).toBeUndefined();
    expect(whyNot(0.01, [100_000, REQUEST], [19, EQUAL])).toBe("too-few");
  });

  test("one that is asked for less needs half of the comparisons that the sample lets expect", () => {
    expect(whyNot(1, [12, REQUEST], [5, EQUAL])).toBe("too-few");
    expect(whyNot(1, [12, REQUEST], [6, EQUAL])).toBeUndefined();
    expect(whyNot(0.1, [100, REQUEST], [4, EQUAL])).toBe("too-few");
    expect(whyNot(0.1, [100, REQUEST], [5, EQUAL])).toBeUndefined();
  });

  test("one that was asked for once and never compared does not move, whatever the sample", () => {
    expect(whyNot(0.001, [1, REQUEST])).toBe("too-few");
    expect(whyNot(0.001, [1, REQUEST], [1, EQUAL])).toBeUndefined();
    expect(whyNot(1, [0, REQUEST])).toBe("too-few");
  });

  test("one that comes when its rule has moved needs all twenty, however seldom it is asked for", () => {
    const late = { ...ALL, late: true };
    expect(promotionBlocker(given([1, REQUEST], [19, EQUAL]), late)).toMatchObject({ why: "too-few", needed: 20 });
    expect(promotionBlocker(given([1, REQUEST], [20, EQUAL]), late)).toBeUndefined();
  });

  test("more requests never make an operation move", () => {
    const count = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(
        count,
        count,
        fc.integer({ min: 0, max: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (requests, more, compared, sample) => {
          const fewer = whyNot(sample, [requests, REQUEST], [compared, EQUAL]);
          if (fewer !== undefined) expect(whyNot(sample, [requests + more, REQUEST], [compared, EQUAL])).toBe(fewer);
        },
      ),
    );
  });
});

describe("how well", () => {
  test("an operation of which more than a tenth could not be compared does not move", () => {
    expect(whyNot(1, [60, FAILED])).toBe("failures");
    expect(whyNot(1, [27, EQUAL], [3, FAILED])).toBeUndefined();
    expect(whyNot(1, [27, EQUAL], [4, FAILED])).toBe("failures");
    expect(promotionBlocker(given([2, REQUEST], [3, FAILED]), ALL)).toEqual({
      why: "failures",
      requests: 2,
      compared: 0,
      differences: 0,
      failures: 3,
      needed: 1,
      failure: "platform",
    });
  });

  test.each(["platform", "timeout", "unreachable", "unreadable", "too-large", "not-comparable", "internal"] as const)(
    "%s was tried and could not be shown right",
    (failure) => {
      expect(isEvidence({ kind: "failed", failure })).toBe(true);
      expect(whyNot(1, [20, EQUAL], [20, { kind: "failed", failure }])).toBe("failures");
    },
  );

  test.each(["busy", "memory", "native", "refused", "gone", "overtaken", "overloaded", "old-http", "closed"] as const)(
    "%s says nothing, for or against",
    (failure) => {
      const before = given([20, EQUAL]);
      expect(reduceOperation(before, { kind: "failed", failure })).toBe(before);
      expect(whyNot(1, [500, { kind: "failed", failure }])).toBe("too-few");
    },
  );

  test("what is wrong in one operation is not made up for by others: more than a tenth that differs holds it", () => {
    expect(whyNot(1, [18, EQUAL], [2, DIFFERENT])).toBeUndefined();
    expect(whyNot(1, [17, EQUAL], [3, DIFFERENT])).toBe("differences");
  });

  test("a rule that allows more differences than that allows them here too", () => {
    const evidence = given([15, EQUAL], [5, DIFFERENT]);
    expect(promotionBlocker(evidence, { ...ALL, differencesBelow: 0.3 })).toBeUndefined();
    expect(promotionBlocker(evidence, { ...ALL, differencesBelow: 0.2 })?.why).toBe("differences");
  });
});

describe("ageing", () => {
  test.each([
    ["an outage", FAILED, "failures"],
    ["what was wrong before it was mended", DIFFERENT, "differences"],
  ])("%s is forgotten after two halves", (_, event, why) => {
    expect(whyNot(1, [1_000, event], [100, EQUAL])).toBeUndefined();
    expect(whyNot(1, [1_050, event], [120, EQUAL])).toBe(why);
    expect(whyNot(1, [1_050, event], [200, EQUAL])).toBeUndefined();
  });

  test("enough stays enough when a half is forgotten", () => {
    let evidence = given([1_000, REQUEST], [20, EQUAL]);
    for (let n = 0; n < 1_000; n++) {
      evidence = reduceOperation(evidence, EQUAL);
      expect(promotionBlocker(evidence, ALL)).toBeUndefined();
    }
  });

  test("it takes no more memory however much happens", () => {
    expect(JSON.stringify(given([5_000, REQUEST], [5_000, EQUAL], [5_000, FAILED])).length).toBeLessThan(250);
  });
});
