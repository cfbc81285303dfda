/** What is known of one rule, and what does it do now? (Design section 7.) */

import type { OperationEvidence } from "../cutover/operation.ts";
import { initialPromotion, type PromoteState } from "../cutover/promote.ts";
import { initialRetreat, type Retreat, translatedShare } from "../cutover/retreat.ts";
import type { Exchange } from "../model/exchange.ts";
import type { Choice, CutoverMode, Rule, ShadowSettings, StepBackSettings } from "../model/rules.ts";

/** Nothing is compared. */
export const NO_SHADOW: ShadowSettings = { sample: 0, control: 0 };

/** A rule and what was learnt about it since it has been as it is. */
export interface Held {
  readonly rule: Rule;
  readonly choices: Choices;
  /** Undefined: it can never step back. */
  retreat: Retreat | undefined;
  promotion: PromoteState;
  /** Of a rule that may move: what is known of each operation that it was asked for, and those that moved with it. */
  readonly operations: Map<string, OperationEvidence>;
  readonly moved: Set<string>;
  /** It was told that the rule could move, and since then nothing was wrong. */
  toldCould: boolean;
  /** Translated requests that spoke for or against translation, and those that failed because of it. */
  requests: number;
  failures: number;
  /** Of the last change: milliseconds since 1970. */
  since: number;
}

/** Made once for each rule, so that choosing makes nothing. */
interface Choices {
  readonly declared: Choice;
  readonly promoted: Choice;
  readonly back: Choice;
}

/**
 * What moves by itself goes back by itself: the brakes of an `automatic` rule that names none. It returns only when it is
 * changed.
 */
const BRAKES = { failures: 0.02, minRequests: 200, minClients: 1, window: 300_000, returnAfter: undefined } as const;

/** A rule of which nothing is known yet; `at`: milliseconds since 1970. */
export function hold(rule: Rule, at: number): Held {
  const named = rule.match.clients?.size;
  const brakes = brakesOf(rule);
  return {
    rule,
    choices: {
      declared: { mode: rule.mode, rule, shadow: rule.mode === "native" ? NO_SHADOW : rule.shadow, why: "rule" },
      promoted: { mode: "translate", rule, shadow: rule.shadow, why: "promoted" },
      // Native answers. Comparisons go on where the rule makes them: they show whether it is mended.
      back: { mode: rule.shadow.sample > 0 ? "shadow" : "native", rule, shadow: rule.shadow, why: "stepped-back" },
    },
    retreat: brakes === undefined ? undefined : initialRetreat({ ...brakes, named }),
    promotion: initialPromotion(rule.mode === "shadow" ? rule.promoteWhen : undefined, named),
    operations: new Map(),
    moved: new Set(),
    toldCould: false,
    requests: 0,
    failures: 0,
    since: at,
  };
}

function brakesOf(rule: Rule): StepBackSettings | undefined {
  if (rule.mode === "native") return undefined;
  if (rule.stepBack !== undefined || rule.mode === "translate") return rule.stepBack;
  const { promoteWhen } = rule;
  return promoteWhen?.automatic === true ? { ...BRAKES, differences: promoteWhen.differencesBelow } : undefined;
}

/** An operation by its catalogue names. */
export type Named = Pick<Exchange, "resource" | "operation">;

export function nameOf({ resource, operation }: Named): string {
  return `${resource} ${operation}`;
}

/**
 * True when the rule, as far as it and its promotion say, translates this operation. One that moved by itself took along what
 * it had been asked for until then: whatever comes first afterwards was never compared.
 */
export function translatesOperation(held: Held, named: Named): boolean {
  return held.rule.mode === "translate" || (held.promotion.promoted && held.moved.has(nameOf(named)));
}

/** True when the rule translates, as far as it and its promotion say. */
export function translates({ rule, promotion }: Held): boolean {
  return rule.mode === "translate" || promotion.promoted;
}

/**
 * What the rule does for a client that asks for this operation. While it returns, its clients are divided anew, for a rule may consist of low buckets only;
 * the same client is always on the same side, and a later step never gives one back.
 */
export function choiceFor(
  held: Held,
  asked: Named & { readonly client: string },
  bucketOf: (client: string) => number,
): Choice {
  const { choices, retreat, promotion } = held;
  const { client } = asked;
  if (!translatesOperation(held, asked)) return choices.declared;
  const forward = promotion.promoted ? choices.promoted : choices.declared;
  if (retreat === undefined || retreat.phase.kind === "forward") return forward;
  const share = translatedShare(retreat);
  if (share === 0) return choices.back;
  return share === 1 || bucketOf(`returning\0${client}`) < share * 100 ? forward : choices.back;
}

/** When the first of those expires that have not at `now`; both are milliseconds since 1970, infinite when none will. */
export function nextExpiry(all: Iterable<Held>, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { rule } of all) if (rule.expires !== undefined && rule.expires > now) next = Math.min(next, rule.expires);
  return next;
}

/** What the rule does for those of its clients that it goes furthest for. */
export function effectiveMode(held: Held): CutoverMode {
  if (!translates(held)) return held.rule.mode;
  return held.retreat?.phase.kind === "back" ? held.choices.back.mode : "translate";
}
