import { describe, expect, test } from "vitest";
import type { ComparisonFailure } from "../../src/model/comparison.ts";
import type { PromoteSettings } from "../../src/model/rules.ts";
import { type Rig, rig, rule, rulesOf } from "./control-rig.ts";
import { headOf } from "./make-rule.ts";

const GROUPS = { resource: "group", operation: "list" } as const;
const ROLES = { resource: "role", operation: "list" } as const;
const CREATES = { resource: "repo", operation: "create" } as const;

function shadowed(over: Partial<PromoteSettings> = {}, sample = 1): Rig {
  const promoteWhen = { differencesBelow: 0.1, minClients: 3, automatic: true, ...over };
  return rig(rulesOf([rule({ mode: "shadow", stepBack: undefined, shadow: { sample, control: 0 }, promoteWhen })]));
}

/** Requests of one operation that native answers, and their comparisons. */
function asked(
  made: Rig,
  count: number,
  named: typeof GROUPS | typeof ROLES | typeof CREATES,
  failure?: ComparisonFailure,
): void {
  made.requests(count, { ...named, mode: "shadow" });
  made.compare(count, { ...named, served: "shadow", ...(failure === undefined ? {} : { result: "failed", failure }) });
}

function modeOf(made: Rig, named: typeof GROUPS | typeof ROLES | typeof CREATES): string {
  return made.control.choose({ ...named, write: false, client: "c0", head: headOf() }).mode;
}

function says(made: Rig): string {
  return (made.control.view() as { rules: { says: string }[] }).rules[0]?.says ?? "";
}

describe("what holds a rule back", () => {
  test("an operation that v2 never answers is not moved by another that it does", () => {
    const made = shadowed();
    asked(made, 60, GROUPS, "platform");
    asked(made, 60, ROLES);
    expect([modeOf(made, GROUPS), modeOf(made, ROLES)]).toEqual(["shadow", "shadow"]);
    expect(made.told).toEqual([]);
    expect(made.control.states()[0]).toMatchObject({
      promoted: false,
      couldMove: false,
      evidence: { heldBack: ["group list: 100 % of its latest comparisons failed (platform)"] },
    });
    expect(says(made)).toContain("; held back by group list: 100 % of its latest comparisons failed (platform)");
  });

  test("writes that nothing can compare hold it back, and it says so", () => {
    const made = shadowed();
    asked(made, 12, CREATES, "not-comparable");
    asked(made, 60, ROLES);
    expect(modeOf(made, ROLES)).toBe("shadow");
    expect(says(made)).toContain("held back by repo create: 12 requests, cannot be compared");
  });

  test.each([
    ["that native refused", { status: 404 }],
    ["of a caller who was not let in", { status: 401 }],
    ["whose client left", { aborted: true }],
    ["that native failed to answer", { status: 503 }],
  ])("requests %s ask for nothing, so nobody can hold it back with them", (_, facts) => {
    const made = shadowed();
    made.requests(500, { ...CREATES, mode: "shadow", ...facts });
    asked(made, 60, ROLES);
    expect(modeOf(made, ROLES)).toBe("translate");
  });

  test("what native refused and nobody could compare neither holds it back nor moves", () => {
    const made = shadowed();
    made.compare(50, { ...CREATES, served: "shadow", result: "failed", failure: "not-comparable" });
    expect(made.control.states()[0]?.evidence.heldBack).toEqual([]);
    asked(made, 60, ROLES);
    expect([modeOf(made, ROLES), modeOf(made, CREATES)]).toEqual(["translate", "shadow"]);
    expect(made.control.states()[0]?.evidence.heldBack).toEqual(["repo create: 0 requests, cannot be compared"]);
  });

  test("refusals that differ from native's hold it back, though native served nobody", () => {
    const made = shadowed();
    made.compare(30, { ...CREATES, served: "shadow", result: "error" });
    asked(made, 2_000, ROLES);
    expect(modeOf(made, ROLES)).toBe("shadow");
    expect(made.control.states()[0]?.evidence.heldBack).toEqual([
      "repo create: 100 % of its latest comparisons differ",
    ]);
  });

  test("a rule says how many comparisons it counts, and no other number of them in the same sentence", () => {
    const made = shadowed();
    made.compare(202, { ...GROUPS, served: "shadow", result: "value" });
    expect(says(made)).toContain("202 differences in the latest 202 comparisons of 3 clients or more");
    expect(says(made)).toContain("; held back by group list: 100 % of its latest comparisons differ");
  });

  test("without `automatic` it could move only when nothing holds it back, and says so once", () => {
    const made = shadowed({ automatic: false });
    asked(made, 60, ROLES);
    expect(made.told.map(({ kind }) => kind)).toEqual(["could-promote"]);
    made.requests(5, { ...GROUPS, mode: "shadow" });
    expect(made.control.states()[0]).toMatchObject({ couldMove: false });
    expect(says(made)).toContain("it may move on below 10 %");
    for (let n = 0; n < 30; n++) asked(made, 1, GROUPS);
    expect(made.control.states()[0]).toMatchObject({ couldMove: true, evidence: { heldBack: [] } });
    expect(says(made)).toContain("it could be set to translate");
    expect(made.told).toHaveLength(1);
    made.compare(20, { ...ROLES, served: "shadow", result: "value" });
    asked(made, 1_000, ROLES);
    expect(made.told).toHaveLength(2);
  });

  test("however many operations there are, memory has an end, and what is not counted holds it back", () => {
    const made = shadowed();
    for (let n = 0; n < 1_000; n++) made.compare(2, { ...ROLES, operation: `op${n}`, served: "shadow" });
    expect(made.control.states()[0]).toMatchObject({
      promoted: false,
      evidence: { heldBack: ["further operations: 0 comparisons in 1400 requests, 20 needed"] },
    });
  });

  test("many operations are not all told", () => {
    const made = shadowed();
    for (let n = 1; n <= 40; n++) made.requests(n, { ...ROLES, operation: `op${n}`, mode: "shadow" });
    const { heldBack = [] } = made.control.states()[0]?.evidence ?? {};
    expect(heldBack).toHaveLength(11);
    expect([heldBack[0], heldBack.at(-1)]).toEqual([
      "role op40: 0 comparisons in 40 requests, 20 needed",
      "30 more operations",
    ]);
  });

  test("a shadow rule that moves only by its file names what was not proved, a translating one has nothing to prove", () => {
    for (const [mode, heldBack] of [
      ["shadow", ["repo create: 60 requests, cannot be compared"]],
      ["translate", []],
    ] as const) {
      const made = rig(rulesOf([rule({ mode })]));
      asked(made, 60, CREATES, "not-comparable");
      expect(made.control.states()[0]).toMatchObject({ couldMove: false, evidence: { heldBack } });
    }
  });
});

describe("another sample", () => {
  const rulesWith = (sample: number, promoteWhen?: PromoteSettings) =>
    rulesOf([rule({ mode: "shadow", stepBack: undefined, shadow: { sample, control: 0 }, promoteWhen })]);
  const MANUAL: PromoteSettings = { differencesBelow: 0.1, minClients: 3, automatic: false };
  const heldBack = (made: Rig) => made.control.states()[0]?.evidence.heldBack;

  test.each([
    ["with promoteWhen", MANUAL, MANUAL],
    ["without it", undefined, undefined],
    ["that drops it", MANUAL, undefined],
  ])("a lower sample in a rule %s keeps what was proved of each operation", (_, before, after) => {
    const made = rig(rulesWith(1, before));
    asked(made, 60, GROUPS);
    asked(made, 4, ROLES);
    expect(heldBack(made)).toEqual([]);
    made.control.replace(rulesWith(0.01, after));
    made.requests(90, { ...GROUPS, mode: "shadow" });
    made.requests(90, { ...ROLES, mode: "shadow" });
    expect(heldBack(made)).toEqual([]);
    made.requests(1, { ...CREATES, mode: "shadow" });
    expect(heldBack(made)).toEqual(["repo create: 0 comparisons in 1 request, 1 needed"]);
  });

  test("a higher sample asks no more of requests that it did not sample", () => {
    const made = rig(rulesWith(0.01, MANUAL));
    made.requests(1_000, { ...GROUPS, mode: "shadow" });
    made.compare(10, { ...GROUPS, served: "shadow" });
    expect(heldBack(made)).toEqual([]);
    made.control.replace(rulesWith(1, MANUAL));
    made.requests(10, { ...GROUPS, mode: "shadow" });
    expect(heldBack(made)).toEqual([]);
    made.requests(10, { ...GROUPS, mode: "shadow" });
    expect(heldBack(made)).toEqual(["group list: 10 comparisons in 1020 requests, 15 needed"]);
  });

  test("what an earlier version saved is judged by the present sample", () => {
    const made = rig(rulesWith(0.1, MANUAL));
    made.requests(100, { ...GROUPS, mode: "shadow" });
    const { rules, ...rest } = made.control.memory();
    const older = rules.map((one) => ({
      ...one,
      operations: new Map([...one.operations].map(([name, { expected: _, ...known }]) => [name, known])),
    }));
    const again = rig(undefined);
    again.control.restore({ ...rest, rules: older });
    again.control.replace(rulesWith(0.1, MANUAL));
    expect(heldBack(again)).toEqual(["group list: 0 comparisons in 100 requests, 5 needed"]);
    again.requests(20, { ...GROUPS, mode: "shadow" });
    expect(heldBack(again)).toEqual(["group list: 0 comparisons in 120 requests, 6 needed"]);
  });
});

describe("what a rule that moved takes along", () => {
  test("an operation that was first asked for afterwards stays with native until it was compared", () => {
    const made = shadowed();
    asked(made, 60, ROLES);
    expect([modeOf(made, ROLES), modeOf(made, GROUPS)]).toEqual(["translate", "shadow"]);
    made.requests(8, { ...GROUPS, mode: "shadow" });
    expect(says(made)).toContain("moved on by itself: translates");
    expect(says(made)).toContain("; native still answers group list: 0 comparisons in 8 requests, 20 needed");
    made.compare(19, { ...GROUPS, served: "shadow" });
    expect(modeOf(made, GROUPS)).toBe("shadow");
    made.compare(1, { ...GROUPS, served: "shadow" });
    expect(modeOf(made, GROUPS)).toBe("translate");
    expect(says(made)).not.toContain("native still answers");
    expect(made.told.map(({ kind }) => kind)).toEqual(["promoted", "promoted"]);
    expect(made.told[1]?.reason).toBe("group list follows: it was compared often enough now");
  });

  test("differences in what it left behind are no reason to step back with the rest, and keep it there", () => {
    const made = shadowed();
    asked(made, 60, ROLES);
    made.compare(200, { ...GROUPS, served: "shadow", result: "value" });
    expect([modeOf(made, ROLES), modeOf(made, GROUPS)]).toEqual(["translate", "shadow"]);
    expect(made.control.states()[0]).toMatchObject({ phase: "forward", evidence: { stepBacks: 0 } });
  });

  test("what moved stays moved whatever becomes of its comparisons, unless the rule steps back", () => {
    const made = shadowed();
    asked(made, 60, ROLES);
    made.compare(200, { ...ROLES, result: "failed", failure: "platform" });
    expect(modeOf(made, ROLES)).toBe("translate");
    expect(made.control.states()[0]).toMatchObject({ evidence: { heldBack: [] } });
    made.compare(60, { ...ROLES, result: "value" });
    expect(made.choose().mode).toBe("shadow");
    expect(modeOf(made, ROLES)).toBe("shadow");
    expect(made.control.states()[0]).toMatchObject({ phase: "back" });
  });
});
