import { describe, expect, test } from "vitest";
import type { PromoteSettings } from "../../src/model/rules.ts";
import { readSavedRollout, savedRollout } from "../../src/rollout/saved-rollout.ts";
import { MINUTE, type Rig, rig, rule, rulesOf, STEP_BACK } from "../rollout/control-rig.ts";

const BROKEN = { status: 502, reason: "UPSTREAM_INVALID" };
const KEY = "0".repeat(64);
const promoteWhen: PromoteSettings = { differencesBelow: 0.01, minClients: 3, automatic: true };
const shadowed = rule({ mode: "shadow", promoteWhen, shadow: { sample: 1, control: 0 } });

/** The process after this one, `after` milliseconds later, which goes on from what this one saved. */
function restarted(before: Rig, rules = [rule()], after = 0, nameNow = (name: string) => name): Rig {
  const saved: unknown = JSON.parse(
    [...savedRollout({ key: KEY, basis: "b", kept: {}, ...before.control.memory() })].join(""),
  );
  const next = rig(undefined);
  next.at = before.at + after;
  const { key, basis, unusable, ...memory } = readSavedRollout(saved, nameNow);
  expect([key, basis, unusable]).toEqual([KEY, "b", []]);
  next.control.restore(memory);
  next.control.replace(rulesOf(rules));
  return next;
}

describe("after a restart", () => {
  test("a rule that stepped back is back, with its numbers", () => {
    const one = rig(rulesOf([rule()]));
    one.requests(200, BROKEN);
    const two = restarted(one);
    expect(two.choose()).toMatchObject({ mode: "shadow", why: "stepped-back" });
    expect(two.control.states()).toEqual(one.control.states());
    // The rules are those of before: nothing changed.
    expect(two.told).toEqual([]);
    expect(restarted(two).choose().why).toBe("stepped-back");
  });

  test("the time without a process is no quiet time", () => {
    const one = rig(rulesOf([rule()]));
    one.requests(200, BROKEN);
    one.at += 9 * MINUTE;
    one.choose();
    const two = restarted(one, [rule()], 60 * MINUTE);
    expect(two.choose().why).toBe("stepped-back");
    two.at += 2 * MINUTE;
    expect(two.choose("any").why).not.toBe("rule");
    expect(two.control.states()[0]?.phase).toBe("returning");
  });

  test("a clock that is set forward is no quiet time, before it and after it", () => {
    const one = rig(rulesOf([rule()]));
    one.requests(200, BROKEN);
    for (const made of [one, restarted(one)]) {
      made.choose();
      made.at += 60 * MINUTE;
      made.ahead -= 60 * MINUTE;
      expect([made.choose().why, made.control.states()[0]?.phase]).toEqual(["stepped-back", "back"]);
      made.ahead += 11 * MINUTE;
      made.choose();
      expect(made.control.states()[0]?.phase).toBe("returning");
    }
  });

  test("half of the failures before it and half after it make a rule step back", () => {
    const one = rig(rulesOf([rule()]));
    one.requests(100, BROKEN);
    expect(one.choose().why).toBe("rule");
    const two = restarted(one);
    two.requests(99, BROKEN);
    expect(two.choose().why).toBe("rule");
    two.requests(1, BROKEN);
    expect(two.choose().why).toBe("stepped-back");
  });

  test("comparisons before it count for a promotion, also with another sample", () => {
    const one = rig(rulesOf([shadowed]));
    one.compare(300, { served: "shadow" });
    const two = restarted(one, [{ ...shadowed, shadow: { sample: 0.9, control: 0 } }]);
    expect(two.control.states()[0]).toMatchObject({ evidence: { comparisons: 300, differences: 0 } });
    two.compare(68, { served: "shadow" });
    expect(two.choose().why).toBe("promoted");
    expect(restarted(two, [shadowed]).choose().why).toBe("promoted");
  });

  test("requests before it are judged by the sample of their time", () => {
    const sampled = (sample: number) => ({ ...shadowed, shadow: { sample, control: 0 } });
    const one = rig(rulesOf([sampled(0.01)]));
    one.requests(1_000, { mode: "shadow" });
    const [first] = restarted(one, [sampled(1)]).control.states();
    expect(first?.evidence.heldBack).toEqual(["group list: 0 comparisons in 1000 requests, 5 needed"]);
  });

  test("a rule is as old as its percentage, unless it stepped back: then that counts", () => {
    const ageAfter = (before: Rig, percent: number): number => {
      const next = restarted(before, [rule({ match: { ...rule().match, percent } })], MINUTE);
      return next.at - (next.control.states()[0]?.since ?? 0);
    };
    const one = rig(rulesOf([rule({ match: { ...rule().match, percent: 10 } })]));
    one.at += 5 * MINUTE;
    expect([ageAfter(one, 10), ageAfter(one, 50)]).toEqual([6 * MINUTE, 0]);
    one.requests(200, BROKEN);
    expect(ageAfter(one, 50)).toBe(MINUTE);
    const [forward] = restarted(one, [rule({ stepBack: undefined })], MINUTE).control.states();
    expect(forward?.since).toBe(one.at + MINUTE);
  });

  test("a rule that said it could move does so once it may move by itself", () => {
    const one = rig(rulesOf([{ ...shadowed, promoteWhen: { ...promoteWhen, automatic: false } }]));
    one.compare(400, { served: "shadow" });
    expect(one.control.states()[0]?.couldMove).toBe(true);
    const two = restarted(one, [shadowed]);
    two.compare(1, { served: "shadow" });
    expect(two.choose().why).toBe("promoted");
  });

  test("a promotion ends when its rule asks for more than was shown, or promotes no more by itself", () => {
    const one = rig(rulesOf([shadowed]));
    one.compare(400, { served: "shadow" });
    expect(one.choose().why).toBe("promoted");
    for (const other of [{ differencesBelow: 0.001 }, { automatic: false }]) {
      const two = restarted(one, [{ ...shadowed, promoteWhen: { ...promoteWhen, ...other } }]);
      expect(two.choose()).toMatchObject({ mode: "shadow", why: "rule" });
    }
  });

  test("clients have their present names", () => {
    const one = rig(rulesOf([rule({ stepBack: { ...STEP_BACK, minClients: 6 } })]));
    one.requests(199, BROKEN);
    const text = JSON.stringify(
      restarted(one, undefined, 0, (name) => `h-${name}`).control.memory().rules[0]?.stepBack,
    );
    expect(text).toContain('"h-c0"');
    expect(text).not.toContain('"c0"');
  });
});
