import { describe, expect, test } from "vitest";
import {
  initialStepBack,
  recentClients,
  reduceStepBack,
  type StepBack,
  type StepBackConfig,
  translatedShare,
} from "../../src/rollout/step-back.ts";
import { caller } from "./caller.ts";

const MINUTE = 60_000;
const SETTINGS: StepBackConfig = {
  failures: 0.02,
  differences: 0.001,
  minRequests: 200,
  minComparisons: 20,
  minClients: 3,
  window: 5 * MINUTE,
  returnAfter: 10 * MINUTE,
  named: undefined,
};

function requests(state: StepBack, count: number, facts: { at: number; failed?: boolean; clients?: number }): StepBack {
  const { at, failed = false, clients = 5 } = facts;
  return Array.from({ length: count }).reduce<StepBack>(
    (now, _, n) => reduceStepBack(now, { kind: "request", at, who: caller(`c${n % clients}`), failed }),
    state,
  );
}

function comparisons(
  state: StepBack,
  count: number,
  facts: { at: number; differs?: boolean; clients?: number },
): StepBack {
  const { at, differs = false, clients = 5 } = facts;
  return Array.from({ length: count }).reduce<StepBack>(
    (now, _, n) => reduceStepBack(now, { kind: "compared", at, who: caller(`c${n % clients}`), differs }),
    state,
  );
}

const tick = (state: StepBack, at: number): StepBack => reduceStepBack(state, { kind: "tick", at });
const start = (over: Partial<StepBackConfig> = {}): StepBack => initialStepBack({ ...SETTINGS, ...over });
/** Stepped back at 0. */
const back = (over: Partial<StepBackConfig> = {}): StepBack => requests(start(over), 200, { at: 0, failed: true });

describe("stepping back", () => {
  test("more failures than the threshold, of enough requests and clients, step back", () => {
    const quiet = requests(start(), 196, { at: 0 });
    const at = requests(quiet, 4, { at: 1, failed: true });
    expect(at.phase.kind).toBe("forward");
    const over = requests(at, 1, { at: 2, failed: true });
    expect(over.phase).toMatchObject({ kind: "back", cause: { what: "failures", bad: 5, all: 201, clients: 3 } });
    expect(over.stepBacks).toBe(1);
    expect(translatedShare(over)).toBe(0);
  });

  test("a row that is always wrong is found within twenty comparisons, though two hundred requests were asked for", () => {
    const before = comparisons(start(), 19, { at: 0, differs: true });
    expect(before.phase.kind).toBe("forward");
    expect(comparisons(before, 1, { at: 0, differs: true }).phase).toMatchObject({
      kind: "back",
      cause: { what: "differences", bad: 20, all: 20 },
    });
  });

  test("a share that is not looked at decides nothing", () => {
    expect(requests(start({ failures: undefined }), 1_000, { at: 0, failed: true }).phase.kind).toBe("forward");
    expect(comparisons(start({ differences: undefined }), 1_000, { at: 0, differs: true }).phase.kind).toBe("forward");
  });

  test("a translated request that ends after the step back changes nothing", () => {
    const state = back();
    const late = requests(state, 500, { at: 1, failed: true });
    expect(late.phase).toEqual(state.phase);
    expect(late.stepBacks).toBe(1);
  });
});

describe("returning", () => {
  test("after the quiet time a tenth is translated, then three tenths, then all, then it is forward", () => {
    let state = tick(back(), 10 * MINUTE - 1);
    expect(translatedShare(state)).toBe(0);
    const shares: number[] = [];
    for (const n of [1, 2, 3, 4]) {
      state = tick(state, n * 10 * MINUTE);
      shares.push(translatedShare(state));
      state = requests(state, 200, { at: n * 10 * MINUTE + 1 });
      expect(translatedShare(state)).toBe(shares.at(-1));
    }
    expect(shares).toEqual([0.1, 0.3, 1, 1]);
    expect(state.phase.kind).toBe("forward");
  });

  test("without a return time it stays back for ever", () => {
    const state = back({ returnAfter: undefined });
    expect(tick(state, 1e12).phase.kind).toBe("back");
  });

  test("a difference while it is back begins the quiet time again", () => {
    const differing = comparisons(back(), 3, { at: 9 * MINUTE, differs: true });
    expect(tick(differing, 18.9 * MINUTE).phase.kind).toBe("back");
    expect(tick(differing, 19 * MINUTE).phase.kind).toBe("returning");
    const equal = comparisons(back(), 50, { at: 9 * MINUTE });
    expect(tick(equal, 10 * MINUTE).phase.kind).toBe("returning");
  });

  test("one client alone cannot keep it back", () => {
    let state = back();
    for (let n = 1; n <= 30; n++) {
      state = reduceStepBack(state, { kind: "compared", at: (n * MINUTE) / 3, who: caller("loud"), differs: true });
    }
    expect(tick(state, 10 * MINUTE).phase.kind).toBe("returning");
  });

  test("differences that stay below the threshold do not keep it back", () => {
    const many = comparisons(back(), 1_000, { at: 9 * MINUTE });
    const one = comparisons(many, 1, { at: 9 * MINUTE, differs: true });
    expect(tick(one, 10 * MINUTE).phase.kind).toBe("returning");
  });

  test("what it stepped back on is not held against it a second time", () => {
    const fell = comparisons(start({ differences: 0.05 }), 20, { at: 0, differs: true });
    const mended = comparisons(comparisons(fell, 50, { at: MINUTE }), 1, { at: MINUTE, differs: true });
    expect(tick(mended, 10 * MINUTE - 1).phase.kind).toBe("back");
    expect(tick(mended, 10 * MINUTE).phase.kind).toBe("returning");
  });

  test("what differed while native answered does not end the first step, however long the window", () => {
    const differing = comparisons(back({ window: 60 * MINUTE }), 30, { at: MINUTE, differs: true });
    const first = tick(differing, 11 * MINUTE);
    expect(requests(first, 3, { at: 11 * MINUTE }).phase.kind).toBe("returning");
  });

  test("a step that too few requests met lasts longer, and not for ever", () => {
    const first = tick(back(), 10 * MINUTE);
    const few = requests(first, 19, { at: 11 * MINUTE });
    expect(translatedShare(tick(few, 20 * MINUTE))).toBe(0.1);
    expect(translatedShare(requests(few, 1, { at: 20 * MINUTE }))).toBe(0.3);
    expect(translatedShare(tick(few, 49.9 * MINUTE))).toBe(0.1);
    expect(translatedShare(tick(few, 50 * MINUTE))).toBe(0.3);
  });

  test("in the first step a tenth of the requests is enough to fall back, and the only client that is translated", () => {
    const first = tick(back(), 10 * MINUTE);
    const before = requests(first, 19, { at: 10 * MINUTE, failed: true, clients: 1 });
    expect(before.phase.kind).toBe("returning");
    expect(requests(before, 1, { at: 10 * MINUTE, failed: true, clients: 1 }).phase.kind).toBe("back");
  });

  test("while it returns one client among many cannot turn it back either, however often it fails", () => {
    const first = tick(back(), 10 * MINUTE);
    const many = requests(first, 20, { at: 10 * MINUTE, clients: 20 });
    const one = requests(many, 500, { at: 11 * MINUTE, failed: true, clients: 1 });
    expect(one.phase.kind).toBe("returning");
    expect(requests(one, 3, { at: 12 * MINUTE, failed: true, clients: 3 })).toMatchObject({ stepBacks: 2 });
  });

  test("a failure in a step, too few to fall back, begins the step's quiet time again", () => {
    const first = requests(tick(back(), 10 * MINUTE), 10, { at: 10 * MINUTE });
    const failed = requests(first, 1, { at: 15 * MINUTE, failed: true });
    const shown = requests(failed, 40, { at: 21 * MINUTE });
    expect(translatedShare(shown)).toBe(0.1);
    expect(translatedShare(tick(shown, 25 * MINUTE))).toBe(0.3);
  });

  test("clients of a step are counted on the rule's own clock, whatever the reading of the process's clock", () => {
    const began = 1_000 * MINUTE;
    const first = tick(requests(start(), 200, { at: began, failed: true }), began + 10 * MINUTE);
    expect(recentClients(requests(first, 20, { at: began + 10 * MINUTE, clients: 20 }))).toBe(3);
    expect(recentClients(requests(first, 20, { at: began + 10 * MINUTE, clients: 1 }))).toBe(1);
  });

  test("failures of v2 that its clients meet in a step begin the step's quiet time again", () => {
    const first = requests(tick(back(), 10 * MINUTE), 40, { at: 10 * MINUTE });
    const failing = reduceStepBack(first, { kind: "failing", at: 15 * MINUTE });
    expect(translatedShare(tick(failing, 24 * MINUTE))).toBe(0.1);
    expect(translatedShare(tick(failing, 25 * MINUTE))).toBe(0.3);
  });

  test("after failures of v2 the quiet time alone is not enough: v2 must respond to a comparison in it", () => {
    const counts = { bad: 10, all: 10, clients: 3, write: false, kinds: {}, pairs: { asked: 4, served: 4 } };
    const alarm = { kind: "alarm", at: 0, cause: { what: "guard", ...counts } } as const;
    const silent = reduceStepBack(start({ guard: { returnAfter: 10 * MINUTE } }), alarm);
    expect(tick(silent, 60 * MINUTE).phase.kind).toBe("back");
    const shown = comparisons(silent, 1, { at: 5 * MINUTE });
    expect(tick(shown, 10 * MINUTE - 1).phase.kind).toBe("back");
    expect(tick(shown, 10 * MINUTE).phase.kind).toBe("returning");
    const sick = reduceStepBack(shown, { kind: "sick", at: 6 * MINUTE });
    expect(tick(sick, 60 * MINUTE).phase.kind).toBe("back");
  });

  test("the wait doubles with each fall, up to sixteen times, and is short again after a long time forward", () => {
    let state = back();
    let at = 0;
    const waits: number[] = [];
    for (let fall = 0; fall < 7; fall++) {
      const fell = at;
      while (state.phase.kind === "back") {
        at += MINUTE;
        state = tick(state, at);
      }
      waits.push((at - fell) / MINUTE);
      state = requests(state, 20, { at, failed: true });
      expect(state.phase.kind).toBe("back");
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 160, 160]);
    while (state.phase.kind !== "forward") {
      at += 10 * MINUTE;
      state = requests(tick(state, at), 200, { at });
    }
    const soon = requests(state, 400, { at: at + 159 * MINUTE, failed: true });
    const late = requests(state, 400, { at: at + 160 * MINUTE, failed: true });
    expect([soon.factor, late.factor]).toEqual([16, 1]);
  });
});
