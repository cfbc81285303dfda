/** What do operators and metrics see of the rules and of what became of them? (Design section 10: `GET /rules`.) */

import type { CutoverMode, Rule, RuleMatch, Rules } from "../model/rules.ts";
import { countsIn, elapse } from "./evidence-window.ts";
import { canPromote, evidence } from "./promotion.ts";
import { effectiveMode, type RuleState } from "./rule-state.ts";
import { translatedShare } from "./step-back.ts";
import { blockedOperationTexts, type RolloutEvent, stateText } from "./transitions.ts";

/** One rule at one time, for metrics. */
export interface RuleStatus {
  readonly name: string;
  /** As the file says. */
  readonly mode: CutoverMode;
  /**
   * As it is, `force` included; while it returns, for those of its clients that are translated; `nothing` when it has expired,
   * for it decides on no request.
   */
  readonly effective: CutoverMode | "nothing";
  readonly state: "forward" | "back" | "returning";
  /** While it returns: the share of its clients that are translated, 0.1 to 1. */
  readonly step: number | undefined;
  /** Milliseconds since 1970 of the last change of mode or state. */
  readonly since: number;
  /** Translated requests that spoke for or against translation, and failures because of it, since the rule is as it is. */
  readonly requests: number;
  readonly failures: number;
  /** What the bound rests on: the latest, old ones leave. */
  readonly comparisons: number;
  readonly differences: number;
  /** Upper bound (95 %) of the share of differing answers; 1 without a comparison. */
  readonly bound: number;
  /** It may become `translate` by its `promoteWhen`, and has not. */
  readonly couldMove: boolean;
  /** Operations that keep it from that, or that did not move with it, and why: a sentence each, at most eleven. */
  readonly heldBack: readonly string[];
  readonly promoted: boolean;
  readonly stepBacks: number;
  readonly expired: boolean;
}

/** `now`: milliseconds since 1970. */
export function statusOf(held: RuleState, force: Rules["force"], now: number): RuleStatus {
  const { rule, stepBack: retreat, promotion } = held;
  const { comparisons, differences, bound } = evidence(promotion);
  const state = retreat?.phase.kind ?? "forward";
  const heldBack = blockedOperationTexts(held);
  const expired = isExpired(rule, now);
  return {
    name: rule.name,
    mode: rule.mode,
    effective: expired ? "nothing" : force === "none" ? effectiveMode(held) : force,
    state,
    step: retreat !== undefined && state === "returning" ? translatedShare(retreat) : undefined,
    since: held.since,
    requests: held.requests,
    failures: held.failures,
    comparisons,
    differences,
    bound,
    couldMove: !expired && waitsToMove(held) && heldBack.length === 0 && canPromote(promotion),
    heldBack,
    promoted: promotion.promoted,
    stepBacks: retreat?.stepBacks ?? 0,
    expired,
  };
}

/** Everything about a rule for a person to read; JSON. */
export function viewOf(held: RuleState, force: Rules["force"], now: number): unknown {
  const { rule, stepBack: retreat } = held;
  const { since, ...state } = statusOf(held, force, now);
  return {
    line: rule.line,
    match: matchView(rule.match),
    expires: instant(rule.expires),
    ...state,
    since: instant(since),
    says: saysOf(held, force, now),
    shadow: rule.shadow,
    stepBack: rule.stepBack,
    promoteWhen: rule.promoteWhen,
    // What would make it step back, as far as it has come.
    window: retreat && countsIn(retreat.window, elapse(retreat.time, now, retreat.settings.window).now),
  };
}

function saysOf(held: RuleState, force: Rules["force"], now: number): string {
  if (isExpired(held.rule, now)) return "expired: it matches nothing";
  return force === "none" ? stateText(held) : `overridden by force: ${force}; without it: ${stateText(held)}`;
}

/** A transition for a person to read; JSON. */
export function transitionView(event: RolloutEvent): unknown {
  return { ...event, at: instant(event.at) };
}

function waitsToMove({ rule, promotion }: RuleState): boolean {
  return rule.mode === "shadow" && rule.promoteWhen !== undefined && !promotion.promoted;
}

function isExpired({ expires }: Rule, now: number): boolean {
  return expires !== undefined && now >= expires;
}

function matchView({ resources, operations, clients, time, header, cookie, percent }: RuleMatch): unknown {
  return {
    resources: resources && [...resources],
    operations: operations && [...operations],
    clients: clients && [...clients],
    header,
    cookie,
    percent,
    time: time && {
      from: instant(time.from),
      until: instant(time.until),
      days: time.days && [...time.days],
      hours: time.hours && `${clockTime(time.hours.begin)}-${clockTime(time.hours.end)} UTC`,
    },
  };
}

function clockTime(minutes: number): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** ISO 8601; a number that is no date is shown as it is. */
function instant(ms: number | undefined): string | number | undefined {
  if (ms === undefined) return undefined;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? ms : date.toISOString();
}
