/** Rules for tests: everything left out is as if the file did not say it. */
import type { Rule, RuleMatch } from "../../src/model/rules.ts";

export const MATCH_ALL: RuleMatch = {
  resources: undefined,
  operations: undefined,
  clients: undefined,
  time: undefined,
  header: undefined,
  cookie: undefined,
  percent: undefined,
};

export function makeRule(name: string, match: Partial<RuleMatch> = {}, rest: Partial<Rule> = {}): Rule {
  return {
    name,
    line: 1,
    match: { ...MATCH_ALL, ...match },
    mode: "translate",
    expires: undefined,
    shadow: { sample: 0.1, control: 0.1 },
    stepBack: undefined,
    promoteWhen: undefined,
    headers: undefined,
    identity: name,
    ...rest,
  };
}
