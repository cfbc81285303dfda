/** Does an instance tell a report what keeps a rule from moving? */
import { expect, test } from "vitest";
import { progressOf } from "../../src/migration/progress.ts";
import { rig, rule, rulesOf } from "../control/control-rig.ts";

const LEDGER = { since: 0, at: 0, rows: [], overflow: undefined };

test("a rule that is held back names the operation and why, and one that is not says nothing of it", () => {
  const promoteWhen = { differencesBelow: 0.1, minClients: 3, automatic: false };
  const made = rig(
    rulesOf([rule({ mode: "shadow", stepBack: undefined, shadow: { sample: 1, control: 0 }, promoteWhen })]),
  );
  const said = () =>
    progressOf({
      instance: "i",
      since: 0,
      wall: () => 0,
      mode: "translate",
      control: made.control,
      shadow: undefined,
      lastReloadSuccessful: () => true,
      totals: () => ({ since: 0, at: 0, rows: [] }),
      ledger: () => LEDGER as never,
    }).rules[0];
  made.compare(60, { served: "shadow" });
  expect(said()).toMatchObject({
    state: "could-move",
    detail: "0 of 60 comparisons differed: at most 5 % do (95 %)",
  });
  made.requests(12, { resource: "repo", operation: "create", mode: "shadow" });
  expect(said()).toMatchObject({
    state: "as-written",
    detail:
      "0 of 60 comparisons differed: at most 5 % do (95 %); not to be translated yet: repo create: 12 requests, 0 compared: 6 needed",
  });
});
