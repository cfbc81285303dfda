import { describe, expect, test } from "vitest";
import { merge } from "../../src/fleet/merge.ts";
import type { RuleEvidence } from "../../src/rules/status.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { busy, DAY, HOUR, NOW, progress, row, rule, totals } from "../commands/report/support.ts";
import { NOTHING_YET } from "../commands/status/support.ts";

const heard = (...all: readonly Progress[]) =>
  all.map((one, at) => ({ address: `http://10.0.0.${at + 1}`, progress: one }));

describe("several instances together", () => {
  test("nobody says nothing", () => {
    expect(merge([])).toBeUndefined();
  });

  test("requests of one kind add up, and the last of all is the last", () => {
    const merged = merge(
      heard(
        progress({ totals: totals([row({ requests: 2, lastSeen: NOW - DAY }), row({ mode: "native", requests: 5 })]) }),
        progress({ instance: "b", totals: totals([row({ requests: 3, lastSeen: NOW - HOUR })]) }),
      ),
    );
    expect(merged?.rows).toEqual([row({ requests: 5, lastSeen: NOW - HOUR }), row({ mode: "native", requests: 5 })]);
  });

  test("clients are those of all ledgers", () => {
    const [terraform] = merge(heard(...busy()))?.ledger.clients ?? [];
    expect(terraform).toMatchObject({ name: "terraform", requests: { v1: 5100, v2: 0 }, lastV1: NOW - HOUR });
  });

  test("comparisons add up to a better bound than any instance has", () => {
    const [all, one] = merge(heard(...busy()))?.bounds ?? [];
    expect(all).toMatchObject({ client: undefined, comparisons: 5000, differences: 0 });
    expect(all?.upper).toBeCloseTo(3.446 / 5000, 5);
    expect(one).toMatchObject({ client: "terraform", comparisons: 4000 });
  });

  test("a rule is told once for all instances on which it does the same", () => {
    const merged = merge(
      heard(
        progress({ rules: [rule("a", { since: 5 }), rule("b")] }),
        progress({
          instance: "b",
          rules: [rule("a", { since: 3 }), rule("b", { state: "stepped-back", doing: "native" })],
        }),
      ),
    );
    expect(merged?.rules.map(({ name, state, since, on }) => [name, state, since, on.length])).toEqual([
      ["a", "as-written", 3, 2],
      ["b", "as-written", undefined, 1],
      ["b", "stepped-back", undefined, 1],
    ]);
  });

  test("what guards counted adds up, with the operation of all that takes longest beside native", () => {
    const figures = (v2Ms: number, evidence: number) => ({
      translated: { requests: 10, errors: 2, denied: 1, limited: 0 },
      native: { requests: 5, errors: 0, denied: 1, limited: 2 },
      repeats: { asked: 2, served: 1 },
      evidence,
      longest: { operation: `group list ${v2Ms}`, v2Ms, nativeMs: 10 },
    });
    const told = [figures(20, 0.7), figures(80, 0.1)].map((one, at) =>
      progress({ instance: `i${at}`, rules: [rule("a", { guard: { action: "stepBack", figures: one } })] }),
    );
    expect(merge(heard(...told))?.rules[0]?.guard?.figures).toEqual({
      translated: { requests: 20, errors: 4, denied: 2, limited: 0 },
      native: { requests: 10, errors: 0, denied: 2, limited: 4 },
      repeats: { asked: 4, served: 2 },
      evidence: 0.7,
      longest: { operation: "group list 80", v2Ms: 80, nativeMs: 10 },
    });
  });

  test("evidence adds up, and is left out where an instance does not tell it", () => {
    const evidence = (...all: readonly (RuleEvidence | undefined)[]) =>
      merge(heard(...all.map((one, at) => progress({ instance: `i${at}`, rules: [rule("a", { evidence: one })] }))))
        ?.rules[0]?.evidence;
    const some = { ...NOTHING_YET, comparisons: 60, bound: 0.06, clients: 2 };
    expect(evidence(some, some)).toMatchObject({ comparisons: 120, clients: 2 });
    expect(evidence(some, some)?.bound).toBeLessThan(0.031);
    expect(evidence(some)).toEqual(some);
    expect(evidence(some, undefined)).toBeUndefined();
    // Replicas that share a store tell their sum.
    const ofAll = { ...some, comparisons: 100, ofAll: true };
    expect(evidence(ofAll, { ...ofAll, comparisons: 90 }, some)).toEqual(ofAll);
  });

  test("numbers of one instance among several are told as such", () => {
    const details = (...texts: readonly string[]) =>
      merge(
        heard(...texts.map((detail, at) => progress({ instance: `i${at}`, rules: [rule("a", { detail })] }))),
      )?.rules.map(({ detail }) => detail);
    expect(details("3 of 4", "1 of 2")).toEqual(["3 of 4 (http://10.0.0.1)"]);
    expect(details("3 of 4", "3 of 4")).toEqual(["3 of 4"]);
  });

  test("the latest clock is now, and only what every instance has watched is watched", () => {
    const merged = merge(
      heard(
        progress({ at: NOW - 1, ledger: { since: NOW - 3 * DAY } }),
        progress({ instance: "b", at: NOW, ledger: { since: NOW - HOUR } }),
      ),
    );
    expect([merged?.at, merged?.watchedSince]).toEqual([NOW, NOW - HOUR]);
  });
});
