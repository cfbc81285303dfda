/** What is known of one rule, and what does it do now? (Design section 7.) */

import { type Comparison, isConclusive, isDifference } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import type { CutoverMode, ModeDecision, Rule, ShadowSettings, StepBackSettings } from "../model/rules.ts";
import {
  initialPromotion,
  isEvidence,
  type OperationEvent,
  type OperationEvidence,
  type PromotionBlocker,
  type PromotionState,
  promotionBlocker,
  reduceOperation,
  UNKNOWN_OPERATION,
} from "./promotion.ts";
import { initialStepBack, type StepBack, translatedShare } from "./step-back.ts";

/** Nothing is compared. */
export const NO_SHADOW: ShadowSettings = { sample: 0, control: 0 };

/** A rule and what was learnt about it since it has been as it is. */
export interface RuleState {
  readonly rule: Rule;
  readonly choices: RuleChoices;
  /** Undefined: it can never step back. */
  stepBack: StepBack | undefined;
  promotion: PromotionState;
  /** Of a rule that may move: what is known of each operation that it was asked for, and those that moved with it. */
  readonly operations: Map<string, OperationEvidence>;
  readonly promotedOperations: Set<string>;
  /** It was told that the rule could move, and since then nothing was wrong. */
  promotionReported: boolean;
  /** Translated requests that spoke for or against translation, and those that failed because of it. */
  requests: number;
  failures: number;
  /** Of the last change: milliseconds since 1970. */
  since: number;
}

/** Made once for each rule, so that choosing makes nothing. */
interface RuleChoices {
  readonly declared: ModeDecision;
  readonly promoted: ModeDecision;
  readonly back: ModeDecision;
}

/**
 * What moves by itself goes back by itself: the brakes of an `automatic` rule that names none. It returns only when it is
 * changed.
 */
const DEFAULT_STEP_BACK = {
  failures: 0.02,
  minRequests: 200,
  minClients: 1,
  window: 300_000,
  returnAfter: undefined,
} as const;

/** A rule of which nothing is known yet; `at`: milliseconds since 1970. */
export function initialRuleState(rule: Rule, at: number): RuleState {
  const named = rule.match.clients?.size;
  const brakes = stepBackSettingsOf(rule);
  return {
    rule,
    choices: {
      declared: { mode: rule.mode, rule, shadow: rule.mode === "native" ? NO_SHADOW : rule.shadow, why: "rule" },
      promoted: { mode: "translate", rule, shadow: rule.shadow, why: "promoted" },
      // Native answers. Comparisons go on where the rule makes them: they show whether it is mended.
      back: { mode: rule.shadow.sample > 0 ? "shadow" : "native", rule, shadow: rule.shadow, why: "stepped-back" },
    },
    stepBack: brakes === undefined ? undefined : initialStepBack({ ...brakes, named }),
    promotion: initialPromotion(rule.mode === "shadow" ? rule.promoteWhen : undefined, named),
    operations: new Map(),
    promotedOperations: new Set(),
    promotionReported: false,
    requests: 0,
    failures: 0,
    since: at,
  };
}

function stepBackSettingsOf(rule: Rule): StepBackSettings | undefined {
  if (rule.mode === "native") return undefined;
  if (rule.stepBack !== undefined || rule.mode === "translate") return rule.stepBack;
  const { promoteWhen } = rule;
  return promoteWhen?.automatic === true
    ? { ...DEFAULT_STEP_BACK, differences: promoteWhen.differencesBelow }
    : undefined;
}

/** An operation by its catalogue names. */
export type OperationName = Pick<Exchange, "resource" | "operation">;

export function operationNameOf({ resource, operation }: OperationName): string {
  return `${resource} ${operation}`;
}

/**
 * True when the rule, as far as it and its promotion say, translates this operation. One that moved by itself took along what
 * it had been asked for until then: whatever comes first afterwards was never compared.
 */
export function translatesOperation(held: RuleState, named: OperationName): boolean {
  return (
    held.rule.mode === "translate" || (held.promotion.promoted && held.promotedOperations.has(operationNameOf(named)))
  );
}

/** True when the rule translates, as far as it and its promotion say. */
export function translates({ rule, promotion }: RuleState): boolean {
  return rule.mode === "translate" || promotion.promoted;
}

/**
 * What the rule does for a client that asks for this operation. While it returns, its clients are divided anew, for a rule may consist of low buckets only;
 * the same client is always on the same side, and a later step never gives one back.
 */
export function choiceFor(
  held: RuleState,
  asked: OperationName & { readonly client: string },
  bucketOf: (client: string) => number,
): ModeDecision {
  const { choices, stepBack: retreat, promotion } = held;
  const { client } = asked;
  if (!translatesOperation(held, asked)) return choices.declared;
  const forward = promotion.promoted ? choices.promoted : choices.declared;
  if (retreat === undefined || retreat.phase.kind === "forward") return forward;
  const share = translatedShare(retreat);
  if (share === 0) return choices.back;
  return share === 1 || bucketOf(`returning\0${client}`) < share * 100 ? forward : choices.back;
}

/** When the first of those expires that have not at `now`; both are milliseconds since 1970, infinite when none will. */
export function nextExpiry(all: Iterable<RuleState>, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { rule } of all) if (rule.expires !== undefined && rule.expires > now) next = Math.min(next, rule.expires);
  return next;
}

/** What the rule does for those of its clients that it goes furthest for. */
export function effectiveMode(held: RuleState): CutoverMode {
  if (!translates(held)) return held.rule.mode;
  return held.stepBack?.phase.kind === "back" ? held.choices.back.mode : "translate";
}

/** Which operations does a rule that may move take, and which of them hold it back? (Design section 7: promotion.) */

/** More than a catalogue has. What comes beyond is never known to be right, so it holds the rule back. */
const MAX_OPERATIONS = 300;
const BEYOND = "further operations";

/** An operation that does not move, by its names: `group list`. */
export interface BlockedOperation extends PromotionBlocker {
  readonly operation: string;
}

/** True for a `shadow` rule with `promoteWhen`: only of such a rule it matters what it takes. */
export function mayPromote({ rule }: RuleState): boolean {
  return rule.mode === "shadow" && rule.promoteWhen !== undefined;
}

/** A request that the rule left to native is over. What native refused asks for nothing that would have to be right. */
export function noteRequest(held: RuleState, exchange: Exchange): void {
  const { mode, aborted, status } = exchange;
  if (mode === "shadow" && !aborted && status >= 200 && status < 400) note(held, exchange, { kind: "request" });
}

/** A comparison that the rule asked for is over, failed ones included. */
export function noteComparison(held: RuleState, comparison: Comparison): void {
  const { result, failure } = comparison;
  const event: OperationEvent = isConclusive(result)
    ? { kind: "compared", differs: isDifference(result) }
    : { kind: "failed", failure: failure ?? "internal" };
  note(held, comparison, event);
}

function note(held: RuleState, named: OperationName, event: OperationEvent): void {
  if (!mayPromote(held) || !isEvidence(event)) return;
  const { operations } = held;
  const name = operationNameOf(named);
  const known = operations.get(name);
  if (known !== undefined || operations.size < MAX_OPERATIONS)
    operations.set(name, reduceOperation(known ?? UNKNOWN_OPERATION, event));
  else operations.set(BEYOND, reduceOperation(operations.get(BEYOND) ?? UNKNOWN_OPERATION, { kind: "request" }));
}

/** Operations that hold the rule back, or that it left behind when it moved; those that are asked for most first. */
export function blockedOperations(held: RuleState): readonly BlockedOperation[] {
  const found: BlockedOperation[] = [];
  for (const operation of held.operations.keys()) {
    if (held.promotedOperations.has(operation)) continue;
    const hindered = blockerOf(held, operation);
    if (hindered === undefined || !(held.promotion.promoted || isInUse(hindered))) continue;
    found.push({ operation, ...hindered });
  }
  return found.sort((a, b) => b.requests - a.requests);
}

/** True when every operation that the rule serves may move. */
export function isClear(held: RuleState): boolean {
  for (const operation of held.operations.keys()) {
    const hindered = blockerOf(held, operation);
    if (hindered !== undefined && isInUse(hindered)) return false;
  }
  return true;
}

/** False where native refused whatever was asked, and nothing came of comparing that: it does not move, and holds nothing. */
function isInUse({ requests, compared }: PromotionBlocker): boolean {
  return requests > 0 || compared > 0;
}

function blockerOf({ rule, operations, promotion }: RuleState, operation: string): PromotionBlocker | undefined {
  const { promoteWhen, shadow } = rule;
  return promotionBlocker(operations.get(operation) ?? UNKNOWN_OPERATION, {
    sample: shadow.sample,
    differencesBelow: promoteWhen?.differencesBelow ?? 0,
    late: promotion.promoted,
  });
}

/** All that may move does; called when the rule is about to. */
export function promoteOperations(held: RuleState): void {
  for (const operation of held.operations.keys()) {
    if (blockerOf(held, operation) === undefined) held.promotedOperations.add(operation);
  }
}

/** An operation that was first asked for after its rule had moved follows when it is known to be right; true when it does. */
export function promoteLateOperation(held: RuleState, named: OperationName): boolean {
  const name = operationNameOf(named);
  if (held.promotedOperations.has(name) || blockerOf(held, name) !== undefined) return false;
  held.promotedOperations.add(name);
  return true;
}
