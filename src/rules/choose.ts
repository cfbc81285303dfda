/** Which rule matches a request, and why others do not. */

import { type RuleInput, RuleRequest, type Test } from "./conditions/condition.ts";
import { indexRules, subject } from "./conditions/subject.ts";
import { ASKED, type Rule } from "./rule.ts";

/** Whether a rule matched; `why` is for people. */
export interface RuleJudgement {
  readonly rule: Rule;
  readonly matched: boolean;
  readonly why: string;
}

/** Why a brownout rule, which matches nothing else, does not refuse a client at a time. Undefined: it does. */
export type WhyNotRefused = (rule: Rule, client: string, at: number) => string | undefined;

export const NO_WINDOW = "its brownout does not run now";
const NOBODY: WhyNotRefused = () => NO_WINDOW;

/**
 * Returns a function that finds the first rule that matches a request, by an index of `rules` that is built once.
 * `bucketOf`: 0 to 100, by client alone.
 */
export function createChooser(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
  whyNotRefused: WhyNotRefused = NOBODY,
): (input: RuleInput) => Rule | undefined {
  if (rules.length === 0) return () => undefined;
  // The index knows what each rule is about.
  const others = ASKED.filter((condition) => condition !== subject);
  const about = indexRules(
    rules.map((rule) => ({
      rule,
      match: rule.match,
      holds: all([...brownoutTest(rule, whyNotRefused), ...others.flatMap((condition) => condition.holds(rule) ?? [])]),
    })),
  );
  return (input) => {
    const candidates = about(input);
    if (candidates.length === 0) return undefined;
    const request = new RuleRequest(input, bucketOf);
    return candidates.find(({ holds }) => holds(request))?.rule;
  };
}

function brownoutTest(rule: Rule, whyNotRefused: WhyNotRefused): readonly Test[] {
  return rule.brownout === undefined
    ? []
    : [({ input: { client, at } }) => whyNotRefused(rule, client, at) === undefined];
}

/** Most rules have one condition or none, and then nothing is in between. */
function all(tests: readonly Test[]): Test {
  const [first = () => true, ...more] = tests;
  if (more.length === 0) return first;
  const rest = all(more);
  return (request) => first(request) && rest(request);
}

/** Every rule up to and with the first that matched, each with what decided; all of them when none did. */
export function judgeRules(
  rules: readonly Rule[],
  bucketOf: (client: string) => number,
  input: RuleInput,
  whyNotRefused: WhyNotRefused = NOBODY,
): readonly RuleJudgement[] {
  const request = new RuleRequest(input, bucketOf);
  const judged: RuleJudgement[] = [];
  for (const rule of rules) {
    judged.push(judge(rule, request, whyNotRefused));
    if (judged.at(-1)?.matched === true) break;
  }
  return judged;
}

function judge(rule: Rule, request: RuleRequest, whyNotRefused: WhyNotRefused): RuleJudgement {
  let why = "everything it asks for holds";
  const { client, at } = request.input;
  const spared = rule.brownout === undefined ? undefined : whyNotRefused(rule, client, at);
  if (spared !== undefined) return { rule, matched: false, why: spared };
  for (const condition of ASKED) {
    const matched = condition.holds(rule)?.(request);
    if (matched === undefined) continue;
    why = condition.why(rule, request, matched) ?? why;
    if (!matched) return { rule, matched, why };
  }
  return { rule, matched: true, why };
}
