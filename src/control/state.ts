/** What is known of one rule, and what does it do now? (Design section 7.) */

import { initialPromotion, type PromoteState } from "../cutover/promote.ts";
import { initialRetreat, type Retreat, translatedShare } from "../cutover/retreat.ts";
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

/** True when the rule translates, as far as it and its promotion say. */
export function translates({ rule, promotion }: Held): boolean {
  return rule.mode === "translate" || promotion.promoted;
}

/**
 * What the rule does for a client. While it returns, its clients are divided anew, for a rule may consist of low buckets only;
 * the same client is always on the same side, and a later step never gives one back.
 */
export function choiceFor(held: Held, client: string, bucketOf: (client: string) => number): Choice {
  const { choices, retreat, promotion } = held;
  if (!translates(held)) return choices.declared;
  const forward = promotion.promoted ? choices.promoted : choices.declared;
  if (retreat === undefined || retreat.phase.kind === "forward") return forward;
  const share = translatedShare(retreat);
  if (share === 0) return choices.back;
  return share === 1 || bucketOf(`returning\0${client}`) < share * 100 ? forward : choices.back;
}

/** What the rule does for those of its clients that it goes furthest for. */
export function effectiveMode(held: Held): CutoverMode {
  if (!translates(held)) return held.rule.mode;
  return held.retreat?.phase.kind === "back" ? held.choices.back.mode : "translate";
}
