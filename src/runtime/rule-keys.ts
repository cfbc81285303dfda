/** Keys of rules in the shared store. */
import { createHash } from "node:crypto";
import type { Rule } from "../rules/rule.ts";

const DIGITS = 24;

/**
 * Rules of the same key take the same requests in the same way, whatever their share of clients and their thresholds are. `basis`: what responses
 * depend on besides, if that is to be the same, too.
 */
export function createRuleKeys(basis?: string): (rule: Rule) => string {
  const known = new WeakMap<Rule, string>();
  return (rule) => {
    const before = known.get(rule);
    if (before !== undefined) return before;
    const text = JSON.stringify([rule.name, rule.mode, rule.evidenceKey, ...(basis === undefined ? [] : [basis])]);
    const key = createHash("sha256").update(text).digest("hex").slice(0, DIGITS);
    known.set(rule, key);
    return key;
  };
}
