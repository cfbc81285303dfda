import { describe, expect, test } from "vitest";
import { initialRuleState } from "../../src/rollout/rule-state.ts";
import { stateText } from "../../src/rollout/view.ts";
import { duration } from "../../src/rules/words.ts";
import { MINUTE, rig, rule, rulesOf, START } from "./control-rig.ts";

const short = rule({ name: "short", expires: START + MINUTE });
const rest = rule({ name: "rest", identity: "2" });

describe("a rule that expires while it is in force", () => {
  test("is told of once, with the first request after it, and does nothing from then on", () => {
    const made = rig(rulesOf([short, rest]));
    made.choose();
    expect([made.told, made.control.states()[0]?.doing]).toEqual([[], "translate"]);
    made.at = START + 2 * MINUTE;
    expect(made.choose().rule).toBe(rest);
    made.choose();
    expect(made.told).toEqual([
      {
        kind: "expired",
        rule: "short",
        at: START + 2 * MINUTE,
        from: "translate",
        to: "nothing",
        reason: "it expired on 2026-11-21T00:01:00.000Z: later rules and cutover.mode decide",
      },
    ]);
    expect(made.control.states()[0]).toMatchObject({
      mode: "translate",
      doing: "nothing",
      state: "expired",
      since: START + MINUTE,
    });
    expect(made.control.states()[1]).toMatchObject({ doing: "translate", state: "as-written" });
  });

  const time = { from: undefined, until: START + MINUTE, days: undefined, hours: undefined, zone: "UTC" };
  const bounded = { ...short, expires: undefined, match: { ...short.match, time } };

  test.each([
    ["expires", short],
    ["match.time.until", bounded],
  ])("by %s is reported by a view, without any request", (_, one) => {
    for (const look of ["states", "view"] as const) {
      const made = rig(rulesOf([one]));
      made.at = START + MINUTE;
      const seen = JSON.stringify(made.control[look]());
      expect(made.told.map(({ kind, rule: name }) => [kind, name])).toEqual([["expired", "short"]]);
      expect(seen).toMatch(/"(doing|effective)":"nothing"/);
    }
  });

  test("is told of one by one, and again when it was given more time", () => {
    const later = rule({ name: "later", identity: "3", expires: START + 3 * MINUTE });
    const made = rig(rulesOf([later, short]));
    made.at = START + MINUTE;
    made.choose();
    made.at = START + 3 * MINUTE;
    made.choose();
    made.control.replace(rulesOf([{ ...short, identity: "4", expires: START + 4 * MINUTE }]));
    made.at = START + 4 * MINUTE;
    made.choose();
    expect(made.told.map(({ kind, rule: name }) => [kind, name])).toEqual([
      ["expired", "short"],
      ["expired", "later"],
      ["expired", "short"],
    ]);
  });

  test("could not move, whatever was learnt, and a file that already holds it so is not told of here", () => {
    const made = rig(rulesOf([{ ...short, expires: START }]));
    made.choose();
    expect(made.control.states()[0]).toMatchObject({ couldMove: false, doing: "nothing" });
    expect(made.told).toEqual([]);
  });
});

test("what a rule says under force is that force overrides it", () => {
  const made = rig(rulesOf([rest], { force: "native" }));
  const words = stateText(initialRuleState(rest, START));
  expect(words).toContain("translates");
  expect(made.control.view()).toMatchObject({ rules: [{ says: `overridden by force: native; without it: ${words}` }] });
});

test.each([
  [999, "999 ms"],
  [1_000, "1 s"],
  [119_940, "119.9 s"],
  [120_000, "2 min"],
  [7_199_000, "120 min"],
  [9_000_000, "2.5 h"],
])("%i milliseconds are said as %s", (ms, words) => expect(duration(ms)).toBe(words));
