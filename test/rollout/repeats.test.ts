import { describe, expect, test } from "vitest";
import type { Comparison } from "../../src/model/comparison.ts";
import { createRepeats } from "../../src/rollout/repeats.ts";
import { randomOf } from "../support/random.mjs";
import { comparison, MINUTE, type Rig, rig, rule, rulesOf } from "./control-rig.ts";
import { makeRule } from "./make-rule.ts";

const RULE = makeRule("all");

function asked(request: string | undefined, facts: Partial<Comparison> = {}): Comparison {
  return comparison("c0", { served: "shadow", request, ...facts });
}

describe("which comparisons are repeats", () => {
  test("ten equal ones of one request and one caller count in an hour, and ten more in the next", () => {
    const clock = { at: 0 };
    const repeats = createRepeats(() => clock.at);
    const counted = (count: number, request = "r") =>
      Array.from({ length: count }, () => repeats.isRepeat(RULE, asked(request), "k")).filter((is) => !is).length;
    expect([counted(500), counted(5)]).toEqual([10, 0]);
    clock.at = 60 * MINUTE - 1;
    expect(counted(1)).toBe(0);
    clock.at += 1;
    expect(counted(500)).toBe(10);
  });

  test.each<[string, Parameters<ReturnType<typeof createRepeats>["isRepeat"]>]>([
    ["another request", [RULE, asked("other"), "k"]],
    ["another caller", [RULE, asked("r"), "other"]],
    ["another rule", [makeRule("other"), asked("r"), "k"]],
    ["a rule that is about other requests now", [{ ...RULE, evidenceKey: "new" }, asked("r"), "k"]],
    ["a caller whose credential is not known", [RULE, asked("r"), undefined]],
    ["a difference", [RULE, asked("r", { result: "value" }), "k"]],
    ["a failure", [RULE, asked("r", { result: "failed", failure: "busy" }), "k"]],
    ["an unknown request", [RULE, asked(undefined), "k"]],
  ])("%s is none", (_, args) => {
    const repeats = createRepeats(() => 0);
    for (let n = 0; n < 100; n++) repeats.isRepeat(RULE, asked("r", { result: n % 2 ? "noise" : "order" }), "k");
    expect([repeats.isRepeat(RULE, asked("r"), "k"), repeats.isRepeat(...args)]).toEqual([true, false]);
  });

  test("differences and failures of a request use up nothing of what counts", () => {
    const repeats = createRepeats(() => 0);
    for (let n = 0; n < 100; n++) repeats.isRepeat(RULE, asked("r", { result: "value" }), "k");
    expect(repeats.isRepeat(RULE, asked("r"), "k")).toBe(false);
  });

  test("memory has an end: the oldest of too many requests counts again", () => {
    const repeats = createRepeats(() => 0, 3);
    const many = (request: string) => {
      for (let n = 0; n < 20; n++) repeats.isRepeat(RULE, asked(request), "k");
    };
    for (const request of ["a", "b", "c", "d"]) many(request);
    expect(["b", "c", "d", "a"].map((request) => repeats.isRepeat(RULE, asked(request), "k"))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

describe("evidence", () => {
  const shadowed = (differencesBelow: number, minClients = 1) =>
    rig(
      rulesOf([
        rule({ mode: "shadow", stepBack: undefined, promoteWhen: { differencesBelow, minClients, automatic: false } }),
      ]),
    );
  const state = (made: Rig) => made.control.states()[0];

  test("one client that repeats one request proves ten an hour, however often it asks", () => {
    const made = shadowed(0.05);
    for (let hour = 1; hour <= 8; hour++) {
      made.compare(1_000, { client: "c0", served: "shadow", request: "r" });
      expect(state(made)).toMatchObject({ evidence: { comparisons: 10 * hour }, couldMove: hour === 8 });
      made.at += 60 * MINUTE;
    }
  });

  test("each of its differences counts, and its operation is not held back by what no longer counts", () => {
    const made = shadowed(0.05);
    made.compare(500, { client: "c0", served: "shadow", request: "r" });
    made.compare(30, { client: "c0", served: "shadow", request: "r", result: "value" });
    made.compare(500, { client: "c0", served: "shadow", request: "r" });
    expect(state(made)).toMatchObject({ evidence: { comparisons: 40, differences: 30, heldBack: [] } });
  });

  test.each([
    ["that counts each time hides", undefined, 20],
    ["that counts ten times an hour does not hide", "poll", 0],
  ])("a right request %s that a fifth of the others are wrong", (_, poll, expected) => {
    let moved = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomOf(seed);
      const made = shadowed(0.05, 3);
      for (let n = 0; n < 4_000 && made.told.length === 0; n++) {
        made.at += MINUTE / 20;
        const other = Math.floor(random() * 50);
        const result = other < 10 ? "value" : "equal";
        if (random() < 0.98) made.compare(1, { client: "poller", served: "shadow", request: poll });
        else made.compare(1, { client: `c${n % 7}`, served: "shadow", request: `r${other}`, result });
      }
      moved += made.told.length;
    }
    expect(moved).toBe(expected);
  });
});
