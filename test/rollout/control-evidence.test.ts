import { describe, expect, test } from "vitest";
import { DIFFERENCE_CLASSES } from "../../src/model/comparison.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import type { PromoteSettings } from "../../src/model/rules.ts";
import { finished, MINUTE, rig, rule, rulesOf, START } from "./control-rig.ts";

const reasons = Object.entries(PROBLEMS).map(([reason, { fault, http }]) => ({ reason, fault, status: http }));

function call(status: number): Exchange["calls"][number] {
  return { upstream: "v2", method: "GET", path: "/", status, ms: 1 };
}

describe("requests", () => {
  test("what v2 refuses of words that only carryover can have said is a failure of translation", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(300, { calls: [call(400)], status: 400, notes: ["own-words-refused"] });
    expect(made.choose().why).toBe("stepped-back");
    const repeated = rig(rulesOf([rule()]));
    // It was said otherwise, and taken: a mask in the other spelling.
    repeated.requests(300, { calls: [call(400), call(200)], status: 200, notes: ["own-words-refused"] });
    expect(repeated.control.states()[0]).toMatchObject({ phase: "forward", evidence: { failures: 0, requests: 300 } });
  });

  test("a mistake of carryover's own is one, whoever finds it", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(300, { calls: [], status: 500, reason: "INTERNAL" });
    expect(made.choose().why).toBe("stepped-back");
  });

  test.each(reasons)(
    "$reason is held against translation if, and only if, it is its fault ($fault)",
    ({ reason, fault, status }) => {
      const made = rig(rulesOf([rule()]));
      made.requests(300, { status, reason });
      expect(made.choose().why).toBe(fault === "translation" ? "stepped-back" : "rule");
      if (fault !== "translation")
        expect(made.control.states()[0]).toMatchObject({ evidence: { requests: 0, failures: 0 } });
    },
  );

  const silent: readonly [string, Partial<Exchange>][] = [
    ["whose client left", { aborted: true, reason: "INTERNAL", status: 500 }],
    ["that ended with 499", { status: 499, reason: "INTERNAL" }],
    ["that v2 refused", { status: 404 }],
    ["that v2 failed to answer", { status: 503 }],
    ["that native answered", { mode: "native", reason: "INTERNAL", status: 500 }],
    ["that was compared in the background", { mode: "shadow", reason: "INTERNAL", status: 500 }],
    ["that was refused", { mode: "refused", reason: "INTERNAL", status: 500 }],
    ["of v2", { apiVersion: "v2", reason: "INTERNAL", status: 500 }],
    ["that no rule decided on", { rule: undefined, reason: "INTERNAL", status: 500 }],
    ["with a reason of its own", { status: 500, reason: "__proto__" }],
    ["that failed for its client alone", { status: 422, reason: "DRAIN_TOO_LARGE", fault: "client" }],
    ["that never reached the platform", { calls: [], status: 422, reason: "DRAIN_TOO_LARGE" }],
    ["of a caller whom the platform did not let in", { calls: [call(401)], status: 502, reason: "UPSTREAM_INVALID" }],
    ["that the platform did not answer", { calls: [call(0)], status: 502, reason: "UPSTREAM_INVALID" }],
  ];
  test.each(silent)("a request %s counts neither way", (_, facts) => {
    const made = rig(rulesOf([rule()]));
    made.requests(1_000, facts);
    expect(made.control.states()[0]).toMatchObject({ phase: "forward", evidence: { requests: 0, failures: 0 } });
  });

  test("a list that broke off after its head was sent counts as the failure it is", () => {
    const made = rig(rulesOf([rule()]));
    made.requests(200, { status: 200, reason: "DRAIN_INCOMPLETE" });
    expect(made.choose().why).toBe("stepped-back");
  });

  test("an outage does not hide what translation does wrong meanwhile", () => {
    const made = rig(rulesOf([rule()]));
    for (let n = 0; n < 200; n++) {
      made.requests(20, { status: 504, reason: "UPSTREAM_TIMEOUT" });
      made.control.observe(finished(`c${n % 7}`, n % 20 === 0 ? { status: 500, reason: "INTERNAL" } : {}));
    }
    expect(made.choose().why).toBe("stepped-back");
  });
});

describe("comparisons", () => {
  test.each(DIFFERENCE_CLASSES)(
    "a difference of class %s is held against translation, unless it is the order",
    (result) => {
      const made = rig(rulesOf([rule()]));
      made.compare(20, { result });
      expect(made.choose().why).toBe(result === "order" ? "rule" : "stepped-back");
    },
  );

  test("noise counts as equal, and what could not be compared not at all", () => {
    const made = rig(rulesOf([rule()]));
    made.compare(50, { result: "noise" });
    made.compare(70, { result: "failed", failure: "too-large" });
    expect(made.control.states()[0]).toMatchObject({ phase: "forward", evidence: { comparisons: 50, differences: 0 } });
  });

  test("a wrong row is stepped back on after twenty comparisons: two hundred requests of which a tenth is compared", () => {
    const made = rig(rulesOf([rule()]));
    let requests = 0;
    while (made.choose().mode === "translate" && requests < 10_000) {
      made.at += 100;
      requests++;
      made.control.observe(finished(`c${requests % 7}`));
      if (requests % 10 === 0) made.compare(1, { client: `c${requests % 7}`, result: "value" });
    }
    expect(requests).toBe(200);
    expect(made.told[0]?.reason).toContain("20 differences in 20 comparisons");
  });

  test("comparisons while it is back hold it there as long as they differ", () => {
    const made = rig(rulesOf([rule()]));
    made.compare(20, { result: "missing" });
    for (let n = 1; n <= 60; n++) {
      made.at = START + n * MINUTE;
      made.compare(3, { served: "shadow", result: "missing" });
      expect(made.choose().why).toBe("stepped-back");
    }
    made.at += 10 * MINUTE;
    made.compare(30, { served: "shadow" });
    expect(made.control.states()[0]).toMatchObject({ phase: "returning", step: 0.1, doing: "translate" });
  });
});

describe("promotion", () => {
  const when = (over: Partial<PromoteSettings> = {}): PromoteSettings => {
    return { differencesBelow: 0.01, minClients: 3, automatic: true, ...over };
  };
  const shadowed = { name: "all", mode: "shadow", stepBack: undefined } as const;

  test("a rule moves by itself when the bound is low enough, goes on comparing, and says so once", () => {
    const made = rig(rulesOf([rule({ ...shadowed, promoteWhen: when() })]));
    made.compare(367, { served: "shadow" });
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "rule" });
    made.compare(100, { served: "shadow" });
    expect(made.choose()).toMatchObject({ mode: "translate", why: "promoted", shadow: { sample: 0.1 } });
    expect(made.control.states()[0]).toMatchObject({
      mode: "shadow",
      doing: "translate",
      promoted: true,
      couldMove: false,
    });
    expect(made.told).toHaveLength(1);
    expect(made.told[0]).toMatchObject({ kind: "promoted", from: "shadow", to: "translate" });
    expect(made.told[0]?.reason).toBe(
      "0 differences in the latest 368 comparisons of 3 clients or more: at most 0.9973 % differ (95 %), less than 1 %",
    );
  });

  test("without `automatic` it stays where it is and says once that it could move", () => {
    const made = rig(rulesOf([rule({ ...shadowed, promoteWhen: when({ automatic: false }) })]));
    made.compare(800, { served: "shadow" });
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "rule" });
    expect(made.told.map(({ kind }) => kind)).toEqual(["could-promote"]);
    expect(made.control.states()[0]).toMatchObject({ couldMove: true, promoted: false, doing: "shadow" });
    const { rules } = made.control.view() as { rules: { says: string }[] };
    expect(rules[0]?.says).toContain("it could be set to translate: 0 differences in the latest 800 comparisons");
  });

  test("what moved by itself steps back by itself, and does not move again until it is changed", () => {
    const promoteWhen = when();
    const made = rig(rulesOf([rule({ ...shadowed, promoteWhen })]));
    made.compare(368, { served: "shadow" });
    made.compare(20, { result: "value" });
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "stepped-back" });
    made.at += 1e9;
    made.compare(5_000, { served: "shadow" });
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "stepped-back" });
    expect(made.told.map(({ kind }) => kind)).toEqual(["promoted", "stepped-back"]);
    made.control.replace(rulesOf([rule({ ...shadowed, promoteWhen, evidenceKey: "2" })], { digest: "b" }));
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "rule" });
    made.compare(368, { served: "shadow" });
    expect(made.choose().why).toBe("promoted");
  });

  test("differences before it moved are no reason to step back after it", () => {
    const made = rig(rulesOf([rule({ ...shadowed, promoteWhen: when({ differencesBelow: 0.5 }) })]));
    made.compare(15, { served: "shadow", result: "value" });
    made.compare(60, { served: "shadow" });
    expect(made.choose().why).toBe("promoted");
    expect(made.control.states()[0]).toMatchObject({
      phase: "forward",
      evidence: { differences: 15, comparisons: 75 },
    });
  });

  test("a shadow rule that says nothing of it never moves", () => {
    const made = rig(rulesOf([rule({ ...shadowed })]));
    made.compare(20_000, { served: "shadow" });
    expect(made.choose()).toMatchObject({ mode: "shadow", why: "rule" });
    expect(made.control.states()[0]).toMatchObject({ couldMove: false, evidence: { comparisons: 20_000 } });
    expect(made.told).toEqual([]);
  });
});

test("what stands for credentials is counted, and neither shown nor told", () => {
  const made = rig(
    rulesOf([rule({ mode: "shadow", promoteWhen: { differencesBelow: 0.1, minClients: 3, automatic: true } })]),
  );
  made.compare(300, { served: "shadow" });
  made.compare(20, { result: "value" });
  expect(made.told.map(({ kind }) => kind)).toEqual(["promoted", "stepped-back"]);
  const shown = JSON.stringify([made.control.view(), made.control.states(), made.told]);
  expect(shown).toContain("met by 3 clients");
  expect(shown).not.toContain("credential of");
});
