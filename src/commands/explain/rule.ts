/** Which rule takes a request, why did the others not, and what follows for the client? */

import type { Config } from "../../config/config.ts";
import { createIdentity } from "../../ledger/identity.ts";
import type { HeaderList } from "../../model/http.ts";
import type { Problem } from "../../model/problem.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { ModeDecision, Rules } from "../../model/rules.ts";
import { createBucket } from "../../rollout/callers.ts";
import { judgeRules, type RuleInput } from "../../rollout/choose.ts";
import { createRollout, type Rollout } from "../../rollout/rollout.ts";
import type { ExplainedCutover } from "./explanation.ts";
import { type AskedRequest, invalidRequest } from "./request.ts";

/** What decides who serves a request: that of a running carryover, or one made of a rules file. */
export interface ExplainCutover {
  readonly rollout: Pick<Rollout, "choose" | "rules" | "fallback">;
  /** 0 to 100. */
  readonly bucketOf: (client: string) => number;
  /** Who sent a request with these fields. */
  readonly nameOf: (headers: HeaderList) => string;
  /** The instant that is told of, milliseconds since 1970. */
  readonly wall: () => number;
}

/**
 * What the rules say of a request, as sent by `client` (else by whom its fields name). They are asked about what both versions
 * have, as `proxy.ts` asks them: undefined for everything else, and where there are no rules and everything is translated.
 */
export function ruleDecision(
  cutover: ExplainCutover | undefined,
  {
    method,
    headers,
    match,
    client,
    native,
  }: Pick<AskedRequest, "method" | "headers"> & {
    readonly match: OperationMatch | undefined;
    readonly client: string | undefined;
    /** Native v1 serves what v2 lacks. */
    readonly native: boolean;
  },
): ExplainedCutover | undefined {
  if (match === undefined || cutover === undefined) return undefined;
  return explainRule(cutover, {
    resource: match.resource.name,
    operation: match.operation.name,
    write: method !== "GET",
    guessed: native && match.operation.guessed === true,
    client: client ?? cutover.nameOf(headers),
    headers,
  });
}

function explainRule(cutover: ExplainCutover, asked: Omit<RuleInput, "at">): ExplainedCutover | undefined {
  const { rollout, bucketOf, wall } = cutover;
  // In a running carryover this may let a rule go on whose time has come: any request would.
  const choice = rollout.choose(asked);
  const rules = rollout.rules();
  if (rules === undefined && choice.mode === "translate") return undefined;
  const at = wall();
  return {
    client: asked.client,
    bucket: bucketOf(asked.client),
    at: new Date(at).toISOString(),
    mode: choice.mode,
    why: choice.why,
    rule: choice.rule?.name ?? null,
    says: sentenceOf(choice, asked.write),
    digest: rules?.digest ?? null,
    rules: judgeRules(rules?.rules ?? [], bucketOf, { ...asked, at }).map(({ rule, matched, why }) => ({
      name: rule.name,
      line: rule.line,
      mode: rule.mode,
      matched,
      why,
    })),
  };
}

/** `stepped-back`: the rule says otherwise, and what was learnt since speaks against it. */
const DECISION_REASONS: Readonly<Record<ModeDecision["why"], (rule: string) => string>> = {
  rule: (rule) => `rule ${rule}`,
  default: () => "no rule takes it: cutover.mode",
  forced: () => "force, at the top of the rules file, overrides every rule",
  guessed: () => "what v1 answers is guessed, and no rule names the operation",
  "stepped-back": (rule) => `rule ${rule} stepped back by itself`,
  promoted: (rule) => `rule ${rule} moved on by itself`,
};

/** Why it is served so, in a few words. */
export function reasonOf({ why, rule }: Pick<ExplainedCutover, "why" | "rule">): string {
  return DECISION_REASONS[why](rule ?? "");
}

function sentenceOf({ mode, shadow }: ModeDecision, write: boolean): string {
  const share = `${Number((shadow.sample * 100).toPrecision(6))} %`;
  switch (mode) {
    case "native":
      return "native v1 answers, and nothing is compared";
    case "shadow":
      return write
        ? `native v1 answers; of ${share} of such requests the call to v2 is built and compared with what is stored then: nothing is sent twice`
        : `native v1 answers; ${share} of such requests are also translated in the background, and the answers compared`;
    default:
      return shadow.sample === 0 || write
        ? "carryover answers from v2"
        : `carryover answers from v2; ${share} of such requests are also sent to native v1, and the answers compared`;
  }
}

/** What native v1 answers a translation may refuse. */
export function refusedElsewhere(refusal: Problem | undefined): readonly string[] {
  if (refusal === undefined) return [];
  return [`if it were translated, carryover would refuse it: ${refusal.http} ${refusal.reason}: ${refusal.message}`];
}

/** Who would serve what, as a rules file and the configuration have it? (For the command: nothing was learnt yet.) */

/** At the instant `at`, milliseconds since 1970, in a carryover that has just been started. */
export function cutoverFromConfig(config: Config, rules: Rules | undefined, at: number): ExplainCutover {
  const { mode, salt } = config.cutover;
  const bucketOf = createBucket(salt);
  const wall = () => at;
  return {
    rollout: createRollout({ rules, mode, bucketOf, wall, onEvent: () => {} }),
    bucketOf,
    nameOf: createIdentity({ ...config.clients, key: salt }).nameOf,
    wall,
  };
}

/** A day, or a day and a time; UTC unless it says otherwise, as in rules. Throws `Problem` INVALID_REQUEST. */
export function instantOf(text: string): number {
  const [, day, time = "T00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const at = Date.parse(`${day}${time}${zone}`);
  // Date.parse takes the 30th of February for a day in March.
  const real =
    day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (Number.isNaN(at) || !real) {
    throw invalidRequest(
      `--at: ${JSON.stringify(text)} is no instant; expected one such as 2026-12-01 or 2026-12-01T09:30Z`,
    );
  }
  return at;
}
