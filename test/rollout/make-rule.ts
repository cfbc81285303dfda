/** Rules for tests: everything left out is as if the file did not say it. */
import type { HeaderList } from "../../src/model/http.ts";
import type { RuleInput } from "../../src/rules/conditions/condition.ts";
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
    guard: { action: "off", returnAfter: 900_000, slow: "warn" },
    onFailure: undefined,
    promoteWhen: undefined,
    headers: undefined,
    brownout: undefined,
    identity: name,
    evidenceKey: name,
    ...rest,
  };
}

/** Of a request for a list of groups; no rule looks at its method and target. */
export function headOf(headers: HeaderList = []): RuleInput["head"] {
  return { method: "GET", target: "/iam/v1/groups", headers };
}
