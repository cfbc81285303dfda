import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallerIdentity, SLICES } from "../../src/rollout/evidence-window.ts";
import {
  initialStepBack,
  reduceStepBack,
  STEPS,
  type StepBack,
  type StepBackConfig,
  type StepBackEvent,
} from "../../src/rollout/step-back.ts";
import { caller } from "./caller.ts";

const R = 10_000;
const SETTINGS: StepBackConfig = {
  failures: 0.1,
  differences: 0.05,
  minRequests: 30,
  minComparisons: 20,
  minClients: 2,
  window: 1_000,
  returnAfter: R,
  named: undefined,
};

const label = ({ phase }: StepBack): string => (phase.kind === "returning" ? `step ${phase.step}` : phase.kind);

interface Run {
  readonly state: StepBack;
  /** Label before and after, and the state's own time. */
  readonly changes: readonly { readonly from: string; readonly to: string; readonly at: number }[];
}

function run(
  events: Iterable<StepBackEvent>,
  settings = SETTINGS,
  look?: (state: StepBack, event: StepBackEvent) => void,
) {
  let state = initialStepBack(settings);
  const changes: { from: string; to: string; at: number }[] = [];
  for (const event of events) {
    const next = reduceStepBack(state, event);
    if (label(next) !== label(state)) changes.push({ from: label(state), to: label(next), at: next.time.now });
    state = next;
    look?.(state, event);
  }
  return { state, changes } satisfies Run;
}

/** What the window holds, counted from a plain list of everything: the other way to know. */
function naive(history: readonly StepBackEvent[], now: number, settings: StepBackConfig) {
  const slice = settings.window / SLICES;
  const inside = history.filter(({ at }) => Math.floor(at / slice) > Math.floor(now / slice) - SLICES);
  const requests = inside.filter((event) => event.kind === "request");
  const failed = requests.filter((event) => event.failed);
  const compared = inside.filter((event) => event.kind === "compared");
  const differing = compared.filter((event) => event.differs);
  const met = (events: readonly { who: CallerIdentity }[]) =>
    Math.min(
      new Set(events.map(({ who }) => who.client)).size,
      new Set(events.flatMap(({ who }) => who.credential ?? [])).size,
    );
  const minClients = Math.min(settings.minClients, settings.named ?? settings.minClients);
  return (
    (requests.length >= settings.minRequests &&
      failed.length / requests.length > (settings.failures ?? 1) &&
      met(failed) >= minClients) ||
    (compared.length >= settings.minComparisons &&
      differing.length / compared.length > (settings.differences ?? 1) &&
      met(differing) >= minClients)
  );
}

/** Events with times that only grow; `bad`: share of them that fail or differ. */
const histories = fc
  .tuple(
    fc.constantFrom(0, 0.02, 0.05, 0.12, 0.5),
    fc.array(
      fc.record({
        after: fc.constantFrom(0, 0, 0, 1, 5, 20, 20, 90),
        of: fc.constantFrom("request", "request", "request", "compared", "tick"),
        client: fc.constantFrom("a", "a", "a", "b", "c"),
        credential: fc.constantFrom("k", "k", "k", "l", "m", undefined),
        roll: fc.noBias(fc.integer({ min: 0, max: 999 }).map((n) => n / 1000)),
      }),
      { size: "max", minLength: 100, maxLength: 600 },
    ),
  )
  .map(([bad, steps]): StepBackEvent[] => {
    let at = 0;
    return steps.map(({ after, of, client, credential, roll }): StepBackEvent => {
      at += after;
      const who = { client, credential };
      if (of === "request") return { kind: "request", at, who, failed: roll < bad };
      return of === "compared" ? { kind: "compared", at, who, differs: roll < bad } : { kind: "tick", at };
    });
  });

describe("stepping back", () => {
  test("it happens at the very event after which a plain count says so, and at no other", () => {
    const seen = { back: 0, not: 0 };
    fc.assert(
      fc.property(histories, fc.constantFrom(undefined, 1), (events, named) => {
        const settings = { ...SETTINGS, named };
        const history: StepBackEvent[] = [];
        let state = initialStepBack(settings);
        for (const event of events) {
          history.push({ ...event, at: event.at - (events[0]?.at ?? 0) });
          state = reduceStepBack(state, event);
          const over = naive(history, history.at(-1)?.at ?? 0, settings);
          expect(state.phase.kind).toBe(over ? "back" : "forward");
          if (over) {
            seen.back++;
            return;
          }
        }
        seen.not++;
      }),
      { numRuns: 150 },
    );
    expect(Math.min(seen.back, seen.not)).toBeGreaterThan(20);
  });

  test.each([
    ["step back when all of them are over the threshold", 11, "back"],
    ["never do while they are below the threshold of the least count", 3, "forward"],
  ])("events of one time, in any order, %s", (_name, failures, kind) => {
    const batch: StepBackEvent[] = Array.from({ length: 100 }, (_, n) => {
      return { kind: "request", at: 5, who: caller(`c${n % 7}`), failed: n < failures };
    });
    const shuffles = fc.shuffledSubarray(batch, { minLength: batch.length, maxLength: batch.length });
    fc.assert(fc.property(shuffles, (events) => void expect(run(events).state.phase.kind).toBe(kind)));
  });
});

/** A small generator of numbers from 0 to 1, the same every time. */
function chance(seed: number): () => number {
  let value = seed >>> 0;
  return () => {
    value = (Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((value ^ (value >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Traffic that answers to what the rule does: `bad` is asked before each event. */
function* live(length: number, step: number, bad: (at: number) => boolean, seed: number): Generator<StepBackEvent> {
  const random = chance(seed);
  for (let at = 0; at < length; at += step) {
    const who = caller(`c${Math.floor(random() * 9)}`);
    yield random() < 0.9
      ? { kind: "request", at, who, failed: bad(at) }
      : { kind: "compared", at, who, differs: bad(at) };
  }
}

/** Follows a rule with traffic that a wicked platform makes from what the rule does at present. */
function against(length: number, step: number, isBad: (state: StepBack, at: number) => boolean, seed: number): Run {
  let present = initialStepBack(SETTINGS);
  return run(
    live(length, step, (at) => isBad(present, at), seed),
    SETTINGS,
    (state) => {
      present = state;
    },
  );
}

const LONG = 120 * R;
/**
 * From one step back to the next at least `factor` quiet times pass, and to make it short again a rule must have stood three
 * steps and sixteen quiet times forward: so no more than this many in `time`, and at most five changes for each.
 */
const mostStepBacks = (time: number): number => Math.floor(3.125 + time / (8 * R));

function stepBacksOf(changes: Run["changes"]): readonly number[] {
  return changes.filter(({ to }) => to === "back").map(({ at }) => at);
}

describe("no flapping", () => {
  const platforms: readonly [string, (state: StepBack, at: number) => boolean][] = [
    ["fails always", () => true],
    ["is well while back and fails whenever asked", ({ phase }) => phase.kind !== "back"],
    [
      "is well after the first time until the last step, and fails then",
      ({ phase, stepBacks }) => (phase.kind === "returning" ? phase.step === 2 : stepBacks === 0),
    ],
    ["is well until the rule is forward and fails then", ({ phase }) => phase.kind === "forward"],
    [
      "waits until the wait is short again, then fails",
      ({ phase, time, factor }) =>
        phase.kind === "forward"
          ? factor === 0 || time.now - phase.since >= 16 * R
          : phase.kind === "returning" && factor < 4,
    ],
    ["fails every other day", (_, at) => Math.floor(at / (3.3 * R)) % 2 === 0],
    ["fails at random", (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 28 === 0],
  ];
  test.each(platforms)("a platform that %s makes few step backs, each longer after the last", (_, isBad) => {
    const { changes, state } = against(LONG, 20, isBad, 7);
    const backs = stepBacksOf(changes);
    expect(backs.length).toBe(state.stepBacks);
    expect(backs.length).toBeGreaterThan(0);
    for (let n = 0; n < backs.length; n++) {
      for (let m = n + 1; m < backs.length; m++) {
        const span = (backs[m] ?? 0) - (backs[n] ?? 0);
        expect(span).toBeGreaterThanOrEqual(R);
        expect(m - n + 1).toBeLessThanOrEqual(mostStepBacks(span));
      }
    }
    expect(changes.length).toBeLessThanOrEqual(5 * backs.length);
  });

  test("steps are taken one at a time, upwards, from back only by way of the first", () => {
    const order = ["back", ...STEPS.map((_, n) => `step ${n}`), "forward"];
    fc.assert(
      fc.property(fc.integer(), fc.noBias(fc.integer({ min: 0, max: 300 }).map((n) => n / 1000)), (seed, bad) => {
        const random = chance(seed);
        const { changes } = against(60 * R, 100, () => random() < bad, seed);
        for (const { from, to } of changes) {
          if (to !== "back") expect(order.indexOf(to)).toBe(order.indexOf(from) + 1);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("clocks", () => {
  const leaps = [-1e18, -1e9, -5_000, -400, -1, 1e7, 1e12, 1e300, Number.NaN, Number.POSITIVE_INFINITY];

  test("a clock that leaps changes the phase once at most, and failures that persist still step back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...leaps), fc.integer({ min: 0, max: 80 })), { size: "max", maxLength: 40 }),
        (jumps) => {
          let at = 1e12;
          let state = initialStepBack(SETTINGS);
          const feed = (count: number, failed: boolean): void => {
            for (let n = 0; n < count; n++) {
              at += 5;
              const next = reduceStepBack(state, { kind: "request", at, who: caller(`c${n % 4}`), failed });
              const order = ["back", "step 0", "step 1", "step 2", "forward"];
              if (label(next) !== "back") {
                expect(order.indexOf(label(next)) - order.indexOf(label(state))).toBeLessThanOrEqual(1);
              }
              expect(Number.isSafeInteger(next.time.now)).toBe(true);
              expect(next.time.now).toBeGreaterThanOrEqual(state.time.now);
              state = next;
            }
          };
          for (const [leap, count] of jumps) {
            feed(count, count % 3 === 0);
            const before = at;
            at = before + leap;
            feed(1, false);
            // Those that show no time, and those so far off that milliseconds are lost, are put right again.
            if (!Number.isFinite(at) || Math.abs(at) > 1e15) at = before;
          }
          feed(300, true);
          expect(state.phase.kind).toBe("back");
        },
      ),
      { numRuns: 40 },
    );
  });

  const DAY = 86_400_000;
  test.each([
    ["that was set back by a day still lets the quiet time pass", 1e9, [1e9 - DAY, 1e9 - DAY + R - 1, 1e9 - DAY + R]],
    [
      "without numbers costs nothing, its first reading neither",
      Number.NaN,
      [5_000, Number.POSITIVE_INFINITY, 5_000 + R - 1, Number.NaN, 5_000 + R],
    ],
  ])("a clock %s", (_name, begun, ticks) => {
    const failed = Array.from({ length: 30 }, (_, n): StepBackEvent => {
      return { kind: "request", at: begun, who: caller(`c${n}`), failed: true };
    });
    const { changes } = run([...failed, ...ticks.map((at): StepBackEvent => ({ kind: "tick", at }))]);
    expect(changes).toEqual([
      { from: "forward", to: "back", at: 0 },
      { from: "back", to: "step 0", at: R },
    ]);
  });
});

test("memory is bounded whatever the number of requests, clients and failures", () => {
  const sizes: number[] = [];
  const settings = { ...SETTINGS, minClients: 50, minRequests: 1e9 };
  const events = function* (): Generator<StepBackEvent> {
    for (let n = 0; n < 60_000; n++) {
      const kind = n % 2 === 0 ? "request" : "compared";
      yield {
        kind,
        at: n,
        who: caller(`client-${String(n).padStart(8, "0")}`),
        failed: true,
        differs: false,
      } as StepBackEvent;
    }
  };
  run(events(), settings, (state) => {
    if (state.time.now % 1_000 === 999) sizes.push(JSON.stringify(state).length);
  });
  expect(sizes.length).toBeGreaterThan(50);
  expect(Math.max(...sizes)).toBeLessThan(2 * SLICES * 50 * (20 + 35));
  expect(Math.max(...sizes.slice(30))).toBeLessThanOrEqual(Math.max(...sizes.slice(0, 30)) + 200);
});
