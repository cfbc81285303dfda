/** Which rule takes a request? (Design section 7: the first that matches.) */
import type { HeaderList } from "../model/message.ts";
import type { Rule } from "../model/rules.ts";
import { canaryOf, signsOf } from "./canary.ts";
import { indexRules, isAbout, type Subject } from "./subject.ts";
import { whyCanary, whyNot } from "./why.ts";
import { isWithin } from "./window.ts";

/** What rules look at of a request. */
export interface Asked extends Subject {
  /** As the ledger names it. */
  readonly client: string;
  readonly headers: HeaderList;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What became of one rule; `why` is for a person. */
export interface Judgement {
  readonly rule: Rule;
  readonly matched: boolean;
  readonly why: string;
}

/**
 * Rules made ready for many requests: those about a resource and an operation are found beforehand. `bucketOf`: 0 to 100, by
 * client alone. The function given back has no memory and, without rules, does nothing.
 */
export function createChooser(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
): (asked: Asked) => Rule | undefined {
  if (rules.length === 0) return () => undefined;
  const about = indexRules(rules);
  return (asked) => {
    const candidates = about(asked);
    if (candidates.length === 0) return undefined;
    const signs = signsOf(asked.headers, asked.client, bucketOf);
    return candidates.find((rule) => isOpen(rule, asked) && canaryOf(rule.match, signs).taken);
  };
}

/** Every rule up to and with the first that matched, each with what decided; all of them when none did. */
export function judgeRules(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
  asked: Asked,
): readonly Judgement[] {
  const signs = signsOf(asked.headers, asked.client, bucketOf);
  const judged: Judgement[] = [];
  for (const rule of rules) {
    const asks = isAbout(rule.match, asked) && isOpen(rule, asked);
    const canary = asks ? canaryOf(rule.match, signs) : undefined;
    const matched = canary?.taken === true;
    judged.push({
      rule,
      matched,
      why: canary === undefined ? whyNot(rule, asked) : whyCanary(rule.match, canary, signs),
    });
    if (matched) break;
  }
  return judged;
}

/** Whether client and time of a rule let the request in. */
function isOpen({ match, expires }: Rule, { client, at }: Asked): boolean {
  if (match.clients !== undefined && !match.clients.has(client)) return false;
  if (expires !== undefined && at >= expires) return false;
  return match.time === undefined || isWithin(match.time, at);
}
