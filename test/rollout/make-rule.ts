/** Rules for tests: everything left out is as if the file did not say it. */
import { EVERY_REQUEST, type Rule, type RuleMatch } from "../../src/rules/rule.ts";

export function makeRule(name: string, match: Partial<RuleMatch> = {}, rest: Partial<Rule> = {}): Rule {
  return {
    name,
    line: 1,
    match: { ...EVERY_REQUEST, ...match },
    mode: "translate",
    expires: undefined,
    shadow: { sample: 0.1, control: 0.1 },
    stepBack: undefined,
    promoteWhen: undefined,
    headers: undefined,
    identity: name,
    evidenceKey: name,
    ...rest,
  };
}
