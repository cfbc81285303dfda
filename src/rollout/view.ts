/** Makes the record of a rule from its state, and the page `GET /rules`. */
import { endOf, matchView, matchWords, type Rule, type Rules, rehearsalOf } from "../rules/rule.ts";
import type { BrownoutStatus, OwnRuleStatus, RuleEvidence, RuleGuard } from "../rules/status.ts";
import { counted, duration, instant, percent } from "../rules/words.ts";
import { type BrownoutState, brownoutText, refusesAt } from "./brownout.ts";
import { countsIn, elapse } from "./evidence-window.ts";
import { addKinds, pastTrouble, QUIET_SECONDS, trouble } from "./guard.ts";
import { canPromote, evidence } from "./promotion.ts";
import {
  awaitsPromotion,
  type BlockedOperation,
  blockedOperations,
  causeOf,
  effectiveMode,
  type RuleState,
  translates,
  withTogether,
} from "./rule-state.ts";
import { isOfGuard, LONGEST_WAIT, quietNeeded, type StepBack, translatedShare } from "./step-back.ts";
import {
  boundText,
  causeText,
  differencesText,
  evidenceText,
  failuresText,
  guardText,
  latest,
  slowText,
} from "./text.ts";

/** `at`: milliseconds since 1970; `reading`: of the clock of its events. */
interface Moment {
  readonly at: number;
  readonly reading: number;
}

/** With what all replicas know of the rule, if they share it. */
export function statusOf(own: RuleState, force: Rules["force"], moment: Moment): OwnRuleStatus {
  return recordOf(withTogether(own), force, moment);
}

/** With the counts of this process alone. */
export function ownStatusOf(own: RuleState, force: Rules["force"], moment: Moment): OwnRuleStatus {
  const { couldMove, state } = statusOf(own, force, moment);
  return { ...recordOf({ ...own, together: undefined }, force, moment), couldMove, state };
}

function recordOf(state: RuleState, force: Rules["force"], moment: Moment): OwnRuleStatus {
  const now = moment.at;
  const { rule, stepBack, promotion, unknown, since, requests, failures } = state;
  const { name, mode, match, promoteWhen } = rule;
  const { comparisons, differences, bound, risk, clients } = evidence(promotion);
  const { promoted, clientsNeeded } = promotion;
  const heldBack = blockedOperationTexts(state);
  const expired = isExpired(rule, now);
  const phase = unknown === undefined ? (stepBack?.phase.kind ?? "forward") : "unknown";
  const step = stepBack !== undefined && phase === "returning" ? translatedShare(stepBack) : undefined;
  const mayMove = !expired && unknown === undefined && awaitsPromotion(state);
  const couldMove = mayMove && heldBack.length === 0 && canPromote(promotion);
  const rehearsal = rehearsalOf(rule);
  const found: RuleEvidence = {
    whom: matchWords(match),
    resources: match.resources && [...match.resources],
    namesClients: match.clients !== undefined,
    percent: match.percent,
    requests,
    failures,
    comparisons,
    differences,
    equal: promotion.equal,
    bound,
    sample: rule.shadow.sample,
    risk,
    clients,
    clientsNeeded,
    differencesBelow: promoteWhen?.differencesBelow ?? rule.stepBack?.differences,
    failuresBelow: rule.stepBack?.failures,
    heldBack,
    stepBacks: stepBack?.stepBacks ?? 0,
    ...(state.together === undefined ? {} : { ofAll: true }),
  };
  return {
    name,
    mode,
    doing: expired ? "nothing" : force === "none" ? presentMode(state, now) : force,
    state: expired ? "expired" : stateWord({ phase, couldMove, promoted }),
    ...(phase === "unknown" ? { unknown: true } : {}),
    since,
    detail: detailText(found, step),
    evidence: found,
    guard: guardOf(state, moment),
    ...(stepBack === undefined || stepBack.phase.kind === "forward" || phase === "unknown"
      ? {}
      : { cause: causeText(stepBack.phase.cause, stepBack), byGuard: isOfGuard(stepBack.phase.cause) }),
    phase,
    step,
    promoted,
    couldMove,
    ...(state.brownout === undefined ? {} : { brownout: brownoutOf(rule, state.brownout) }),
    ...announcementOf(rule),
    ...(rehearsal === undefined ? {} : { rehearsal }),
  };
}

function presentMode(state: RuleState, now: number): OwnRuleStatus["doing"] {
  const { brownout } = state;
  return brownout === undefined || refusesAt(brownout, now) ? effectiveMode(state) : "nothing";
}

function brownoutOf({ brownout }: Rule, { phase, next, together }: BrownoutState): BrownoutStatus {
  const { contact, successor, exempt } = brownout ?? {};
  const common = {
    phase: phase.kind,
    next,
    zone: brownout?.schedule.zone ?? "UTC",
    ...(contact === undefined ? {} : { contact }),
    ...(successor === undefined ? {} : { successor }),
    ...(exempt === undefined || exempt.size === 0 ? {} : { exempt: [...exempt] }),
  };
  if (phase.kind === "waiting") return common;
  const { window, why, counts } = phase;
  return { ...common, window, ...(why === "" ? {} : { why }), counts: together ?? counts };
}

function announcementOf({ headers }: Rule): Pick<OwnRuleStatus, "announces"> {
  const { deprecation, sunset, documentation } = headers ?? {};
  const said = [deprecation, sunset, documentation].some((one) => one !== undefined);
  return said ? { announces: { deprecation, sunset, documentation } } : {};
}

const MOST_SENTENCES = 5;

function guardOf(state: RuleState, moment: Moment): RuleGuard {
  const { rule, slow: found } = state;
  const { action } = rule.guard;
  const slow = found && { ...found, says: slowText(found) };
  if (action === "off") return { action, slow };
  const present = troubleOf(state, moment);
  return { action, slow, trouble: present, past: present === undefined ? pastOf(state, moment) : undefined };
}

function pastOf({ guard, rateLimit }: RuleState, { at, reading }: Moment): RuleGuard["past"] {
  const second = Math.floor(reading / 1_000);
  const found = pastTrouble(guard, second);
  if (found === undefined) return undefined;
  const until = at - (second - found.lastFailure) * 1_000;
  return { until, quietAt: until + QUIET_SECONDS * 1_000, says: guardText(causeOf(found, rateLimit), found.clients) };
}

function troubleOf({ guard, rateLimit }: RuleState, { at, reading }: Moment): RuleGuard["trouble"] {
  const second = Math.floor(reading / 1_000);
  const found = trouble(guard, second);
  if (found === undefined) return undefined;
  const { operations, alarm, isCertain } = found;
  const sum = (of: (one: (typeof operations)[number]) => number) => operations.reduce((all, one) => all + of(one), 0);
  return {
    since: at - Math.max(0, (second - found.since) * 1_000),
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    clients: Math.max(0, ...operations.map(({ callers }) => callers)),
    kinds: operations.reduce((all, { kinds }) => addKinds(all, kinds), {}),
    certain: isCertain,
    alarm: alarm !== undefined,
    says: operations.slice(0, MOST_SENTENCES).map((one) => guardText(causeOf(one, rateLimit), one.clients)),
  };
}

function stateWord(status: Pick<OwnRuleStatus, "phase" | "couldMove" | "promoted">): OwnRuleStatus["state"] {
  const { phase, couldMove, promoted } = status;
  if (phase !== "forward") return phase === "returning" ? "returning" : "stepped-back";
  if (couldMove) return "could-move";
  return promoted ? "promoted" : "as-written";
}

function detailText({ requests, failures, comparisons, differences, bound, heldBack }: RuleEvidence, step?: number) {
  const parts = [
    ...(step === undefined ? [] : [`${percent(step, 2)} of its clients are translated`]),
    ...(requests === 0 ? [] : [`${failuresText(failures, requests)} since the rule was changed`]),
    ...(comparisons === 0
      ? []
      : [`${differencesText(differences, latest(comparisons))}: ${boundText({ comparisons, differences, bound })}`]),
    ...(heldBack.length === 0 ? [] : [`not to be translated yet: ${heldBack.join("; ")}`]),
  ];
  return parts.join("; ");
}

/** Everything about a rule, for people; JSON. */
export function viewOf(own: RuleState, force: Rules["force"], { at, reading }: Moment): unknown {
  const state = withTogether(own);
  const { rule, stepBack } = state;
  const { name, mode, doing, phase, step, couldMove, promoted, ...status } = statusOf(state, force, { at, reading });
  const { whom, resources, namesClients, percent, differencesBelow, failuresBelow, heldBack, stepBacks, ...found } =
    status.evidence;
  return {
    line: rule.line,
    match: matchView(rule.match),
    expires: instant(rule.expires),
    name,
    mode,
    effective: doing,
    state: phase,
    step,
    ...found,
    couldMove,
    heldBack,
    promoted,
    stepBacks,
    expired: status.state === "expired",
    since: instant(status.since),
    says: saysOf(state, force, at),
    shadow: rule.shadow,
    stepBack: rule.stepBack,
    guard: { ...rule.guard, ...status.guard },
    onFailure: rule.onFailure,
    fallback: rule.fallback,
    promoteWhen: rule.promoteWhen,
    brownout: rule.brownout && { ...rule.brownout, exempt: [...rule.brownout.exempt], ...status.brownout },
    // What would make it step back, as counted so far.
    window: stepBack && countsIn(stepBack.window, elapse(stepBack.time, reading, stepBack.settings.window).now),
  };
}

function saysOf(state: RuleState, force: Rules["force"], now: number): string {
  if (isExpired(state.rule, now)) return "expired: it matches nothing";
  return force === "none" ? stateText(state) : `overridden by force: ${force}; without it: ${stateText(state)}`;
}

function isExpired(rule: Rule, now: number): boolean {
  return now >= endOf(rule);
}

/** What the rule does, in a sentence or two. */
export function stateText(state: RuleState): string {
  const { rule, stepBack, promotion } = state;
  if (state.brownout !== undefined) return brownoutText(brownoutOf(rule, state.brownout));
  const compared = rule.shadow.sample > 0 ? `, ${percent(rule.shadow.sample)} of requests are compared` : "";
  if (!translates(state)) {
    const unknown =
      state.unknown === undefined
        ? ""
        : `; its saved state cannot be read: it moves on no more until \`carryover confirm ${rule.name}\``;
    if (unknown !== "") return `native responds${compared}${unknown}`;
    return rule.mode === "native" ? "native answers" : `native answers${compared}${promotionText(state)}`;
  }
  if (state.unknown?.native === true) {
    return `its saved state cannot be read: native responds${compared} until \`carryover confirm ${rule.name}\``;
  }
  if (state.unknown !== undefined) {
    return `translates${compared}, though its saved state cannot be read, without a native v1; \`carryover confirm ${rule.name}\` ends this warning`;
  }
  const promoted = promotion.promoted ? "moved on by itself: " : "";
  const left = blockedOperationTexts(state);
  const but = left.length === 0 ? "" : `; native still answers ${left.join("; ")}`;
  if (stepBack === undefined || stepBack.phase.kind === "forward") return `${promoted}translates${compared}${but}`;
  if (stepBack.phase.kind === "returning") {
    return `${promoted}translates for ${percent(translatedShare(stepBack))} of its clients, native answers the rest${compared}${but}`;
  }
  return `stepped back: ${causeText(stepBack.phase.cause, stepBack)}; native answers${compared}; ${returnText(stepBack)}`;
}

function returnText(stepBack: StepBack): string {
  const needed = quietNeeded(stepBack);
  if (needed === undefined) return "it stays so until the rule's name or mode changes";
  const longest = stepBack.factor === LONGEST_WAIT ? ", the longest wait" : "";
  const isGuard = stepBack.phase.kind !== "forward" && isOfGuard(stepBack.phase.cause);
  const what = isGuard ? "of comparisons that v2 responds to" : "without a difference";
  return `it tries again after ${duration(needed)} ${what}${longest}`;
}

function promotionText(state: RuleState): string {
  const { rule, promotion } = state;
  if (rule.promoteWhen === undefined) return "";
  const { differencesBelow, automatic } = rule.promoteWhen;
  const blocked = blockedOperationTexts(state);
  const says =
    blocked.length === 0 && canPromote(promotion)
      ? "it could be set to translate"
      : `${automatic ? "it moves" : "it may move"} on below ${percent(differencesBelow)}`;
  const waits = blocked.length === 0 ? "" : `; held back by ${blocked.join("; ")}`;
  return `; ${says}: ${evidenceText(evidence(promotion), promotion.clientsNeeded)}${waits}`;
}

/** How many operations are named in full. */
const MAX_NAMED = 10;

/** The operations that are not promoted, a sentence each, those requested most first. */
function blockedOperationTexts(state: RuleState): readonly string[] {
  const found = blockedOperations(state);
  const more = found.length - MAX_NAMED;
  return [
    ...found.slice(0, MAX_NAMED).map(blockedOperationText),
    ...(more > 0 ? [counted(more, "more operation")] : []),
  ];
}

/**
 * `group list: 3 comparisons in 12 requests, 6 needed`, both since the rule was changed. Shares are of the operation's latest
 * comparisons: their number would contradict that of the rule, which forgets at another pace.
 */
function blockedOperationText({ operation, requests, ...blocker }: BlockedOperation): string {
  const { why, compared, differences, failures, needed, failure } = blocker;
  if (why === "differences")
    return `${operation}: ${percent(differences / compared, 2)} of its latest comparisons differ`;
  if (why === "too-few") {
    return `${operation}: ${counted(compared, "comparison")} in ${counted(requests, "request")}, ${needed} needed`;
  }
  if (compared === 0 && failure === "not-comparable")
    return `${operation}: ${counted(requests, "request")}, cannot be compared`;
  return `${operation}: ${percent(failures / (compared + failures), 2)} of its latest comparisons failed (${failure ?? "internal"})`;
}
