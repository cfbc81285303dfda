import type { HeaderList } from "../model/http.ts";
import {
  type CanaryDecision,
  type CanaryInputs,
  canaryInputsOf,
  decideCanary,
  indexRules,
  isWithin,
  type RequestedOperation,
} from "./match.ts";
import type { Rule, RuleMatch } from "./rule.ts";

/** What rules look at in a request. */
export interface RuleInput extends RequestedOperation {
  /** The ledger's name for it. */
  readonly client: string;
  readonly headers: HeaderList;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Whether a rule matched; `why` is for people. */
export interface RuleJudgement {
  readonly rule: Rule;
  readonly matched: boolean;
  readonly why: string;
}

/**
 * Returns a function that finds the first rule that matches a request, by an index of `rules` that is built once.
 * `bucketOf`: 0 to 100, by client alone.
 */
export function createChooser(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
): (input: RuleInput) => Rule | undefined {
  if (rules.length === 0) return () => undefined;
  const about = indexRules(rules);
  return (input) => {
    const candidates = about(input);
    if (candidates.length === 0) return undefined;
    const inputs = canaryInputsOf(input.headers, input.client, bucketOf);
    return candidates.find((rule) => isOpen(rule, input) && decideCanary(rule.match, inputs).taken);
  };
}

/** Whether client and time of a rule let the request in. */
function isOpen({ match, expires }: Rule, { client, at }: RuleInput): boolean {
  if (match.clients !== undefined && !match.clients.has(client)) return false;
  if (expires !== undefined && at >= expires) return false;
  return match.time === undefined || isWithin(match.time, at);
}

/** Every rule up to and with the first that matched, each with what decided; all of them when none did. */
export function judgeRules(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
  input: RuleInput,
): readonly RuleJudgement[] {
  const inputs = canaryInputsOf(input.headers, input.client, bucketOf);
  const judged: RuleJudgement[] = [];
  for (const rule of rules) {
    const mismatch = mismatchText(rule, input);
    const canary = decideCanary(rule.match, inputs);
    const matched = mismatch === undefined && canary.taken;
    judged.push({ rule, matched, why: mismatch ?? canaryText(rule.match, canary, inputs) });
    if (matched) break;
  }
  return judged;
}

/** The first of resource, operation, client, expiry and time that does not match; undefined when all do. */
function mismatchText({ match, expires }: Rule, input: RuleInput): string | undefined {
  const { resources, operations, clients, time } = match;
  const { resource, operation, write, client, at } = input;
  if (resources !== undefined && !resources.has(resource)) return `resource is ${resource}, not ${anyOf(resources)}`;
  if (operations !== undefined && !operations.has(operation) && !operations.has(write ? "writes" : "reads")) {
    return `operation is ${operation} (${write ? "a write" : "a read"}), not ${anyOf(operations)}`;
  }
  if (input.guessed === true && operations?.has(operation) !== true) {
    return `${operation} is guessed, and it does not name it`;
  }
  if (clients !== undefined && !clients.has(client)) return `client is ${client}, not ${anyOf(clients)}`;
  if (expires !== undefined && at >= expires) return `expired on ${new Date(expires).toISOString()}`;
  return time === undefined || isWithin(time, at) ? undefined : `${new Date(at).toISOString()} is outside its time`;
}

/** What header, cookie and percentage decided. Values of the request are not repeated, except `never` and the rule's own. */
function canaryText(match: RuleMatch, canary: CanaryDecision, inputs: CanaryInputs): string {
  const { header, cookie, percent } = match;
  switch (canary.by) {
    case "all":
      return "everything it asks for holds";
    case "header":
      return `header ${header?.name} is ${canary.taken ? header?.value : "never"}`;
    case "cookie":
      return `cookie ${cookie?.name} is ${canary.taken ? cookie?.value : "never"}`;
    case "percent":
      return `client is in bucket ${inputs.bucket().toFixed(4)}, ${canary.taken ? "below" : "not below"} ${percent}`;
    case "unselected":
      return `${[header && `header ${header.name}`, cookie && `cookie ${cookie.name}`].filter(Boolean).join(" and ")} did not select it, and it has no percentage`;
    default:
      return canary satisfies never;
  }
}

function anyOf(names: ReadonlySet<string>): string {
  return [...names].join(" or ");
}
