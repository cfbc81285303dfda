/** How does what was observed change a rule's state, and what is told of it? (Design section 7: step back, promotion.) */
import { couldMove, evidence, reduce as reducePromotion } from "../cutover/promote.ts";
import { type Retreat, type RetreatEvent, reduce as reduceRetreat } from "../cutover/retreat.ts";
import { type Comparison, isDifference, isJudged } from "../model/comparison.ts";
import { type Exchange, wasLetIn } from "../model/exchange.ts";
import { PROBLEMS } from "../model/problem.ts";
import { type Held, translates } from "./state.ts";
import { changeWords, evidenceWords, percent, phaseWords } from "./words.ts";

/** Something that changed, told once. `at`: milliseconds since 1970; `rule`: undefined where it is about all of them. */
export interface ControlEvent {
  readonly kind: "stepped-back" | "returning" | "returned" | "promoted" | "could-promote" | "forced" | "rules";
  readonly rule: string | undefined;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  /** For a person, with the numbers that decided. */
  readonly reason: string;
}

export type Tell = (event: ControlEvent) => void;

const FAULTS: ReadonlyMap<string, string> = new Map(
  Object.entries(PROBLEMS).map(([reason, { fault }]) => [reason, fault]),
);

/**
 * What a finished v1 request says about translation: true when it failed because of it, false when it went well, undefined
 * when it says nothing: not translated, the client left, its own error (also one that the platform found), the platform's
 * outage, a limit of this instance, or a caller whom the platform did not let in, who could be anybody. These are not counted
 * at all: they would make the share of failures smaller than it is.
 */
export function failedByTranslation(exchange: Exchange): boolean | undefined {
  const { apiVersion, mode, aborted, status, reason } = exchange;
  if (apiVersion !== "v1" || mode !== "translate" || aborted || status === 499) return undefined;
  // A mistake of carryover's own is one, whoever finds it.
  if (reason === "INTERNAL") return true;
  if (!wasLetIn(exchange)) return undefined;
  if (reason !== undefined) return FAULTS.get(reason) === "translation" ? true : undefined;
  return status >= 200 && status < 400 ? false : undefined;
}

/** A request that the rule decided on is over. */
export function recordRequest(held: Held, exchange: Exchange, at: number, tell: Tell): void {
  const failed = failedByTranslation(exchange);
  if (failed === undefined || !translates(held)) return;
  held.requests++;
  if (failed) held.failures++;
  pass(held, { kind: "request", at, client: exchange.client, failed }, tell);
}

/** A comparison that the rule asked for is over. */
export function recordComparison(held: Held, comparison: Comparison, at: number, tell: Tell): void {
  if (!isJudged(comparison.result)) return;
  const { client } = comparison;
  const differs = isDifference(comparison.result);
  const translated = translates(held);
  const before = held.promotion;
  held.promotion = reducePromotion(before, { client, differs });
  if (translated) pass(held, { kind: "compared", at, client, differs }, tell);
  else if (held.rule.promoteWhen !== undefined) tellPromotion(held, before, at, tell);
}

/** Hands `event` to the rule's retreat and tells of a new phase. */
export function pass(held: Held, event: RetreatEvent, tell: Tell): void {
  const before = held.retreat;
  if (before === undefined) return;
  const after = reduceRetreat(before, event);
  held.retreat = after;
  const kind = changeOf(before, after);
  if (kind === undefined) return;
  held.since = event.at;
  tell({
    kind,
    rule: held.rule.name,
    at: event.at,
    from: phaseWords(before),
    to: phaseWords(after),
    reason: changeWords(before, after),
  });
}

function changeOf(before: Retreat, after: Retreat): ControlEvent["kind"] | undefined {
  const [from, to] = [before.phase, after.phase];
  if (to.kind === "returning") return from.kind === "returning" && from.step === to.step ? undefined : "returning";
  if (from.kind === to.kind) return undefined;
  return to.kind === "back" ? "stepped-back" : "returned";
}

function tellPromotion(held: Held, before: Held["promotion"], at: number, tell: Tell): void {
  const { rule, promotion } = held;
  if (!couldMove(promotion) || couldMove(before)) return;
  const found = evidenceWords(evidence(promotion), promotion.clientsNeeded);
  const reason = `${found}, less than ${percent(promotion.settings.differencesBelow)}`;
  if (promotion.promoted) held.since = at;
  const [kind, to] = promotion.promoted ? (["promoted", "translate"] as const) : (["could-promote", "shadow"] as const);
  tell({ kind, rule: rule.name, at, from: "shadow", to, reason });
}
