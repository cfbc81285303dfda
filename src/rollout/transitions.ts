/** How does what was observed change a rule's state, and what is told of it? (Design section 7: step back, promotion.) */

import { type Comparison, isConclusive, isDifference } from "../model/comparison.ts";
import { CLIENT_LEFT, type Exchange, faultOf, wasLetIn } from "../model/exchange.ts";
import { canPromote, evidence, type PromotionEvidence, promote, reducePromotion } from "./promotion.ts";
import {
  type BlockedOperation,
  blockedOperations,
  effectiveMode,
  isClear,
  mayPromote,
  noteComparison,
  noteRequest,
  operationNameOf,
  promoteLateOperation,
  promoteOperations,
  type RuleState,
  translates,
  translatesOperation,
} from "./rule-state.ts";
import {
  LONGEST_WAIT,
  quietNeeded,
  reduceStepBack as reduceRetreat,
  type StepBack,
  type StepBackCause,
  type StepBackEvent,
  translatedShare,
} from "./step-back.ts";

/** Something that changed, told once. `at`: milliseconds since 1970; `rule`: undefined where it is about all of them. */
export interface RolloutEvent {
  readonly kind:
    | "stepped-back"
    | "returning"
    | "returned"
    | "promoted"
    | "could-promote"
    | "expired"
    | "forced"
    | "rules";
  readonly rule: string | undefined;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  /** For a person, with the numbers that decided. */
  readonly reason: string;
}

export type RolloutListener = (event: RolloutEvent) => void;

/**
 * What a finished v1 request says about translation: true when it failed because of it, false when it went well, undefined
 * when it says nothing: not translated, the client left, its own error (also one that the platform found), a limit of its
 * HTTP version or its patience, the platform's outage, a limit of this instance, or a caller whom the platform did not let
 * in, who could be anybody. These are not counted at all: they would make the share of failures smaller than it is.
 */
export function failedByTranslation(exchange: Exchange): boolean | undefined {
  const { apiVersion, mode, aborted, status, reason } = exchange;
  if (apiVersion !== "v1" || mode !== "translate" || aborted || status === CLIENT_LEFT) return undefined;
  const fault = faultOf(exchange);
  // A mistake of carryover's own is one, whoever finds it; and so are its words that v2 refused.
  if (fault === "translation" && (reason === "INTERNAL" || reason === undefined)) return true;
  if (!wasLetIn(exchange)) return undefined;
  if (fault !== undefined) return fault === "translation" ? true : undefined;
  return status >= 200 && status < 400 ? false : undefined;
}

/** A request that the rule decided on is over. */
export function recordRequest(held: RuleState, exchange: Exchange, at: number, tell: RolloutListener): void {
  noteRequest(held, exchange);
  const failed = failedByTranslation(exchange);
  if (failed === undefined || !translates(held)) return;
  held.requests++;
  if (failed) held.failures++;
  // A success needs nobody's name.
  const who = { client: exchange.client, credential: failed ? exchange.credential?.() : undefined };
  applyStepBackEvent(held, { kind: "request", at, who, failed }, tell);
}

/** A comparison that the rule asked for is over; `credential` stands for that of whoever sent what was compared. */
export function recordComparison(
  held: RuleState,
  { comparison, credential }: { readonly comparison: Comparison; readonly credential: string | undefined },
  at: number,
  tell: RolloutListener,
): void {
  noteComparison(held, comparison);
  if (!isConclusive(comparison.result)) return;
  const who = { client: comparison.client, credential };
  const differs = isDifference(comparison.result);
  const translated = translatesOperation(held, comparison);
  held.promotion = reducePromotion(held.promotion, { who, differs });
  if (translated) applyStepBackEvent(held, { kind: "compared", at, who, differs }, tell);
  else if (mayPromote(held)) considerPromotion(held, comparison, at, tell);
}

/** A comparison of something that is not translated yet may have been the last that was needed. */
function considerPromotion(held: RuleState, comparison: Comparison, at: number, tell: RolloutListener): void {
  const { rule, promotion } = held;
  const told = (kind: "promoted" | "could-promote", reason: string): void => {
    tell({ kind, rule: rule.name, at, from: "shadow", to: kind === "promoted" ? "translate" : "shadow", reason });
  };
  if (promotion.promoted) {
    if (promoteLateOperation(held, comparison))
      told("promoted", `${operationNameOf(comparison)} follows: it was compared often enough now`);
    return;
  }
  const could = canPromote(promotion);
  // Told once, and again only after differences: a further operation comes and is compared all the time.
  if (!could) held.promotionReported = false;
  if (!could || held.promotionReported || !isClear(held)) return;
  const found = evidenceText(evidence(promotion), promotion.clientsNeeded);
  const reason = `${found}, less than ${percent(promotion.settings.differencesBelow)}`;
  if (promotion.settings.automatic) {
    promoteOperations(held);
    held.promotion = promote(promotion);
    held.since = at;
    told("promoted", reason);
  } else {
    held.promotionReported = true;
    told("could-promote", reason);
  }
}

/** Hands `event` to the rule's retreat and tells of a new phase. */
export function applyStepBackEvent(held: RuleState, event: StepBackEvent, tell: RolloutListener): void {
  const before = held.stepBack;
  if (before === undefined) return;
  const after = reduceRetreat(before, event);
  held.stepBack = after;
  const kind = changeOf(before, after);
  if (kind === undefined) return;
  held.since = event.at;
  tell({
    kind,
    rule: held.rule.name,
    at: event.at,
    from: phaseText(before),
    to: phaseText(after),
    reason: changeText(before, after),
  });
}

/** Tells of the rules whose time ended after `since` and not after `at`, in the order in which it did. */
export function recordExpiries(all: Iterable<RuleState>, since: number, at: number, tell: RolloutListener): void {
  const over = [...all].flatMap((held) => {
    const { expires } = held.rule;
    return expires === undefined || expires <= since || expires > at ? [] : [{ held, expires }];
  });
  for (const { held, expires } of over.sort((a, b) => a.expires - b.expires)) {
    held.since = expires;
    const reason = `it expired on ${new Date(expires).toISOString()}: later rules and cutover.mode decide`;
    tell({ kind: "expired", rule: held.rule.name, at, from: effectiveMode(held), to: "nothing", reason });
  }
}

function changeOf(before: StepBack, after: StepBack): RolloutEvent["kind"] | undefined {
  const [from, to] = [before.phase, after.phase];
  if (to.kind === "returning") return from.kind === "returning" && from.step === to.step ? undefined : "returning";
  if (from.kind === to.kind) return undefined;
  return to.kind === "back" ? "stepped-back" : "returned";
}

/** In which words is it said what became of a rule? (For the log and for people who look at the admin port.) */

/** `0.02` as `2 %`, to four digits. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(4))} %`;
}

/** Milliseconds as a person says them. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return ms < 7_200_000 ? `${Number((ms / 60_000).toFixed(1))} min` : `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** `forward`, `back`, or the share that it translates again. */
export function phaseText(retreat: StepBack): string {
  const { phase } = retreat;
  return phase.kind === "returning" ? `returning, ${percent(translatedShare(retreat))} of its clients` : phase.kind;
}

/** Why a rule stepped back, with the numbers and the threshold that decided. */
export function causeText({ what, bad, all, clients }: StepBackCause, { settings }: StepBack): string {
  const met = `met by ${clients === 1 ? "1 client" : `${clients} clients`}${clients >= settings.minClients ? " or more" : ""}`;
  const within = `within ${duration(settings.window)}`;
  const over = `${percent(bad / all)}, more than ${percent(settings[what] ?? 0)}`;
  return what === "failures"
    ? `${bad} of ${all} requests failed because of translation ${within} (${over}), ${met}`
    : `${bad} of ${all} comparisons differed ${within} (${over}), ${met}`;
}

/** Why a rule is now in another phase than `before`. */
export function changeText(before: StepBack, after: StepBack): string {
  const { phase } = after;
  if (phase.kind === "back") return causeText(phase.cause, after);
  const waited = duration(quietNeeded(before) ?? 0);
  if (phase.kind === "forward") return `quiet for ${waited} with all of its clients translated`;
  return `quiet for ${waited}; ${percent(translatedShare(after))} of its clients are translated now`;
}

/** What a bound rests on. */
export function evidenceText({ comparisons, differences, clients, bound }: PromotionEvidence, needed: number): string {
  const by = `${clients === 1 ? "1 client" : `${clients} clients`}${clients >= needed ? " or more" : ` of ${needed} needed`}`;
  return `${differences} differences in ${comparisons} comparisons of ${by}: at most ${percent(bound)} differ (95 %)`;
}

/** Why an operation does not move with its rule: `repo create: 12 requests, 0 compared: cannot be compared`. */
export function blockedOperationText({ operation, requests, compared, ...found }: BlockedOperation): string {
  return `${operation}: ${requests} requests, ${compared} compared: ${blockerText({ compared, ...found })}`;
}

function blockerText({
  why,
  compared,
  differences,
  failures,
  needed,
  failure,
}: Omit<BlockedOperation, "operation" | "requests">): string {
  if (why === "differences") return `${differences} of them differ`;
  if (why === "too-few") return `${needed} needed`;
  if (compared === 0 && failure === "not-comparable") return "cannot be compared";
  return `${failures} failed (${failure ?? "internal"})`;
}

/** How many operations are named in full. */
const MAX_NAMED = 10;

/** The operations that do not move, one sentence each, those that are asked for most first. */
export function blockedOperationTexts(held: RuleState): readonly string[] {
  const found = blockedOperations(held);
  const more = found.length - MAX_NAMED;
  return [...found.slice(0, MAX_NAMED).map(blockedOperationText), ...(more > 0 ? [`${more} more operations`] : [])];
}

/** What the rule does, in a sentence or two. */
export function stateText(held: RuleState): string {
  const { rule, stepBack: retreat, promotion } = held;
  const compared = rule.shadow.sample > 0 ? `, ${percent(rule.shadow.sample)} of requests are compared` : "";
  if (!translates(held)) {
    return rule.mode === "native" ? "native answers" : `native answers${compared}${promotionText(held)}`;
  }
  const promoted = promotion.promoted ? "moved on by itself: " : "";
  const but = leftToNativeText(held);
  if (retreat === undefined || retreat.phase.kind === "forward") return `${promoted}translates${compared}${but}`;
  if (retreat.phase.kind === "returning") {
    return `${promoted}translates for ${percent(translatedShare(retreat))} of its clients, native answers the rest${compared}${but}`;
  }
  return `stepped back: ${causeText(retreat.phase.cause, retreat)}; native answers${compared}; ${returnText(retreat)}`;
}

function returnText(retreat: StepBack): string {
  const needed = quietNeeded(retreat);
  if (needed === undefined) return "it stays so until the rule is changed";
  const longest = retreat.factor === LONGEST_WAIT ? ", the longest wait" : "";
  return `it tries again after ${duration(needed)} without a difference${longest}`;
}

/** What a rule that moved by itself leaves to native. */
function leftToNativeText(held: RuleState): string {
  const left = blockedOperationTexts(held);
  return left.length === 0 ? "" : `; native still answers ${left.join("; ")}`;
}

function promotionText(held: RuleState): string {
  const { rule, promotion } = held;
  if (rule.promoteWhen === undefined) return "";
  const { differencesBelow, automatic } = rule.promoteWhen;
  const found = evidence(promotion);
  const back = blockedOperationTexts(held);
  const says =
    back.length === 0 && canPromote(promotion)
      ? "it could be set to translate"
      : `${automatic ? "it moves" : "it may move"} on below ${percent(differencesBelow)}`;
  const waits = back.length === 0 ? "" : `; held back by ${back.join("; ")}`;
  return `; ${says}: ${evidenceText(found, promotion.clientsNeeded)}${waits}`;
}
