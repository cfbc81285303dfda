import { expect, test } from "vitest";
import { readRecord } from "../../src/rules/record.ts";
import { RuleStatusSchema } from "../../src/rules/status.ts";
import { progressOf } from "../../src/runtime/progress.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { MINUTE, type Rig, rig, rule, rulesOf, START } from "../rollout/control-rig.ts";

const LEDGER = { since: 0, at: 0, clients: [], rows: [], overflow: undefined };

/** What the instance of `made` tells. */
const told = (made: Rig) =>
  progressOf({
    instance: "i",
    since: 0,
    wall: () => 0,
    mode: "translate",
    rollout: made.control,
    shadow: undefined,
    rulesFault: () => undefined,
    shared: () => undefined,
    lost: () => [],
    saved: () => true,
    countsLostAt: () => undefined,
    comparedSince: () => 0,
    events: { select: () => [] },
    totals: () => ({ since: 0, at: 0, rows: [] }),
    window: () => undefined,
    ledger: () => LEDGER as never,
    bucketOf: () => 0,
  });
const promoteWhen = { differencesBelow: 0.1, minClients: 3, automatic: false };
const shadowed = { mode: "shadow", stepBack: undefined, shadow: { sample: 1, control: 0 }, promoteWhen } as const;

test("a rule that is held back names the operation and why, and one that is not says nothing of it", () => {
  const made = rig(rulesOf([rule(shadowed)]));
  made.compare(60, { served: "shadow" });
  expect(told(made).rules[0]).toMatchObject({
    state: "could-move",
    detail: "0 differences in the latest 60 comparisons: at most 6 % differ (95 %)",
  });
  made.requests(12, { resource: "repo", operation: "create", mode: "shadow" });
  expect(told(made).rules[0]).toMatchObject({
    state: "as-written",
    detail:
      "0 differences in the latest 60 comparisons: at most 6 % differ (95 %); not to be translated yet: repo create: 0 comparisons in 12 requests, 6 needed",
  });
});

test("a rule says what it does instead of what is written, /rules agrees, and force is a member of its own", () => {
  const said = ({ rules: [first] }: Progress) => [first?.mode, first?.doing, first?.state];
  const moved = rig(rulesOf([rule({ ...shadowed, promoteWhen: { ...promoteWhen, automatic: true } })]));
  moved.compare(60, { served: "shadow" });
  expect(said(told(moved))).toEqual(["shadow", "translate", "promoted"]);
  const over = rig(rulesOf([rule({ expires: START + MINUTE })]));
  over.at = START + MINUTE;
  expect(said(told(over))).toEqual(["translate", "nothing", "expired"]);
  const back = rig(rulesOf([rule()]));
  back.requests(200, { status: 502, reason: "UPSTREAM_INVALID" });
  expect(said(told(back))).toEqual(["translate", "shadow", "stepped-back"]);
  back.at = START + 10 * MINUTE;
  back.choose();
  expect(said(told(back))).toEqual(["translate", "translate", "returning"]);
  expect(told(back).rules[0]?.detail).toContain("10 % of its clients are translated");
  for (const made of [moved, over, back]) {
    const status = told(made).rules[0];
    expect(readRecord(RuleStatusSchema, JSON.parse(JSON.stringify(status)))).toEqual(status);
    const { rules } = JSON.parse(JSON.stringify(made.control.view()));
    const { mode, doing, phase, step, promoted, couldMove, evidence } = status ?? {};
    expect(rules[0]).toMatchObject({ mode, effective: doing, state: phase, promoted, couldMove });
    expect([rules[0].step, rules[0].requests]).toEqual([step, evidence?.requests]);
  }
  expect([told(back).force, told(rig(rulesOf([], { force: "native" }))).force]).toEqual(["none", "native"]);
});
