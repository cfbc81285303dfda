/** Which rule takes a request, why the others do not, and what follows for the client. */
import type { Config } from "../../config/config.ts";
import { createIdentity } from "../../ledger/identity.ts";
import type { HeaderList } from "../../model/http.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { ModeDecision } from "../../model/rules.ts";
import { createBucket } from "../../rollout/callers.ts";
import { createRollout, type Rollout } from "../../rollout/rollout.ts";
import { judgeRules } from "../../rules/choose.ts";
import type { Rules } from "../../rules/rule.ts";
import { shareOf } from "../../rules/words.ts";
import { isRehearsed } from "../proxy.ts";
import type { ExplainedCutover } from "./explanation.ts";
import type { AskedRequest } from "./request.ts";

/** What decides who serves a request: that of a running carryover, or one made from a rules file. */
export interface ExplainCutover {
  readonly rollout: Pick<Rollout, "choose" | "rules" | "fallback" | "whyNotRefused">;
  /** 0 to 100. */
  readonly bucketOf: (client: string) => number;
  /** The client that sent a request with these fields. */
  readonly nameOf: (headers: HeaderList) => string;
  /** The instant that is explained, milliseconds since 1970. */
  readonly wall: () => number;
}

/**
 * What the rules say of a request that both versions have, as sent by `client` (else by the client that its fields name).
 * `native`: native v1 serves what v2 lacks. Undefined where there are no rules and everything is translated.
 */
export function ruleDecision(
  { rollout, bucketOf, nameOf, wall }: ExplainCutover,
  head: AskedRequest,
  { resource, operation }: OperationMatch,
  native: boolean,
  client: string = nameOf(head.headers),
): ExplainedCutover | undefined {
  const write = head.method !== "GET";
  const guessed = native && operation.guessed === true;
  const asked = { resource: resource.name, operation: operation.name, write, guessed, client, head };
  // In a running carryover this may advance a rule whose time has come, as any request would.
  const chosen = rollout.choose(asked);
  // As the proxy does: a guessed operation is native's, unless native v1 is off for the client.
  const named = chosen.why === "guessed" ? rollout.choose({ ...asked, guessed: false }) : chosen;
  const choice = isRehearsed(named) ? named : chosen;
  const rules = rollout.rules();
  if (rules === undefined && choice.mode === "translate") return undefined;
  const at = wall();
  return {
    client,
    bucket: bucketOf(client),
    at: new Date(at).toISOString(),
    mode: choice.mode,
    why: choice.why,
    rule: choice.rule?.name ?? null,
    says: sentenceOf(choice, write),
    digest: rules?.digest ?? null,
    rules: judgeRules(rules?.rules ?? [], bucketOf, { ...asked, at }, rollout.whyNotRefused).map(
      ({ rule, matched, why }) => ({
        name: rule.name,
        line: rule.line,
        mode: rule.mode,
        matched,
        why,
      }),
    ),
  };
}

/** Why a request is served so, in a few words. */
export function reasonOf({ why, rule }: Pick<ExplainedCutover, "why" | "rule">): string {
  switch (why) {
    case "rule":
      return `rule ${rule}`;
    case "default":
      return "no rule takes it: cutover.mode";
    case "forced":
      return "force, at the top of the rules file or by `carryover force`, overrides every rule";
    case "guessed":
      return "what v1 answers is guessed, and no rule names the operation";
    case "stepped-back":
      return `rule ${rule} stepped back by itself`;
    case "unknown":
      return `the saved state of rule ${rule} cannot be read, so native v1 serves until carryover confirm ${rule}`;
    case "promoted":
      return `rule ${rule} moved on by itself`;
    default:
      return why satisfies never;
  }
}

function sentenceOf(decision: ModeDecision, write: boolean): string {
  if (decision.mode === "brownout") {
    const { brownout, window } = decision;
    return `carryover refuses it with ${brownout.status} until ${new Date(window.end).toISOString()}: a brownout`;
  }
  const { mode, shadow } = decision;
  const share = shareOf(shadow.sample);
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

/** What decides at the instant `at` (milliseconds since 1970) in a carryover that has just started. */
export function cutoverFromConfig(config: Config, rules: Rules | undefined, at: number): ExplainCutover {
  const { mode, salt } = config.cutover;
  const bucketOf = createBucket(salt);
  const wall = () => at;
  return {
    rollout: createRollout({
      rules,
      mode,
      native: config.upstream.v1 !== undefined,
      bucketOf,
      wall,
      onEvent: () => {},
    }),
    bucketOf,
    nameOf: createIdentity({ ...config.clients, key: salt }).nameOf,
    wall,
  };
}
