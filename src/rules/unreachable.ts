/** Finds rules that can never match because earlier rules always match first. */

import { isSwitchedOff } from "./conditions/canary.ts";
import type { RequestedOperation } from "./conditions/condition.ts";
import { distinguishedOperations } from "./conditions/subject.ts";
import { CONDITIONS, type Rule } from "./rule.ts";

/** A rule without effect, and the earlier rules that leave it nothing. */
export interface UnreachableRule {
  readonly rule: Rule;
  readonly by: readonly Rule[];
}

const BY_OPERATION = CONDITIONS.filter((condition) => condition.coversByOperation);
const FOR_ALL = CONDITIONS.filter((condition) => !condition.coversByOperation);

/**
 * Rules for which each operation that they are about is taken by one earlier rule, for every client and at any time. `listed`:
 * every operation of the resources that rules name. Never names a rule that could take something; where several earlier
 * rules leave nothing only together (by client, time or percentage), it stays silent. Rules of 0 percent are switched off
 * on purpose and not named.
 */
export function findUnreachable(
  rules: readonly Rule[],
  listed: readonly RequestedOperation[],
): readonly UnreachableRule[] {
  const operationsOf = distinguishedOperations(rules, listed);
  return rules.flatMap((rule, at) => {
    if (isSwitchedOff(rule.match)) return [];
    let left = operationsOf(rule.match);
    const by: Rule[] = [];
    for (const other of rules.slice(0, at)) {
      const any = left[0];
      if (any === undefined) break;
      // Outside of its windows it matches nothing.
      if (other.mode === "brownout") continue;
      if (!FOR_ALL.every((condition) => condition.covers(other, rule, any))) continue;
      const rest = left.filter((one) => !BY_OPERATION.every((condition) => condition.covers(other, rule, one)));
      if (rest.length < left.length) by.push(other);
      left = rest;
    }
    return left.length === 0 && by.length > 0 ? [{ rule, by }] : [];
  });
}
