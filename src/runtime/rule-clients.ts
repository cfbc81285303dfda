/** `/clients?rule=NAME`: which clients a rule takes now, and why not the others. */
import type { AskedRule, TakenOperations } from "../ledger/clients-view.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { Problem } from "../model/problem.ts";
import { nearest } from "../model/text.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { judgeRules } from "../rules/choose.ts";
import type { RequestedOperation } from "../rules/conditions/condition.ts";
import { isAbout } from "../rules/conditions/subject.ts";
import type { Rule } from "../rules/rule.ts";
import { counted } from "../rules/words.ts";

interface RuleClientsParts {
  readonly rollout: Pick<Rollout, "rules" | "states" | "whyNotRefused">;
  readonly bucketOf: (client: string) => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** All that rules decide on. */
  readonly operations: readonly RequestedOperation[];
}

/** Undefined for a query without a rule. Throws `Problem` INVALID_REQUEST for an unknown one. */
export function askedRule(query: URLSearchParams, parts: RuleClientsParts): AskedRule | undefined {
  const name = query.get("rule");
  if (name === null) return undefined;
  const rules = parts.rollout.rules()?.rules ?? [];
  const rule = rules.find((one) => one.name === name);
  if (rule === undefined) {
    const near = nearest(
      name,
      rules.map((one) => one.name),
    );
    const hint = near === undefined ? "see /rules" : `did you mean ${near}?`;
    throw new Problem("INVALID_REQUEST", `there is no rule ${JSON.stringify(name)}: ${hint}`);
  }
  return {
    name,
    doing: parts.rollout.states().find((one) => one.name === name)?.doing ?? rule.mode,
    takes: (entry) => takes(rule, rules, entry, parts),
  };
}

/** No header or cookie is known: a rule that asks for one takes nothing here, and says so. */
const HEAD = { method: "GET", target: "/", headers: [] };

function takes(
  rule: Rule,
  rules: readonly Rule[],
  { name: client, operations }: ClientEntry,
  { rollout, bucketOf, wall, operations: known }: RuleClientsParts,
): TakenOperations {
  const about = operations.flatMap(({ resource, operation }) => {
    const asked = known.find((one) => one.resource === resource && one.operation === operation);
    return asked !== undefined && isAbout(rule.match, asked) ? [asked] : [];
  });
  if (about.length === 0) return { taken: [], why: "it calls nothing that the rule is about" };
  const judged = about.map((asked) => {
    const judgements = judgeRules(rules, bucketOf, { ...asked, client, head: HEAD, at: wall() }, rollout.whyNotRefused);
    const last = judgements.at(-1);
    const own = judgements.find((one) => one.rule === rule);
    const isTaken = last?.rule === rule && last.matched;
    return { asked, isTaken, why: own?.why ?? `rule ${last?.rule.name} takes it first` };
  });
  const taken = judged.filter(({ isTaken }) => isTaken).map(({ asked }) => `${asked.resource} ${asked.operation}`);
  const refused = judged.find(({ isTaken }) => !isTaken);
  if (taken.length === 0) return { taken, why: refused?.why ?? "" };
  const of = `${taken.length} of ${counted(operations.length, "operation")} that it calls`;
  return { taken, why: refused === undefined ? of : `${of}; ${refused.why}` };
}
