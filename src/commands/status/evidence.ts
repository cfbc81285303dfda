/** What an instance tells of a rule, so that somebody else can judge whether it may go further. */
import type { RuleEvidence, RuleStatus } from "../../model/progress.ts";
import type { Rule } from "../../model/rules.ts";
import { matchWords } from "../check/rules.ts";

export function ruleEvidence({ match, promoteWhen, stepBack }: Rule, status: RuleStatus): RuleEvidence {
  const { requests, failures, comparisons, differences, bound, risk, clients, clientsNeeded } = status;
  return {
    whom: matchWords(match),
    percent: match.percent,
    requests,
    failures,
    comparisons,
    differences,
    bound,
    risk,
    clients,
    clientsNeeded,
    differencesBelow: promoteWhen?.differencesBelow ?? stepBack?.differences,
    failuresBelow: stepBack?.failures,
    heldBack: status.heldBack,
    stepBacks: status.stepBacks,
  };
}
