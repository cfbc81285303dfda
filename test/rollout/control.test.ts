import { describe, expect, test } from "vitest";
import { createBucket } from "../../src/rollout/callers.ts";
import { createRollout, DEFAULT_SHADOW } from "../../src/rollout/rollout.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { MINUTE, rig, rule, rulesOf, START, STEP_BACK } from "./control-rig.ts";
import { headOf } from "./make-rule.ts";

const BROKEN = { status: 502, reason: "UPSTREAM_INVALID" };

describe("choosing", () => {
  test("without rules the configured mode decides, and neither clock nor bucket is asked", () => {
    for (const rules of [undefined, rulesOf([])]) {
      const refuse = (): never => {
        throw new Error("asked");
      };
      for (const mode of ["native", "shadow", "translate"] as const) {
        let started = false;
        const wall = (): number => (started ? refuse() : START);
        const control = createRollout({ rules, mode, native: true, bucketOf: refuse, wall, onEvent: refuse });
        started = true;
        const asked = { resource: "group", operation: "list", write: false, client: "c", head: headOf() };
        const choice = control.choose(asked);
        const shadow = mode === "shadow" ? DEFAULT_SHADOW : { sample: 0, control: 0 };
        expect(choice).toEqual({ mode, rule: undefined, shadow, why: "default" });
        expect(control.choose(asked)).toBe(choice);
      }
    }
  });

  test("the first rule that matches decides, and what no rule matches is left to the mode", () => {
    const first = rule({ name: "first", mode: "native", match: { clients: new Set(["c1"]) } });
    const second = rule({ name: "second", mode: "shadow", match: { clients: new Set(["c1", "c2"]) } });
    const { choose } = rig(rulesOf([first, second]), { mode: "translate" });
    expect(choose("c1")).toEqual({ mode: "native", rule: first, shadow: { sample: 0, control: 0 }, why: "rule" });
    expect(choose("c2")).toEqual({ mode: "shadow", rule: second, shadow: second.shadow, why: "rule" });
    expect(choose("c3")).toMatchObject({ mode: "translate", rule: undefined, why: "default" });
  });

  test("what is guessed stays native whatever the mode, unless a rule names it or force decides", () => {
    const asked = { resource: "group", operation: "list", write: false, guessed: true, client: "c", head: headOf() };
    const native = { mode: "native", rule: undefined, shadow: { sample: 0, control: 0 }, why: "guessed" };
    for (const rules of [undefined, rulesOf([rule()])]) {
      const { control } = rig(rules, { mode: "shadow" });
      expect(control.choose(asked)).toEqual(native);
    }
    const named = rule({ match: { operations: new Set(["list"]) } });
    expect(rig(rulesOf([named])).control.choose(asked)).toMatchObject({ mode: "translate", rule: named });
    const forced = rig(rulesOf([], { force: "translate" })).control.choose(asked);
    expect(forced).toMatchObject({ mode: "translate", why: "forced" });
  });

  test("force decides from the next request on, and its end gives everything back", () => {
    const made = rig(rulesOf([rule()]), { mode: "shadow" });
    made.requests(200, BROKEN);
    expect(made.choose().why).toBe("stepped-back");
    made.told.length = 0;
    for (const force of ["native", "translate"] as const) {
      made.control.replace(rulesOf([rule()], { force, digest: force }));
      expect(made.choose()).toEqual({ mode: force, rule: undefined, shadow: { sample: 0, control: 0 }, why: "forced" });
      expect(made.control.states()[0]?.doing).toBe(force);
    }
    made.control.replace(rulesOf([rule()]));
    expect(made.choose().why).toBe("stepped-back");
    expect(made.told.map(({ kind, from, to }) => `${kind} ${from} ${to}`)).toEqual([
      "rules aaaaaaaaaaaa native",
      "forced none native",
      "rules native translate",
      "forced native translate",
      "rules translate aaaaaaaaaaaa",
      "forced translate none",
    ]);
  });

  test("force by hand goes native whatever the file says, and lifting it leaves what the file says", () => {
    const made = rig(rulesOf([rule()], { force: "translate" }), { mode: "shadow" });
    made.told.length = 0;
    made.control.forceByHand("native", START + 1);
    expect(made.choose()).toMatchObject({ mode: "native", why: "forced" });
    expect(made.control.force()).toEqual({
      effective: "native",
      file: "translate",
      command: "native",
      commandAt: START + 1,
    });
    made.control.replace(rulesOf([rule()], { digest: "b" }));
    expect(made.choose()).toMatchObject({ mode: "native", why: "forced" });
    expect(made.control.states()[0]?.doing).toBe("native");
    made.control.replace(rulesOf([rule()], { force: "native", digest: "c" }));
    made.control.forceByHand("none", START + 2);
    expect(made.choose()).toMatchObject({ mode: "native", why: "forced" });
    made.control.replace(rulesOf([rule()], { digest: "d" }));
    expect(made.choose()).toMatchObject({ mode: "translate", why: "rule" });
    expect(
      made.told.flatMap(({ kind, from, to, reason }) => (kind === "forced" ? [`${from} ${to}: ${reason}`] : [])),
    ).toEqual([
      "translate native: carryover force native; the rules file says force: translate",
      "native native: carryover force none; the rules file says force: native",
      "native none: the rules file no longer forces anything",
    ]);
  });

  test("force by hand works without a rules file", () => {
    const made = rig(undefined, { mode: "translate" });
    made.control.forceByHand("native", START);
    expect(made.choose()).toMatchObject({ mode: "native", why: "forced" });
    made.control.forceByHand("none", START);
    expect(made.choose()).toMatchObject({ mode: "translate", why: "default" });
  });

  test("a process that starts with force says so", () => {
    const { told } = rig(rulesOf([], { force: "native" }));
    expect(told).toMatchObject([{ kind: "forced", to: "native", rule: undefined }]);
  });

  test("the file's fallback is handed on", () => {
    const made = rig(rulesOf([], { fallback: "refuse" }));
    expect(made.control.fallback()).toBe("refuse");
    made.control.replace(rulesOf([]));
    expect(made.control.fallback()).toBeUndefined();
  });
});

describe("stepping back and returning", () => {
  test("a rule that stepped back goes on comparing where it did, and is native where it did not", () => {
    const compared = rig(rulesOf([rule()]));
    compared.requests(200, BROKEN);
    expect(compared.choose()).toMatchObject({ mode: "shadow", why: "stepped-back", shadow: { sample: 0.1 } });
    const noBucket = (): never => {
      throw new Error("native answers all of them: nobody's bucket matters");
    };
    const silent = rig(rulesOf([rule({ shadow: { sample: 0, control: 0 } })]), { bucketOf: noBucket });
    silent.requests(200, BROKEN);
    expect(silent.choose()).toMatchObject({ mode: "native", why: "stepped-back" });
    expect(silent.control.states()[0]).toMatchObject({ mode: "translate", doing: "native", phase: "back" });
  });

  test("each change is told once, with the numbers that decided", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(196);
    made.requests(40, BROKEN);
    for (const n of [1, 2, 3, 4]) {
      made.at = START + n * 10 * MINUTE;
      made.choose();
      made.choose();
      made.requests(200);
    }
    expect(made.told.map(({ kind, at, to }) => [kind, (at - START) / MINUTE, to])).toEqual([
      ["stepped-back", 0, "back"],
      ["returning", 10, "returning, 10 % of its clients"],
      ["returning", 20, "returning, 30 % of its clients"],
      ["returning", 30, "returning, 100 % of its clients"],
      ["returned", 40, "forward"],
    ]);
    expect(made.told[0]?.reason).toBe(
      "5 of 201 translated requests failed because of translation within 5 min (2.488 %, more than 2 %), met by 3 clients or more",
    );
    expect(made.control.states()[0]).toMatchObject({
      phase: "forward",
      since: START + 40 * MINUTE,
      evidence: { stepBacks: 1 },
    });
  });

  test.each([
    ["all clients", undefined, 20_000],
    ["a tenth of the clients", 10, 2_000],
  ])("a rule for %s returns to a growing part of them, each client staying where it is", (_, percent, about) => {
    const bucketOf = createBucket("salt");
    const clients = Array.from({ length: 20_000 }, (__, n) => `client-${n}`);
    const made = rig(rulesOf([rule({ match: { percent } })]), { mode: "native", bucketOf });
    const translated = (): Set<string> => new Set(clients.filter((client) => made.choose(client).mode === "translate"));
    const all = translated();
    made.requests(200, BROKEN);
    expect(translated().size).toBe(0);
    const steps = [1, 2, 3].map((n) => {
      made.at = START + n * 10 * MINUTE;
      made.choose([...all][0]);
      const now = translated();
      made.requests(200);
      return now;
    });
    expect(all.size / about).toBeCloseTo(1, 1);
    expect(steps.map((step) => Math.round((step.size / all.size) * 20) / 20)).toEqual([0.1, 0.3, 1]);
    for (const [smaller, larger] of [
      [steps[0], steps[1]],
      [steps[1], steps[2]],
      [steps[2], all],
    ]) {
      expect([...(smaller ?? [])].filter((client) => !larger?.has(client))).toEqual([]);
    }
    expect(made.choose([...all].find((client) => !steps[0]?.has(client))).rule?.name).toBe("all");
  });

  test("rules are judged apart", () => {
    const one = rule({ name: "one", match: { clients: new Set(["c0"]) } });
    const made = rig(rulesOf([one, rule({ name: "two", identity: "2" })]));
    made.requests(200, { ...BROKEN, rule: "one", client: "c0" });
    expect(made.choose("c0").why).toBe("stepped-back");
    expect(made.choose("c1").why).toBe("rule");
  });

  test("a rule without thresholds never steps back", () => {
    const made = rig(rulesOf([rule({ stepBack: undefined })]));
    made.requests(5_000, BROKEN);
    made.compare(5_000, { result: "value" });
    expect(made.choose()).toMatchObject({ mode: "translate", why: "rule" });
    expect(made.control.states()[0]).toMatchObject({ evidence: { requests: 5_000, failures: 5_000, stepBacks: 0 } });
  });
});

describe("other rules", () => {
  test("a rule of which the same is said keeps what was learnt, wherever it stands now", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, BROKEN);
    const other = rule({ name: "other", identity: "2", match: { clients: new Set(["nobody"]) } });
    const moved = rule({ line: 9 });
    made.control.replace(rulesOf([other, moved], { digest: "b" }));
    expect(made.choose()).toMatchObject({ why: "stepped-back", rule: moved });
    expect(made.choose().rule).toBe(moved);
    expect(made.told.at(-1)).toMatchObject({
      kind: "rules",
      reason: "2 rules: 1 new (other)",
    });
  });

  test("a rule that is about other requests begins anew", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, BROKEN);
    made.at += 5;
    made.control.replace(rulesOf([rule({ identity: "1b", evidenceKey: "1b" })], { digest: "b" }));
    expect(made.choose().why).toBe("rule");
    expect(made.control.states()[0]).toMatchObject({
      since: START + 5,
      evidence: { requests: 0, failures: 0, stepBacks: 0 },
    });
    expect(made.told.at(-1)?.reason).toBe("1 rule: 1 changed (all), 1 without the evidence before (all)");
  });

  test("a rule of another mode is no longer back, and keeps what was compared", () => {
    const made = rig(rulesOf([rule()]));
    made.compare(30, { result: "value" });
    expect(made.choose().why).toBe("stepped-back");
    for (const [mode, why] of [
      ["shadow", "rule"],
      ["translate", "rule"],
    ] as const) {
      made.control.replace(rulesOf([rule({ mode })], { digest: mode }));
      expect(made.choose()).toMatchObject({ mode, why });
      expect(made.control.states()[0]).toMatchObject({ evidence: { comparisons: 30, differences: 30, requests: 0 } });
    }
  });

  test.each<[string, Partial<Rule>]>([
    ["sample", { shadow: { sample: 0.9, control: 0 } }],
    ["expiry", { expires: START + 1e9 }],
    ["headers", { headers: { deprecation: 1, sunset: 2, documentation: undefined, successor: false } }],
    ["thresholds that it still exceeds", { stepBack: { ...STEP_BACK, failures: 0.5, minRequests: 10 } }],
    ["window", { stepBack: { ...STEP_BACK, window: 60_000 } }],
  ])("a rule with another %s stays back, and keeps its counts", (_what, over) => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, BROKEN);
    made.at += 5;
    made.control.replace(rulesOf([rule({ identity: "1b", ...over })], { digest: "b" }));
    expect(made.choose().why).toBe("stepped-back");
    expect(made.control.states()[0]).toMatchObject({
      since: START,
      evidence: { requests: 200, failures: 200, stepBacks: 1 },
    });
  });

  test("a rule whose threshold is no longer exceeded goes forward again", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(190, { mode: "translate" });
    made.requests(10, BROKEN);
    expect(made.choose().why).toBe("stepped-back");
    made.control.replace(rulesOf([rule({ stepBack: { ...STEP_BACK, failures: 0.1 } })], { digest: "b" }));
    expect(made.choose()).toMatchObject({ mode: "translate", why: "rule" });
  });

  test("what was under way when a rule was changed says nothing of what it is now", () => {
    const made = rig(rulesOf([rule({ evidenceKey: "old" })]));
    made.control.replace(rulesOf([rule({ evidenceKey: "new" })], { digest: "b" }));
    made.requests(300, { ...BROKEN, ruleId: "old" });
    made.compare(300, { result: "value", ruleId: "old" });
    expect(made.choose().why).toBe("rule");
    expect(made.control.states()[0]).toMatchObject({
      evidence: { requests: 0, failures: 0, comparisons: 0, differences: 0 },
    });
    made.requests(100, { ...BROKEN, ruleId: "new" });
    made.compare(10, { result: "value", ruleId: "new" });
    expect(made.control.states()[0]).toMatchObject({
      evidence: { requests: 100, failures: 100, comparisons: 10, differences: 10 },
    });
  });

  test("the same file again is nothing new, and a rule that went and came back is", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, BROKEN);
    made.told.length = 0;
    made.control.replace(rulesOf([rule()]));
    expect(made.told).toEqual([]);
    expect(made.choose().why).toBe("stepped-back");
    made.control.replace(rulesOf([], { digest: "b" }));
    expect(made.choose().why).toBe("default");
    made.control.replace(rulesOf([rule()]));
    expect(made.choose().why).toBe("rule");
  });

  test("a larger percentage is judged by requests of its own", () => {
    const made = rig(rulesOf([rule({ match: { percent: 60 } })]));
    made.requests(200);
    made.compare(30);
    made.control.replace(rulesOf([rule({ match: { percent: 70 } })], { digest: "b" }));
    expect(made.control.states()[0]).toMatchObject({ evidence: { requests: 0, failures: 0, comparisons: 30 } });
  });

  test("a rule on its way back that may no longer return by itself is back", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, BROKEN);
    made.at += 11 * MINUTE;
    made.choose();
    expect(made.control.states()[0]?.phase).toBe("returning");
    made.control.replace(rulesOf([rule({ stepBack: { ...STEP_BACK, returnAfter: undefined } })], { digest: "b" }));
    expect(made.control.states()[0]?.phase).toBe("back");
    const { rules } = made.control.view() as { rules: { says: string }[] };
    expect(rules[0]?.says).toContain("200 of 200 translated requests failed");
  });

  test("force that is said again is no further change", () => {
    const made = rig(rulesOf([rule()]));
    for (let n = 0; n < 3; n++) made.control.forceByHand("native", START + n);
    expect(made.told.map(({ kind }) => kind)).toEqual(["forced"]);
    expect(made.control.force().commandAt).toBe(START + 2);
  });

  test("what is said of a rule that is there no more is passed over", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(500, { ...BROKEN, rule: "gone" });
    made.compare(500, { rule: "gone", result: "value" });
    made.compare(500, { rule: undefined, result: "value" });
    expect(made.control.states()[0]).toMatchObject({ evidence: { requests: 0, comparisons: 0 } });
  });
});

describe("the view", () => {
  test("it says in words and numbers what each rule does and why", () => {
    const full = rule({
      match: {
        resources: new Set(["group"]),
        operations: new Set(["reads"]),
        clients: new Set(["c0", "c1", "c2", "c3"]),
        percent: 60,
        time: { from: START - 1, until: undefined, days: new Set([1]), hours: { begin: 90, end: 1_440 } },
      },
    });
    const made = rig(rulesOf([full]));
    made.requests(200, BROKEN);
    made.compare(3);
    const view = JSON.parse(JSON.stringify(made.control.view())) as Record<string, unknown>;
    expect(view).toMatchObject({
      file: { digest: "aaaaaaaaaaaa", rules: 1 },
      force: "none",
      fallback: "as configured",
      default: "translate",
      rules: [
        {
          name: "all",
          line: 3,
          match: {
            resources: ["group"],
            operations: ["reads"],
            clients: ["c0", "c1", "c2", "c3"],
            percent: 60,
            time: { from: "2026-11-20T23:59:59.999Z", days: [1], hours: "01:30-24:00 UTC" },
          },
          mode: "translate",
          effective: "shadow",
          state: "back",
          since: "2026-11-21T00:00:00.000Z",
          window: { requests: 0, comparisons: 3 },
          says: "stepped back: 200 of 200 translated requests failed because of translation within 5 min (100 %, more than 2 %), met by 3 clients or more; native answers, 10 % of requests are compared; it tries again after 10 min without a difference",
        },
      ],
    });
  });

  test("without a file it says what decides", () => {
    expect(rig(undefined, { mode: "shadow" }).control.view()).toEqual({
      file: null,
      force: "none",
      forcedBy: { file: "none", command: "none" },
      fallback: "as configured",
      default: "shadow",
      rules: [],
    });
  });
});
