/** Which rule takes a request? (Design section 7: the first that matches.) */
import type { HeaderList } from "../model/http.ts";
import {
  type CanaryDecision,
  type CanaryInputs,
  canaryInputsOf,
  decideCanary,
  indexRules,
  isAbout,
  isWithin,
  type RequestedOperation,
} from "../model/rule-match.ts";
import type { Rule, RuleMatch } from "../model/rules.ts";

/** What rules look at of a request. */
export interface RuleInput extends RequestedOperation {
  /** As the ledger names it. */
  readonly client: string;
  readonly headers: HeaderList;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What became of one rule; `why` is for a person. */
export interface RuleJudgement {
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
): (asked: RuleInput) => Rule | undefined {
  if (rules.length === 0) return () => undefined;
  const about = indexRules(rules);
  return (asked) => {
    const candidates = about(asked);
    if (candidates.length === 0) return undefined;
    const signs = canaryInputsOf(asked.headers, asked.client, bucketOf);
    return candidates.find((rule) => isOpen(rule, asked) && decideCanary(rule.match, signs).taken);
  };
}

/** Every rule up to and with the first that matched, each with what decided; all of them when none did. */
export function judgeRules(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
  asked: RuleInput,
): readonly RuleJudgement[] {
  const signs = canaryInputsOf(asked.headers, asked.client, bucketOf);
  const judged: RuleJudgement[] = [];
  for (const rule of rules) {
    const asks = isAbout(rule.match, asked) && isOpen(rule, asked);
    const canary = asks ? decideCanary(rule.match, signs) : undefined;
    const matched = canary?.taken === true;
    judged.push({
      rule,
      matched,
      why: canary === undefined ? mismatchText(rule, asked) : canaryText(rule.match, canary, signs),
    });
    if (matched) break;
  }
  return judged;
}

/** Whether client and time of a rule let the request in. */
function isOpen({ match, expires }: Rule, { client, at }: RuleInput): boolean {
  if (match.clients !== undefined && !match.clients.has(client)) return false;
  if (expires !== undefined && at >= expires) return false;
  return match.time === undefined || isWithin(match.time, at);
}

/** In which words is it told why a rule took a request, or did not? */

/** Why a rule is not about a request: the first of resource, operation, client, expiry and time that does not hold. */
export function mismatchText(
  { match, expires }: Rule,
  {
    resource,
    operation,
    write,
    guessed,
    client,
    at,
  }: RequestedOperation & { readonly client: string; readonly at: number },
): string {
  const { resources, operations, clients } = match;
  if (resources !== undefined && !resources.has(resource)) return `resource is ${resource}, not ${anyOf(resources)}`;
  if (operations !== undefined && !operations.has(operation) && !operations.has(write ? "writes" : "reads")) {
    return `operation is ${operation} (${write ? "a write" : "a read"}), not ${anyOf(operations)}`;
  }
  if (guessed === true && operations?.has(operation) !== true)
    return `${operation} is guessed, and it does not name it`;
  if (clients !== undefined && !clients.has(client)) return `client is ${client}, not ${anyOf(clients)}`;
  if (expires !== undefined && at >= expires) return `expired on ${new Date(expires).toISOString()}`;
  return `${new Date(at).toISOString()} is outside its time`;
}

/** What header, cookie and percentage said. Header and cookie values are not repeated, except `never` and the rule's own. */
export function canaryText(match: RuleMatch, canary: CanaryDecision, signs: CanaryInputs): string {
  const { header, cookie, percent } = match;
  switch (canary.by) {
    case "all":
      return "everything it asks for holds";
    case "header":
      return `header ${header?.name} is ${canary.taken ? header?.value : "never"}`;
    case "cookie":
      return `cookie ${cookie?.name} is ${canary.taken ? cookie?.value : "never"}`;
    case "percent":
      return `client is in bucket ${signs.bucket().toFixed(4)}, ${canary.taken ? "below" : "not below"} ${percent}`;
    case "unselected":
      return `${[header && `header ${header.name}`, cookie && `cookie ${cookie.name}`].filter(Boolean).join(" and ")} did not select it, and it has no percentage`;
    default:
      return canary satisfies never;
  }
}

function anyOf(names: ReadonlySet<string>): string {
  return [...names].join(" or ");
}
