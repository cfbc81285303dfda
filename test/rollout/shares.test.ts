import { describe, expect, test } from "vitest";
import {
  type Hide,
  isInTrouble,
  readRuleShare,
  readTroubleShare,
  ruleShareOf,
  togetherOf,
  troubleShareOf,
} from "../../src/rollout/shares.ts";
import { causeTogether, type StepBack, windowShare } from "../../src/rollout/step-back.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { rig, rule, rulesOf } from "./control-rig.ts";

const hide: Hide = (text) => `#${text.length}.${text.at(-1)}`;

/** The state of a rule that compared, and its requests. */
function stateOf({ equal = 0, different = 0, failed = 0, clients = ["c0"], mode = "translate" as Rule["mode"] }) {
  const made = rig(rulesOf([rule({ mode, promoteWhen: { differencesBelow: 0.1, minClients: 3, automatic: true } })]));
  if (failed > 0) made.requests(failed, { status: 502, reason: "LIST_UNPROVEN" });
  for (const client of clients) {
    made.compare(equal, { client });
    made.compare(different, { client, result: "value" });
  }
  const [state] = made.control.ruleStates();
  if (state === undefined) throw new Error("there is a rule");
  return state;
}

function told(state: ReturnType<typeof stateOf>) {
  const share = readRuleShare(JSON.stringify(ruleShareOf(state, hide)));
  if (share === undefined) throw new Error("it cannot be read");
  return share;
}

describe("what replicas counted of a rule", () => {
  test("is summed, and callers that several have seen count once", () => {
    const sums = togetherOf([
      told(stateOf({ equal: 4, clients: ["c1", "c2"], mode: "shadow" })),
      told(stateOf({ equal: 3, clients: ["c2", "c3"], mode: "shadow" })),
    ]);
    expect(sums.promotion.newer).toMatchObject({ comparisons: 14, differences: 0 });
    expect(sums.promotion.newer.callers.clients).toHaveLength(3);
    expect(sums.operations.get("group list")?.newer.compared).toBe(14);
  });

  test("names no caller", () => {
    expect(JSON.stringify(ruleShareOf(stateOf({ equal: 1, clients: ["secret-client"] }), hide))).not.toMatch(
      /secret|credential of/,
    );
    const { stepBack } = stateOf({ different: 1, clients: ["secret-client"] });
    const share = troubleShareOf(stepBack, { at: 1, seconds: [], hide });
    expect(share.window?.differing.clients).toHaveLength(1);
    expect(JSON.stringify(share)).not.toMatch(/secret|credential of/);
  });

  test.each(["", "{}", "[]", '{"requests":-1}', "null"])("is left out if it cannot be read: %s", (text) => {
    expect([readRuleShare(text), readTroubleShare(text)]).toEqual([undefined, undefined]);
  });

  test("is told to the others only if something went wrong lately", () => {
    expect(isInTrouble(stateOf({ equal: 30 }).stepBack, [])).toBe(false);
    expect(isInTrouble(stateOf({ different: 1 }).stepBack, [])).toBe(true);
    expect(isInTrouble(stateOf({ failed: 1 }).stepBack, [])).toBe(true);
  });
});

describe("replicas together step a rule back", () => {
  const [forward] = [stateOf({}).stepBack as StepBack];
  const shareOf = (facts: Parameters<typeof stateOf>[0]) => windowShare(stateOf(facts).stepBack as StepBack);
  const few = (...clients: string[]) => shareOf({ equal: 5, different: 1, clients });

  test("on evidence that none of them has", () => {
    expect(causeTogether(forward, [few("c1", "c2"), few("c2", "c3")])).toEqual({
      what: "differences",
      bad: 4,
      all: 24,
      clients: 3,
      together: 2,
    });
  });

  test("not by too few comparisons, and not by too few clients", () => {
    expect(causeTogether(forward, [few("c1"), few("c2"), few("c3")])).toBeUndefined();
    expect(causeTogether(forward, [few("c1", "c2"), few("c1", "c2")])).toBeUndefined();
  });
});
