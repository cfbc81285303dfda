/** Brownouts among the other rules: whom they refuse, and what keeps them from it. */
import { describe, expect, test } from "vitest";
import type { BrownoutSettings } from "../../src/model/rules.ts";
import { readSavedRollout, savedRollout } from "../../src/rollout/saved-rollout.ts";
import type { StepBackCause } from "../../src/rollout/step-back.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { finished, MINUTE, rig, rule, rulesOf } from "./control-rig.ts";
import { makeRule } from "./make-rule.ts";

/** A Tuesday, 09:00 UTC. */
const BEGIN = Date.UTC(2026, 10, 24, 9);
const SETTINGS: BrownoutSettings = {
  status: 400,
  message: "v1 ends",
  successor: undefined,
  contact: undefined,
  exempt: new Set(["billing"]),
  stopAbove: 0.5,
  minRequests: 4,
  singleReplica: true,
  allowLong: false,
  schedule: { cron: "0 9 * * 2", zone: "UTC", duration: 10 * MINUTE, from: undefined, until: undefined },
};
const brownout = (match: Partial<Rule["match"]> = {}, over: Partial<BrownoutSettings> = {}): Rule =>
  makeRule("tuesdays", match, { mode: "brownout", brownout: { ...SETTINGS, ...over } });
const guarded = rule({ guard: { action: "stepBack", returnAfter: 900_000, slow: "warn" }, match: { percent: 60 } });
const GUARD: StepBackCause = {
  ...{ what: "guard", operation: "group list", write: false, bad: 5, all: 5, clients: 2, rateLimit: undefined },
  kinds: { unavailable: 5 },
  pairs: { asked: 5, served: 5 },
};

function started(options: Parameters<typeof rig>[1] = {}, rules: readonly Rule[] = [brownout(), guarded]) {
  const made = rig(rulesOf(rules), options);
  made.at = BEGIN + MINUTE;
  return made;
}
const kinds = ({ told }: ReturnType<typeof rig>) => told.map(({ kind }) => kind);

describe("in its window a brownout", () => {
  test("refuses what it matches, and says until when", () => {
    expect(started().choose()).toMatchObject({
      mode: "brownout",
      rule: { name: "tuesdays" },
      window: { start: BEGIN, end: BEGIN + 10 * MINUTE },
      at: BEGIN + MINUTE,
    });
  });

  test.each([
    ["a client that is exempt", {}, "billing"],
    ["a client that its match leaves out", { clients: new Set(["web"]) }, "c0"],
    ["a client above its percentage", { percent: 50 }, "c0"],
  ])("leaves %s to the next rule", (_, match, client) => {
    expect(started({}, [brownout(match), guarded]).choose(client)).toMatchObject({ mode: "translate", why: "rule" });
  });

  test("leaves a client to the next rule that may not be refused", () => {
    const made = started({ spared: (client) => (client === "c1" ? "its requests failed" : undefined) });
    expect([made.choose("c0").mode, made.choose("c1").mode]).toEqual(["brownout", "translate"]);
    const [rule] = made.control.rules()?.rules ?? [];
    if (rule === undefined) throw new Error("no rule");
    expect(["c0", "c1"].map((client) => made.control.whyNotRefused(rule, client, made.at))).toEqual([
      undefined,
      "client c1 failed its exam: its requests failed",
    ]);
  });

  test("begins without a request, too", () => {
    const made = started();
    made.control.lookAtBrownouts();
    expect(kinds(made)).toEqual(["brownout-began"]);
  });
});

test("outside of its window a brownout is as if it were not there", () => {
  const made = started();
  made.at = BEGIN - 1;
  expect(made.choose()).toMatchObject({ mode: "translate", rule: { name: "all" } });
  made.at = BEGIN + 10 * MINUTE;
  expect(made.choose()).toMatchObject({ mode: "translate", rule: { name: "all" } });
  expect(made.control.states()[0]).toMatchObject({ doing: "nothing", brownout: { phase: "waiting", zone: "UTC" } });
});

test("the record of a brownout has what its rule announces to the teams of clients", () => {
  const headers = { sunset: BEGIN, documentation: "https://a/v1", successor: false };
  const made = started({}, [{ ...brownout({}, { contact: "#api", successor: "https://a/v2" }), headers }]);
  expect(made.control.states()[0]).toMatchObject({
    announces: { sunset: BEGIN, documentation: "https://a/v1" },
    brownout: { contact: "#api", successor: "https://a/v2", exempt: ["billing"] },
  });
});

describe("a brownout does not start", () => {
  test("while a rule is back because v2 failed its clients", () => {
    const made = started();
    made.control.adopt("all", GUARD);
    expect(made.choose().mode).not.toBe("brownout");
    expect(made.told.at(-1)).toMatchObject({
      kind: "brownout-not-started",
      reason: "v2 fails clients of rule all",
    });
  });

  test("while a mode is forced, nor once that is over", () => {
    const made = started();
    made.control.forceByHand("native", made.at);
    expect(made.choose()).toMatchObject({ mode: "native", why: "forced" });
    made.control.forceByHand("none", made.at);
    expect(made.choose().mode).toBe("translate");
    expect(kinds(made)).toEqual(["forced", "brownout-not-started", "forced"]);
  });

  test("without the store that replicas share, and before the store has said what they did", () => {
    const made = started({ isShared: true, isStoreUp: () => isUp });
    let isUp = false;
    const hear = () => made.control.brownoutTogether("tuesdays", BEGIN, { requests: 0, refused: 0 }, undefined);
    expect(made.choose().mode).toBe("translate");
    hear();
    expect(made.choose().mode).toBe("translate");
    isUp = true;
    made.control.lookAtBrownouts();
    expect(made.choose().mode).toBe("brownout");
    const other = started({ isShared: true, isStoreUp: () => true });
    expect(other.choose().mode).toBe("translate");
    other.control.brownoutTogether("tuesdays", BEGIN, { requests: 0, refused: 0 }, undefined);
    expect(other.choose().mode).toBe("brownout");
  });
});

describe("a brownout that runs stops", () => {
  test("when v2 begins to fail clients", () => {
    const made = started();
    made.choose();
    made.control.adopt("all", GUARD);
    made.control.lookAtBrownouts();
    expect(made.choose().mode).not.toBe("brownout");
    expect(kinds(made)).toContain("brownout-stopped");
  });

  test("with the request that makes the share of refused ones too large", () => {
    const made = started();
    made.choose();
    const refused = { mode: "refused", reason: "BROWNOUT", rule: "tuesdays", status: 400 } as const;
    for (const facts of [refused, {}, refused]) made.control.observe(finished("c0", facts));
    // Turned away before its client is known, and v2's: neither counts.
    made.control.observe(finished("c0", { mode: "refused", reason: "OVERLOADED", calls: [] }));
    made.control.observe(finished("c0", { apiVersion: "v2", mode: "pass" }));
    expect(made.choose().mode).toBe("brownout");
    made.control.observe(finished("c0", refused));
    expect(made.choose().mode).toBe("translate");
    expect(made.told.at(-1)?.reason).toMatch(/^3 of 4 v1 requests were refused/);
  });
});

test("a rules file with other rules ends no stop, and one without the rule ends the brownout", () => {
  const made = started();
  made.choose();
  made.control.forceByHand("native", made.at);
  made.control.forceByHand("none", made.at);
  made.control.replace(rulesOf([brownout({}, { message: "another" }), guarded], { digest: "bbbbbbbbbbbb" }));
  expect(made.choose().mode).toBe("translate");
  made.control.replace(rulesOf([guarded], { digest: "cccccccccccc" }));
  expect(made.choose().mode).toBe("translate");
});

describe("after a restart", () => {
  const restarted = (before: ReturnType<typeof rig>, change: (saved: string) => string = (saved) => saved) => {
    const memory = before.control.memory();
    const text = [...savedRollout({ key: "0".repeat(64), basis: "", kept: {}, ...memory })].join("");
    const made = rig(undefined);
    made.at = BEGIN + 2 * MINUTE;
    made.control.restore(readSavedRollout(JSON.parse(change(text)), (name) => name));
    made.control.replace(rulesOf([brownout(), guarded]));
    return made;
  };

  test("a brownout that ran goes on, without a second beginning", () => {
    const before = started();
    before.choose();
    const made = restarted(before);
    expect(made.choose().mode).toBe("brownout");
    expect(kinds(made)).not.toContain("brownout-began");
  });

  test("a brownout that was stopped stays so", () => {
    const before = started();
    before.choose();
    before.control.forceByHand("native", before.at);
    before.control.forceByHand("none", before.at);
    expect(restarted(before).choose().mode).toBe("translate");
  });

  test("a window is not used whose saved state cannot be read", () => {
    const before = started();
    before.choose();
    const made = restarted(before, (saved) => saved.replace('"kind":"running"', '"kind":"odd"'));
    expect(made.choose().mode).not.toBe("brownout");
    expect(kinds(made)).toContain("brownout-not-started");
  });
});
