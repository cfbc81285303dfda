import { type Comparison, type ComparisonFailure, isConclusive, isDifference } from "../model/comparison.ts";
import type { EventKind, NewEvent } from "../model/event.ts";
import { CLIENT_LEFT, type Exchange, faultOf, wasLetIn } from "../model/exchange.ts";
import type { CutoverMode, ModeDecision, RuleMode, ShadowSettings, StepBackSettings } from "../model/rules.ts";
import { failureOfExchange } from "../model/v2-failure.ts";
import { endOf, type Rule } from "../rules/rule.ts";
import { percent } from "../rules/words.ts";
import {
  type BrownoutEvent,
  type BrownoutEventKind,
  type BrownoutState,
  initialBrownout,
  stepBrownout,
} from "./brownout.ts";
import { type Example, examplesOf, withExample } from "./examples.ts";
import {
  type CountedFailures,
  type GuardSecond,
  type GuardState,
  guardAlarm,
  initialGuard,
  QUIET_SECONDS,
  type StandInCounts,
  stepGuard,
  trouble,
} from "./guard.ts";
import {
  canPromote,
  continuedPromotion,
  evidence,
  initialPromotion,
  isEvidence,
  type OperationEvent,
  type OperationEvidence,
  type PromotionBlocker,
  type PromotionMemory,
  type PromotionState,
  promote,
  promotionBlocker,
  promotionMemory,
  promotionWithoutEvidence,
  reduceOperation,
  reducePromotion,
  UNKNOWN_OPERATION,
} from "./promotion.ts";
import type { Slowness } from "./slowness.ts";
import {
  continuedStepBack,
  type GuardCause,
  heldBack,
  initialStepBack,
  isOfGuard,
  recentClients,
  reduceStepBack,
  type SlowCause,
  type StepBack,
  type StepBackCause,
  type StepBackConfig,
  type StepBackEvent,
  type StepBackMemory,
  stepBackMemory,
  translatedShare,
} from "./step-back.ts";
import { changeText, evidenceText, guardText, phaseText } from "./text.ts";

/** Nothing is compared. */
export const NO_SHADOW: ShadowSettings = { sample: 0, control: 0 };

/** A rule and everything learnt about it. An immutable value: only `next` makes a new one. */
export interface RuleState {
  readonly rule: Rule;
  /** Undefined: the rule never steps back. */
  readonly stepBack: StepBack | undefined;
  /** What v2 does to the rule's clients. */
  readonly guard: GuardState;
  /** The rate limit of v2's that its clients reached last, as v2 names it. */
  readonly rateLimit: string | undefined;
  /** The slowest operation, if v2 is much slower than native v1. */
  readonly slow: Slowness | undefined;
  /** It was reported that v2 fails its clients, and not yet that this is over. */
  readonly troubled: boolean;
  /** Requests that failed or differed lately. */
  readonly examples: readonly Example[];
  readonly promotion: PromotionState;
  /** Evidence for each operation that was requested, by `operationNameOf`; empty unless the rule says `mode: shadow`. */
  readonly operations: ReadonlyMap<string, OperationEvidence>;
  /** The operations that were promoted with the rule. */
  readonly promotedOperations: ReadonlySet<string>;
  /** `could-promote` was reported, and no difference has come since. */
  readonly promotionReported: boolean;
  /** Translated requests that count as evidence, and those of them that failed because of the translation. */
  readonly requests: number;
  readonly failures: number;
  /** What all replicas know of it, if they share a store that responds. */
  readonly together: Together | undefined;
  /** When the mode or the percentage last changed, milliseconds since 1970. */
  readonly since: number;
  /** Set while the evidence about the rule is lost, until a person confirms that it may go on. */
  readonly unknown: UnknownState | undefined;
  /** Set for a rule with mode brownout. */
  readonly brownout: BrownoutState | undefined;
  /** Members of its saved state that only another version knows. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** What several replicas counted of a rule, summed. */
export interface Together {
  readonly promotion: Pick<PromotionState, "older" | "newer" | "forgotten" | "equal">;
  /** By the operation's names. */
  readonly operations: ReadonlyMap<string, OperationEvidence>;
  readonly requests: number;
  readonly failures: number;
}

/** Of a rule whose saved state was there and cannot be read. */
export interface UnknownState {
  /** As it was found, in JSON; null when nothing was. */
  readonly entry: unknown;
  /** Native v1 serves until a person confirms. False: without a native v1 the rule translates. */
  readonly native: boolean;
}

/** What can change a rule's state. `at`: milliseconds since 1970; `reading`: of a clock that measures time, and that is never set. */
export type RuleEvent =
  /** A request that the rule decided on is over. */
  | { readonly kind: "request"; readonly at: number; readonly reading: number; readonly exchange: Exchange }
  /**
   * A comparison that the rule asked for is over. `credential` stands for the credential of the compared request. `isRepeat`: it only
   * repeats others, so it proves nothing of the rule.
   */
  | {
      readonly kind: "comparison";
      readonly at: number;
      readonly reading: number;
      readonly comparison: Comparison;
      readonly credential: string | undefined;
      readonly isRepeat: boolean;
      /** All replicas together decide whether the rule is promoted. */
      readonly isShared: boolean;
    }
  /** What all replicas know of the rule; undefined while that is not known. */
  | { readonly kind: "together"; readonly at: number; readonly sums: Together | undefined }
  /** Operations were promoted for all replicas. */
  | { readonly kind: "promoted"; readonly at: number; readonly operations: readonly string[]; readonly reason: string }
  /** Seconds of translated requests are over. */
  | {
      readonly kind: "guard";
      readonly at: number;
      readonly reading: number;
      readonly seconds: readonly GuardSecond[];
      readonly slow: Slowness | undefined;
      readonly rateLimit: string | undefined;
    }
  /** Another replica stepped the rule back. */
  | { readonly kind: "adopted"; readonly at: number; readonly reading: number; readonly cause: StepBackCause }
  | { readonly kind: "tick"; readonly at: number; readonly reading: number }
  /** Something that concerns a brownout. */
  | { readonly kind: "brownout"; readonly at: number; readonly event: BrownoutEvent }
  | { readonly kind: "brownout"; readonly at: number; readonly event: BrownoutEvent }
  | { readonly kind: "expired"; readonly at: number };

type RolloutEventKind = Extract<
  EventKind,
  | "stepped-back"
  | "alarm"
  | "failing"
  | "guard-cleared"
  | "returning"
  | "returned"
  | "promoted"
  | "could-promote"
  | "expired"
  | "forced"
  | "rules"
  | "unknown"
  | "confirmed"
  | BrownoutEventKind
>;

/** A change to report, once. `at`: milliseconds since 1970; `rule`: undefined where all rules are concerned. */
export interface RolloutEvent extends NewEvent<RolloutEventKind> {
  readonly rule: string | undefined;
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/** A state, and the change that led to it where there is one to report. */
export interface RuleTransition {
  readonly state: RuleState;
  readonly report?: RolloutEvent;
  /** Operations that may be promoted, once all replicas agree. */
  readonly promotes?: Promotes;
}

export interface Promotes {
  readonly operations: readonly string[];
  readonly reason: string;
}

/** The state after `event`. */
export function next(state: RuleState, event: RuleEvent): RuleTransition {
  switch (event.kind) {
    case "request":
      return afterRequest(state, event);
    case "comparison":
      return afterComparison(state, event);
    case "guard":
      return afterGuard(state, event);
    case "together":
      return afterTogether(state, event.sums, event.at);
    case "promoted":
      return afterPromotion(state, event);
    case "adopted":
      return afterStepBackEvent(state, { kind: "alarm", at: event.reading, cause: event.cause }, event.at);
    case "tick":
      return afterStepBackEvent(state, { kind: "tick", at: event.reading }, event.at);
    case "brownout":
      return afterBrownoutEvent(state, event);
    case "expired":
      return afterExpiry(state, event.at);
    default:
      return event satisfies never;
  }
}

/** The state of a new or changed rule; `at`: milliseconds since 1970. */
export function initialRuleState(rule: Rule, at: number): RuleState {
  const named = rule.match.clients?.size;
  const stepBack = stepBackConfigOf(rule);
  return {
    rule,
    stepBack: stepBack && initialStepBack(stepBack),
    guard: initialGuard(),
    slow: undefined,
    rateLimit: undefined,
    troubled: false,
    examples: [],
    promotion: initialPromotion(rule.mode === "shadow" ? rule.promoteWhen : undefined, named),
    operations: new Map(),
    promotedOperations: new Set(),
    promotionReported: false,
    requests: 0,
    failures: 0,
    together: undefined,
    since: at,
    unknown: undefined,
    brownout: rule.mode === "brownout" ? initialBrownout() : undefined,
    kept: {},
  };
}

/** The state of a rule that lost everything learnt about it. `entry`: as it was found. Where it never translates, nothing protected it. */
export function unknownRuleState(fresh: RuleState, unknown: UnknownState): RuleState {
  const { mode, promoteWhen } = fresh.rule;
  if (mode === "brownout") return { ...fresh, brownout: initialBrownout(true) };
  return mode === "translate" || (mode === "shadow" && promoteWhen?.automatic === true) ? { ...fresh, unknown } : fresh;
}

/** A person lets an unknown rule go on as its file says. */
export function confirmed(state: RuleState, at: number): RuleTransition {
  const after = { ...state, unknown: undefined, since: at };
  const reason = `carryover confirm ${state.rule.name}: its evidence begins at zero`;
  const report = {
    kind: "confirmed",
    rule: state.rule.name,
    at,
    from: "unknown",
    to: effectiveMode(after),
    reason,
  } as const;
  return { state: after, report };
}

/** The change that `unknownRuleState` is. */
export function unknownReport(state: RuleState, at: number): RolloutEvent {
  const { name, mode } = state.rule;
  const until = `until carryover confirm ${name}`;
  const reason = `its saved state cannot be read: ${state.unknown?.native === true ? `native v1 serves ${until}` : `it translates all the same without a native v1; said ${until}`}`;
  return { kind: "unknown", rule: name, at, from: mode, to: effectiveMode(state), reason };
}

/** Everything learnt about a rule, without the rule: what a changed rule and a restart continue from. */
export interface RuleMemory
  extends Omit<
    RuleState,
    "rule" | "stepBack" | "guard" | "slow" | "rateLimit" | "troubled" | "examples" | "promotion" | "together"
  > {
  readonly name: string;
  readonly evidenceKey: string;
  readonly mode: RuleMode;
  readonly percent?: number | undefined;
  readonly stepBack?: StepBackMemory | undefined;
  readonly promotion: PromotionMemory;
}

export function memoryOf(state: RuleState): RuleMemory {
  const { rule, stepBack, promotion, ...rest } = state;
  // The guard learns its state again within seconds.
  const { guard: _, slow: __, rateLimit: ___, troubled: ____, examples: _____, together: ______, ...learnt } = rest;
  const { name, evidenceKey, mode, match } = rule;
  // Earlier versions know no unknown rules: one that is back is what they take for one.
  const saved = state.unknown === undefined ? stepBack : stepBack && heldBack(stepBack);
  return {
    ...learnt,
    name,
    evidenceKey,
    mode,
    percent: match.percent,
    stepBack: saved && stepBackMemory(saved),
    promotion: promotionMemory(promotion),
  };
}

/**
 * Carries a rule's state, `before`, over a change of the rule. A changed match resets it, unless the state is unknown. One of another mode keeps what
 * was compared, and is no longer back or promoted. Any other change keeps everything that the new settings allow.
 */
export function continuedRuleState(rule: Rule, before: RuleMemory | undefined, at: number): RuleState {
  const fresh = initialRuleState(rule, at);
  const isSameMode = before?.mode === rule.mode;
  // Whatever it is about now: a window that was stopped stays so.
  if (rule.mode === "brownout" && isSameMode)
    return { ...fresh, brownout: before.brownout ?? fresh.brownout, kept: before.kept };
  // Whatever it is about now, as after a start: its past is unknown.
  if (isSameMode && before.unknown !== undefined)
    return unknownRuleState({ ...fresh, since: before.since }, before.unknown);
  if (before?.evidenceKey !== rule.evidenceKey) return fresh;
  const wasPromoted = isSameMode && before.promotion.promoted;
  const promotion = continuedPromotion(fresh.promotion, { ...before.promotion, promoted: wasPromoted });
  const compared = { ...fresh, promotion, operations: rule.mode === "shadow" ? before.operations : fresh.operations };
  if (!isSameMode) return compared;
  const { promotedOperations, promotionReported, requests, failures, since, kept } = before;
  const stepBack =
    fresh.stepBack && before.stepBack ? continuedStepBack(fresh.stepBack, before.stepBack) : fresh.stepBack;
  const phaseOf = (one: { readonly phase: { readonly kind: string } } | undefined) => one?.phase.kind ?? "forward";
  const phase = phaseOf(stepBack);
  // Of a rule that stepped back it says when.
  const hasOtherClients = phase === "forward" && before.percent !== rule.match.percent;
  const isAsBefore = promotion.promoted === wasPromoted && phase === phaseOf(before.stepBack) && !hasOtherClients;
  return {
    ...compared,
    stepBack,
    promotedOperations: promotion.promoted ? promotedOperations : fresh.promotedOperations,
    promotionReported,
    // What few clients showed says little of many.
    requests: hasOtherClients ? 0 : requests,
    failures: hasOtherClients ? 0 : failures,
    since: isAsBefore ? since : at,
    kept,
  };
}

/** What stays when responses are no longer made as they were: what the rule does, but nothing that was counted of them. */
export function withoutEvidence(memory: RuleMemory): RuleMemory {
  const { stepBack, promotion } = memory;
  return {
    ...memory,
    stepBack: stepBack && { ...stepBack, window: { ...stepBack.window, slices: [] } },
    promotion: promotionWithoutEvidence(promotion),
    operations: new Map(),
    promotionReported: false,
    requests: 0,
    failures: 0,
  };
}

/** What a rule that is promoted automatically steps back by when it names nothing else. Only a change brings it back. */
const DEFAULT_STEP_BACK = {
  failures: 0.02,
  minRequests: 200,
  minComparisons: 20,
  minClients: 1,
  window: 300_000,
  returnAfter: undefined,
} as const;

function stepBackConfigOf(rule: Rule): StepBackConfig | undefined {
  const { guard, match } = rule;
  const settings = stepBackSettingsOf(rule);
  const mayTranslate = rule.mode === "translate" || rule.promoteWhen?.automatic === true;
  if (!mayTranslate || guard.action !== "stepBack") return settings && { ...settings, named: match.clients?.size };
  // Without thresholds only the guard steps it back.
  const { failures: _, ...defaults } = DEFAULT_STEP_BACK;
  return { ...(settings ?? defaults), named: match.clients?.size, guard: { returnAfter: guard.returnAfter } };
}

function stepBackSettingsOf({ mode, stepBack, promoteWhen }: Rule): StepBackSettings | undefined {
  if (mode === "native") return undefined;
  if (stepBack !== undefined || mode === "translate" || promoteWhen?.automatic !== true) return stepBack;
  return { ...DEFAULT_STEP_BACK, differences: promoteWhen.differencesBelow };
}

/** An operation by its catalogue names. */
type OperationName = Pick<Exchange, "resource" | "operation">;

function operationNameOf({ resource, operation }: OperationName): string {
  return `${resource} ${operation}`;
}

/** True when the rule translates, unless it has stepped back. */
export function translates({ rule, promotion }: RuleState): boolean {
  return rule.mode === "translate" || promotion.promoted;
}

/** The same for one operation. What was never compared before the rule was promoted is not promoted with it. */
function translatesOperation(state: RuleState, operation: OperationName): boolean {
  return (
    state.rule.mode === "translate" ||
    (state.promotion.promoted && state.promotedOperations.has(operationNameOf(operation)))
  );
}

/**
 * What the rule does for a request of this client at `at`, in milliseconds since 1970. While it returns, its clients are divided by a bucket of its own, since the
 * rule may match low buckets only. A client stays on its side, and a later step moves none back.
 */
export function choiceFor(
  state: RuleState,
  operation: OperationName & { readonly client: string },
  bucketOf: (client: string) => number,
  at: number,
): ModeDecision {
  const { rule, stepBack, promotion } = state;
  if (rule.mode === "brownout") return refusalOf(state, at);
  const declared: ModeDecision = {
    mode: rule.mode,
    rule,
    shadow: rule.mode === "native" ? NO_SHADOW : rule.shadow,
    why: "rule",
  };
  if (!translatesOperation(state, operation)) return declared;
  if (state.unknown?.native === true) return { ...declared, mode: modeWhenBack(state), why: "unknown" };
  const share = stepBack === undefined ? 1 : translatedShare(stepBack);
  if (share === 1 || (share > 0 && bucketOf(`returning\0${operation.client}`) < share * 100)) {
    return promotion.promoted ? { ...declared, mode: "translate", why: "promoted" } : declared;
  }
  return { ...declared, mode: modeWhenBack(state), shadow: shadowWhenBack(state), why: "stepped-back" };
}

/** Of a brownout that runs: no other takes a request. */
function refusalOf({ rule, brownout }: RuleState, at: number): ModeDecision {
  if (rule.brownout === undefined || brownout === undefined || brownout.phase.kind === "waiting") {
    throw new Error(`rule ${rule.name} took a request, and its brownout does not run`);
  }
  const { window } = brownout.phase;
  return { mode: "brownout", rule, brownout: rule.brownout, window, at, shadow: NO_SHADOW, why: "rule" };
}

/** Native responds. Comparisons go on where the rule makes them: they show when the translation is right again. */
function modeWhenBack(state: RuleState): CutoverMode {
  return shadowWhenBack(state).sample > 0 ? "shadow" : "native";
}

/** The sample of a rule without one, while only comparisons can show that v2 is well again. */
const GUARD_SAMPLE = 0.1;

function shadowWhenBack({ rule: { shadow }, stepBack }: RuleState): ShadowSettings {
  const phase = stepBack?.phase;
  const isForGuard = phase !== undefined && phase.kind !== "forward" && isOfGuard(phase.cause);
  return isForGuard && shadow.sample === 0 ? { ...shadow, sample: GUARD_SAMPLE } : shadow;
}

/** The mode of the clients and operations that are furthest ahead. */
export function effectiveMode(state: RuleState): RuleMode {
  if (!translates(state)) return state.rule.mode;
  return state.unknown?.native === true || state.stepBack?.phase.kind === "back" ? modeWhenBack(state) : "translate";
}

/** True for a rule that waits for its promotion. */
export function awaitsPromotion({ rule, promotion }: RuleState): boolean {
  return rule.mode === "shadow" && rule.promoteWhen !== undefined && !promotion.promoted;
}

/**
 * Whether a finished v1 request failed because of the translation. Undefined when it says nothing of the translation, and then
 * it is not counted at all, as it would make the share of failures smaller than it is: it was not translated, the client left
 * or sent an invalid request, a limit was reached, the platform was down, or the platform did not let the caller in.
 */
export function failedByTranslation(exchange: Exchange): boolean | undefined {
  const { apiVersion, mode, aborted, status, reason } = exchange;
  if (apiVersion !== "v1" || mode !== "translate" || aborted || status === CLIENT_LEFT) return undefined;
  const fault = faultOf(exchange);
  // An internal error, or a request of ours that v2 refused, counts for every caller.
  if (fault === "translation" && (reason === "INTERNAL" || reason === undefined)) return true;
  if (!wasLetIn(exchange)) return undefined;
  if (fault !== undefined) return fault === "translation" ? true : undefined;
  return status >= 200 && status < 400 ? false : undefined;
}

/** The rule keeps native v1 from serving a request that cannot be translated. */
function isRefusedInRehearsal({ rule }: RuleState, { mode, reason }: Exchange): boolean {
  return rule.fallback === "refuse" && mode === "refused" && reason === "NOT_TRANSLATABLE";
}

function afterRequest(
  before: RuleState,
  { exchange, at, reading }: RuleEvent & { readonly kind: "request" },
): RuleTransition {
  const { mode, aborted, status, client } = exchange;
  // A request that native refused needs no translation that is right.
  const served = mode === "shadow" && !aborted && status >= 200 && status < 400;
  const state = served
    ? withEvidence(before, exchange, { kind: "request", sample: before.rule.shadow.sample })
    : before;
  const failed = isRefusedInRehearsal(before, exchange) || failedByTranslation(exchange);
  const sick = withExampleOf(state, exchange, failed === true, reading);
  if (failed === undefined || !translates(state)) return { state: sick };
  const counted = { ...sick, requests: state.requests + 1, failures: state.failures + (failed ? 1 : 0) };
  // The credential of a success is not needed, and costs time to work out.
  const who = { client, credential: failed ? exchange.credential?.() : undefined };
  return afterStepBackEvent(counted, { kind: "request", at: reading, who, failed }, at);
}

/** A request that v2 failed, or the translation, or both, is an example of it. */
function withExampleOf(state: RuleState, exchange: Exchange, failed: boolean, reading: number): RuleState {
  const { apiVersion, mode, aborted, status, reason, rescued, client, requestId: request } = exchange;
  // Most requests are no example: the rest is worked out for few.
  if (status < 400 && reason === undefined && rescued === undefined) return state;
  if (apiVersion !== "v1" || mode !== "translate" || aborted) return state;
  const one = { operation: operationNameOf(exchange), client, request, reading };
  const after = failed ? withExample(state.examples, { ...one, what: "failure" }) : state.examples;
  const examples = failureOfExchange(exchange) === undefined ? after : withExample(after, { ...one, what: "v2" });
  return examples === state.examples ? state : { ...state, examples };
}

function afterComparison(
  before: RuleState,
  { comparison, credential, isRepeat, isShared, at, reading }: RuleEvent & { readonly kind: "comparison" },
): RuleTransition {
  const { result, failure, client, requestId: request } = comparison;
  const differs = isDifference(result);
  if (!isConclusive(result)) {
    const failed = withEvidence(before, comparison, { kind: "failed", failure: failure ?? "internal" });
    return isSick(comparison) ? afterStepBackEvent(failed, { kind: "sick", at: reading }, at) : { state: failed };
  }
  const who = { client, credential };
  const example = { what: "difference", operation: operationNameOf(comparison), client, request, reading } as const;
  const state: RuleState = {
    ...withEvidence(before, comparison, { kind: "compared", differs }),
    examples: differs ? withExample(before.examples, example) : before.examples,
    promotion: isRepeat ? before.promotion : reducePromotion(before.promotion, { who, differs }),
  };
  if (translatesOperation(state, comparison)) {
    return afterStepBackEvent(state, { kind: "compared", at: reading, who, differs, isSick: isSick(comparison) }, at);
  }
  if (isShared || !mayPromote(state) || state.unknown !== undefined) return { state };
  return state.promotion.promoted ? promoteLate(state, comparison, at) : considerPromotion(state, at);
}

/** Failures of the comparison that are v2's, since native had responded by then. */
const SICK: ReadonlySet<ComparisonFailure> = new Set(["platform", "unreachable", "timeout"]);

/** Native served the request, and v2 failed its comparison. */
function isSick({ served, result, failure }: Comparison): boolean {
  return served === "shadow" && (result === "status" || (failure !== undefined && SICK.has(failure)));
}

function afterGuard(
  before: RuleState,
  { seconds, slow, rateLimit, at, reading }: RuleEvent & { readonly kind: "guard" },
): RuleTransition {
  const phase = before.stepBack?.phase.kind ?? "forward";
  // Requests that were translated before the step back say nothing new.
  if (!translates(before) || phase === "back") return { state: before };
  const clients = phase === "returning" ? before.stepBack && recentClients(before.stepBack) : undefined;
  const seen = seconds.reduce((state, second) => stepGuard(state, second, clients), before.guard);
  const guard = withoutOldAlarm(seen, reading);
  const alarm = guardAlarm(guard);
  const mayStepBack = before.stepBack?.settings.guard !== undefined;
  const found = trouble(guard, Math.floor(reading / 1_000));
  const isOver = before.troubled && found?.isCertain !== true;
  const after = { ...before, guard, slow, rateLimit, troubled: before.troubled && !isOver };
  const stepBackFor = (cause: GuardCause | SlowCause): RuleTransition =>
    afterStepBackEvent(after, { kind: "alarm", at: reading, cause }, at);
  if (slow !== undefined && mayStepBack && before.rule.guard.slow === "stepBack") {
    return stepBackFor({ what: "slow", ...slow, bad: 1, all: 1, clients: 1 });
  }
  if (isOver) return { state: after, report: clearedReport(after, at) };
  if (alarm === undefined || guardAlarm(before.guard) !== undefined) {
    const second = Math.floor(reading / 1_000);
    if (found?.isCertain !== true) return { state: after };
    // A rule that returns takes no further step while v2 fails its clients, whatever native v1 would do.
    const { state } =
      phase === "returning" ? afterStepBackEvent(after, { kind: "failing", at: reading }, at) : { state: after };
    const [worst] = found.operations;
    const isKnown = worst === undefined || trouble(before.guard, second)?.isCertain === true;
    if (isKnown) return { state };
    const report = reportOf("failing", before, causeOf(worst, rateLimit), { at, reading });
    return { state: { ...state, troubled: true }, report };
  }
  const cause = causeOf(alarm, rateLimit);
  if (mayStepBack) return stepBackFor(cause);
  return { state: { ...after, troubled: true }, report: reportOf("alarm", before, cause, { at, reading }) };
}

interface Moment {
  readonly at: number;
  readonly reading: number;
}

function reportOf(
  kind: "alarm" | "failing",
  state: RuleState,
  cause: GuardCause,
  { at, reading }: Moment,
): RolloutEvent {
  const doing = effectiveMode(state);
  const examples = examplesFor(state, cause, reading);
  return { kind, rule: state.rule.name, at, from: doing, to: doing, reason: guardText(cause), ...examples };
}

function clearedReport(state: RuleState, at: number): RolloutEvent {
  const doing = effectiveMode(state);
  const reason = "v2 fails its clients no more often than usual";
  return { kind: "guard-cleared", rule: state.rule.name, at, from: doing, to: doing, reason };
}

/** Requests that led to `cause`, and the client if it is one. */
function examplesFor({ examples, stepBack }: RuleState, cause: StepBackCause, reading: number) {
  if (cause.what === "slow") return {};
  const window = cause.what === "guard" ? QUIET_SECONDS * 1_000 : (stepBack?.settings.window ?? 0);
  const what = { failures: "failure", differences: "difference", guard: "v2" } as const;
  const operation = cause.what === "guard" ? cause.operation : undefined;
  return examplesOf(examples, { what: what[cause.what], operation, since: reading - window });
}

/** An alarm that steps nothing back ends with the trouble. */
function withoutOldAlarm(guard: GuardState, reading: number): GuardState {
  const found = guardAlarm(guard) && trouble(guard, Math.floor(reading / 1_000));
  const isOver = found !== undefined && Math.floor(reading / 1_000) - found.lastFailure >= QUIET_SECONDS;
  return isOver ? initialGuard() : guard;
}

/** Failed writes whose outcome on native is known, and those that it would have served. */
function known({ others, hour, ownDay, fails }: StandInCounts): GuardCause["pairs"] {
  const served = others + hour + ownDay;
  return { asked: served + fails, served };
}

/** Makes a cause from counted failures. */
export function causeOf(alarm: CountedFailures, rateLimit: string | undefined): GuardCause {
  const { operation, write, failures, requests, callers, kinds, pairedServed, pairedFailed } = alarm;
  const pairs =
    alarm.standIn === undefined ? { asked: pairedServed + pairedFailed, served: pairedServed } : known(alarm.standIn);
  const counts = { bad: failures, all: Math.max(requests, failures), clients: Math.max(1, callers) };
  const limit = kinds.limited === undefined ? undefined : rateLimit;
  return { what: "guard", operation, write, ...counts, kinds, pairs, rateLimit: limit };
}

/** `at`: milliseconds since 1970. */
function afterStepBackEvent(state: RuleState, event: StepBackEvent, at: number): RuleTransition {
  const before = state.stepBack;
  if (before === undefined) return { state };
  const stepBack = reduceStepBack(before, event);
  const kind = phaseChange(before, stepBack);
  if (kind === undefined) return { state: { ...state, stepBack } };
  const [from, to, reason] = [phaseText(before), phaseText(stepBack), changeText(before, stepBack)];
  // Whatever the cause: what v2 did before says nothing of it when the rule translates again.
  const after = kind === "stepped-back" ? withoutGuard(state) : state;
  const { phase } = stepBack;
  const examples = phase.kind === "back" ? examplesFor(state, phase.cause, event.at) : {};
  return {
    state: { ...after, stepBack, since: at },
    report: { kind, rule: state.rule.name, at, from, to, reason, ...examples },
  };
}

/** The state of a rule that translates nothing any more: no client meets v2. */
export function withoutGuard(state: RuleState): RuleState {
  return { ...state, guard: initialGuard(), slow: undefined, rateLimit: undefined, troubled: false };
}

function phaseChange({ phase: from }: StepBack, { phase: to }: StepBack): RolloutEvent["kind"] | undefined {
  if (to.kind === "returning") return from.kind === "returning" && from.step === to.step ? undefined : "returning";
  if (from.kind === to.kind) return undefined;
  return to.kind === "back" ? "stepped-back" : "returned";
}

function afterBrownoutEvent(
  state: RuleState,
  { at, event }: RuleEvent & { readonly kind: "brownout" },
): RuleTransition {
  const { rule, brownout: before } = state;
  if (before === undefined || rule.brownout === undefined) return { state };
  const { state: brownout, report } = stepBrownout(before, event, rule.brownout);
  if (brownout === before) return { state };
  if (report === undefined) return { state: { ...state, brownout } };
  return { state: { ...state, brownout, since: at }, report: { ...report, rule: rule.name, at } };
}

function afterExpiry(state: RuleState, at: number): RuleTransition {
  const end = endOf(state.rule);
  const reason = `it expired on ${new Date(end).toISOString()}: later rules and cutover.mode decide`;
  return {
    state: { ...state, since: end },
    report: { kind: "expired", rule: state.rule.name, at, from: effectiveMode(state), to: "nothing", reason },
  };
}

/** More than a catalogue has. Whatever comes beyond has no evidence for it, so it keeps the rule from its promotion. */
const MAX_OPERATIONS = 300;
const BEYOND = "further operations";

function mayPromote({ rule }: RuleState): boolean {
  return rule.mode === "shadow" && rule.promoteWhen !== undefined;
}

function withEvidence(state: RuleState, operation: OperationName, event: OperationEvent): RuleState {
  if (state.rule.mode !== "shadow" || !isEvidence(event)) return state;
  const { operations } = state;
  const name = operationNameOf(operation);
  const known = operations.get(name);
  const after =
    known !== undefined || operations.size < MAX_OPERATIONS
      ? ([name, reduceOperation(known ?? UNKNOWN_OPERATION, event)] as const)
      : ([
          BEYOND,
          reduceOperation(operations.get(BEYOND) ?? UNKNOWN_OPERATION, {
            kind: "request",
            sample: state.rule.shadow.sample,
          }),
        ] as const);
  return { ...state, operations: new Map(operations).set(...after) };
}

/** An operation that came after its rule was promoted follows once there is enough evidence for it. */
function promoteLate(state: RuleState, comparison: Comparison, at: number): RuleTransition {
  const name = operationNameOf(comparison);
  if (blockerOf(state, name) !== undefined) return { state };
  const reason = `${name} follows: it was compared often enough now`;
  return {
    state: { ...state, promotedOperations: new Set([...state.promotedOperations, name]) },
    report: { kind: "promoted", rule: state.rule.name, at, from: "shadow", to: "translate", reason },
  };
}

/** This comparison may have been the last one that was needed. */
function considerPromotion(state: RuleState, at: number): RuleTransition {
  const { rule, promotion, operations } = state;
  if (!canPromote(promotion)) return { state: { ...state, promotionReported: false } };
  const { automatic, differencesBelow } = promotion.settings;
  // Reported once, and again only after differences: further operations come and are compared all the time.
  if ((state.promotionReported && !automatic) || !isClear(state)) return { state };
  const found = evidenceText(evidence(promotion), promotion.clientsNeeded);
  const report = { rule: rule.name, at, from: "shadow", reason: `${found}, less than ${percent(differencesBelow)}` };
  if (!automatic) {
    return {
      state: { ...state, promotionReported: true },
      report: { ...report, kind: "could-promote", to: "shadow" },
    };
  }
  const promotedOperations = new Set([...operations.keys()].filter((name) => blockerOf(state, name) === undefined));
  return {
    state: { ...state, promotion: promote(promotion), promotedOperations, since: at },
    report: { ...report, kind: "promoted", to: "translate" },
  };
}

/** Whether what all replicas know is enough for a promotion. It is not made yet: they decide it together. */
function afterTogether(before: RuleState, sums: Together | undefined, at: number): RuleTransition {
  if (before.together === sums) return { state: before };
  const state = { ...before, together: sums };
  if (sums === undefined || !mayPromote(state) || state.unknown !== undefined) return { state };
  const all = withTogether(state);
  if (!state.promotion.promoted) {
    const { state: after, report } = considerPromotion(all, at);
    const { promotionReported, promotedOperations } = after;
    if (report?.kind !== "promoted") return { state: { ...state, promotionReported }, ...(report && { report }) };
    return { state, promotes: { operations: [...promotedOperations], reason: report.reason } };
  }
  const late = [...all.operations.keys()].filter(
    (name) => !state.promotedOperations.has(name) && blockerOf(all, name) === undefined,
  );
  if (late.length === 0) return { state };
  return { state, promotes: { operations: late, reason: `${late.join(", ")}: compared often enough now` } };
}

/** The state with the evidence of all replicas in place of its own, as far as that is known. */
export function withTogether(state: RuleState): RuleState {
  const { together, promotion } = state;
  if (together === undefined) return state;
  const { operations, requests, failures } = together;
  return { ...state, promotion: { ...promotion, ...together.promotion }, operations, requests, failures };
}

function afterPromotion(
  state: RuleState,
  { operations, reason, at }: RuleEvent & { readonly kind: "promoted" },
): RuleTransition {
  const { rule, promotion, since } = state;
  const promotedOperations = new Set([...state.promotedOperations, ...operations]);
  const isKnown = promotion.promoted && promotedOperations.size === state.promotedOperations.size;
  if (isKnown || !mayPromote(state) || !promotion.settings.automatic) return { state };
  return {
    state: { ...state, promotion: promote(promotion), promotedOperations, since: promotion.promoted ? since : at },
    report: { kind: "promoted", rule: rule.name, at, from: "shadow", to: "translate", reason },
  };
}

/** An operation that is not promoted, by its names: `group list`. */
export interface BlockedOperation extends PromotionBlocker {
  readonly operation: string;
}

/** The operations that keep the rule from its promotion, or that were not promoted with it; most requested first. */
export function blockedOperations(state: RuleState): readonly BlockedOperation[] {
  const { operations, promotedOperations, promotion } = state;
  const found: BlockedOperation[] = [];
  for (const operation of operations.keys()) {
    const blocker = promotedOperations.has(operation) ? undefined : blockerOf(state, operation);
    if (blocker !== undefined && (promotion.promoted || isInUse(blocker))) found.push({ operation, ...blocker });
  }
  return found.sort((a, b) => b.requests - a.requests);
}

/** True when no operation keeps the rule from its promotion. */
function isClear(state: RuleState): boolean {
  for (const operation of state.operations.keys()) {
    const blocker = blockerOf(state, operation);
    if (blocker !== undefined && isInUse(blocker)) return false;
  }
  return true;
}

/** False where native refused every request and no comparison succeeded: such an operation blocks nothing. */
function isInUse({ requests, compared }: PromotionBlocker): boolean {
  return requests > 0 || compared > 0;
}

function blockerOf({ rule, operations, promotion }: RuleState, operation: string): PromotionBlocker | undefined {
  return promotionBlocker(operations.get(operation) ?? UNKNOWN_OPERATION, {
    sample: rule.shadow.sample,
    differencesBelow: rule.promoteWhen?.differencesBelow ?? 0,
    late: promotion.promoted,
  });
}
