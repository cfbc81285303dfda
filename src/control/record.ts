/** How does what was observed change a rule's state, and what is told of it? (Design section 7: step back, promotion.) */
import { couldMove, evidence, promote, reduce as reducePromotion } from "../cutover/promote.ts";
import { type Retreat, type RetreatEvent, reduce as reduceRetreat } from "../cutover/retreat.ts";
import { type Comparison, isDifference, isJudged } from "../model/comparison.ts";
import { CLIENT_LEFT, type Exchange, wasLetIn } from "../model/exchange.ts";
import { faultOf } from "../model/fault.ts";
import { follows, isClear, mayMove, moveAll, noteComparison, noteRequest } from "./operations.ts";
import { effectiveMode, type Held, nameOf, translates, translatesOperation } from "./state.ts";
import { changeWords, evidenceWords, percent, phaseWords } from "./words.ts";

/** Something that changed, told once. `at`: milliseconds since 1970; `rule`: undefined where it is about all of them. */
export interface ControlEvent {
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

export type Tell = (event: ControlEvent) => void;

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
export function recordRequest(held: Held, exchange: Exchange, at: number, tell: Tell): void {
  noteRequest(held, exchange);
  const failed = failedByTranslation(exchange);
  if (failed === undefined || !translates(held)) return;
  held.requests++;
  if (failed) held.failures++;
  // A success needs nobody's name.
  const who = { client: exchange.client, credential: failed ? exchange.credential?.() : undefined };
  pass(held, { kind: "request", at, who, failed }, tell);
}

/** A comparison that the rule asked for is over; `credential` stands for that of whoever sent what was compared. */
export function recordComparison(
  held: Held,
  { comparison, credential }: { readonly comparison: Comparison; readonly credential: string | undefined },
  at: number,
  tell: Tell,
): void {
  noteComparison(held, comparison);
  if (!isJudged(comparison.result)) return;
  const who = { client: comparison.client, credential };
  const differs = isDifference(comparison.result);
  const translated = translatesOperation(held, comparison);
  held.promotion = reducePromotion(held.promotion, { who, differs });
  if (translated) pass(held, { kind: "compared", at, who, differs }, tell);
  else if (mayMove(held)) moveOn(held, comparison, at, tell);
}

/** A comparison of something that is not translated yet may have been the last that was needed. */
function moveOn(held: Held, comparison: Comparison, at: number, tell: Tell): void {
  const { rule, promotion } = held;
  const told = (kind: "promoted" | "could-promote", reason: string): void => {
    tell({ kind, rule: rule.name, at, from: "shadow", to: kind === "promoted" ? "translate" : "shadow", reason });
  };
  if (promotion.promoted) {
    if (follows(held, comparison)) told("promoted", `${nameOf(comparison)} follows: it was compared often enough now`);
    return;
  }
  const could = couldMove(promotion);
  // Told once, and again only after differences: a further operation comes and is compared all the time.
  if (!could) held.toldCould = false;
  if (!could || held.toldCould || !isClear(held)) return;
  const found = evidenceWords(evidence(promotion), promotion.clientsNeeded);
  const reason = `${found}, less than ${percent(promotion.settings.differencesBelow)}`;
  if (promotion.settings.automatic) {
    moveAll(held);
    held.promotion = promote(promotion);
    held.since = at;
    told("promoted", reason);
  } else {
    held.toldCould = true;
    told("could-promote", reason);
  }
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

/** Tells of the rules whose time ended after `since` and not after `at`, in the order in which it did. */
export function recordExpiries(all: Iterable<Held>, since: number, at: number, tell: Tell): void {
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

function changeOf(before: Retreat, after: Retreat): ControlEvent["kind"] | undefined {
  const [from, to] = [before.phase, after.phase];
  if (to.kind === "returning") return from.kind === "returning" && from.step === to.step ? undefined : "returning";
  if (from.kind === to.kind) return undefined;
  return to.kind === "back" ? "stepped-back" : "returned";
}
