/** When a shadow rule has been compared often enough to translate: evidence for the rule as a whole, and for each operation. */
import type { ComparisonFailure } from "../model/comparison.ts";
import type { PromoteSettings } from "../model/rules.ts";
import { type CallerIdentity, countCallers, type DistinctCallers, NO_CALLERS, withCaller } from "./evidence-window.ts";
import { isBelow, RISK, upperBound } from "./upper-bound.ts";

/** A bound `b` takes 4/b comparisons without a difference, and more with a smaller risk. A half is enough for a thousandth of it. */
const COMPARISONS_PER_HALF = 20;
const SMALLEST_HALF = 100;
const LARGEST_HALF = 10_000_000;
/** The part of `RISK` that is spent before any evidence is forgotten. */
export const FIRST_RISK = RISK * 0.8;
/** For rules without `promoteWhen`, whose bound is shown all the same. */
const DEFAULT_PROMOTE_SETTINGS: PromoteSettings = { differencesBelow: 0.001, minClients: 1, automatic: false };

export interface PromotionState {
  readonly settings: PromoteSettings;
  /** Distinct clients that must have been compared: `minClients`, or as many as the rule names. */
  readonly clientsNeeded: number;
  readonly older: PromotionCounts;
  readonly newer: PromotionCounts;
  /** Halves that were forgotten. */
  readonly forgotten: number;
  /** Comparisons since the last difference; since the start of the process, if there was none. */
  readonly equal: number;
  /** True from `promote` on. */
  readonly promoted: boolean;
}

/** A promotion as it is saved: without the settings, which the rules file says. */
export interface PromotionMemory extends Omit<PromotionState, "settings" | "clientsNeeded" | "equal"> {
  readonly differencesBelow: number;
}

interface PromotionCounts {
  readonly comparisons: number;
  readonly differences: number;
  /** Whose requests were compared; at most as many as are needed. */
  readonly callers: DistinctCallers;
}

/** What a bound rests on. */
export interface PromotionEvidence {
  readonly comparisons: number;
  readonly differences: number;
  /** Distinct; at most as many as are needed are counted. */
  readonly clients: number;
  /** Upper bound (95 %) of the share of differing responses, valid however often one looks; 1 without a comparison. */
  readonly bound: number;
  /** The chance that the bound is wrong. */
  readonly risk: number;
}

const NO_PROMOTION_COUNTS: PromotionCounts = { comparisons: 0, differences: 0, callers: NO_CALLERS };

/** `declared`: undefined where the rule is never promoted; `named`: how many clients the rule names, undefined: all. */
export function initialPromotion(declared: PromoteSettings | undefined, named: number | undefined): PromotionState {
  const settings = declared ?? DEFAULT_PROMOTE_SETTINGS;
  const { minClients } = settings;
  return {
    settings,
    clientsNeeded: Math.max(1, Math.min(minClients, named ?? minClients)),
    older: NO_PROMOTION_COUNTS,
    newer: NO_PROMOTION_COUNTS,
    forgotten: 0,
    equal: 0,
    promoted: false,
  };
}

/** The state after one more comparison. Once the newer half is full, the older one is forgotten: evidence ages by number. */
export function reducePromotion(
  state: PromotionState,
  { who, differs }: { readonly who: CallerIdentity; readonly differs: boolean },
): PromotionState {
  const { older, newer, clientsNeeded, forgotten } = state;
  const half: PromotionCounts = {
    comparisons: newer.comparisons + 1,
    differences: newer.differences + (differs ? 1 : 0),
    callers: withCaller(newer.callers, who, clientsNeeded),
  };
  const full = half.comparisons >= halfOf(state.settings);
  const equal = differs ? 0 : state.equal + 1;
  if (!full) return { ...state, equal, newer: half };
  const isFirst = older.comparisons === 0;
  return { ...state, equal, older: half, newer: NO_PROMOTION_COUNTS, forgotten: isFirst ? 0 : forgotten + 1 };
}

/**
 * What was compared `before`, under the settings of `fresh`. Evidence holds for any threshold, since its bound holds however often one
 * looks. A promotion stays while the rule still promotes by itself, and the evidence still allows it.
 */
export function continuedPromotion(fresh: PromotionState, before: PromotionMemory): PromotionState {
  const { older, newer, forgotten } = before;
  const state = { ...fresh, older, newer, forgotten };
  const isStricter = fresh.settings.differencesBelow < before.differencesBelow;
  return { ...state, promoted: before.promoted && fresh.settings.automatic && (!isStricter || canPromote(state)) };
}

export function promotionMemory({ settings, older, newer, forgotten, promoted }: PromotionState): PromotionMemory {
  return { differencesBelow: settings.differencesBelow, older, newer, forgotten, promoted };
}

export function promotionWithoutEvidence(memory: PromotionMemory): PromotionMemory {
  return { ...memory, older: NO_PROMOTION_COUNTS, newer: NO_PROMOTION_COUNTS, forgotten: 0 };
}

export function promote(state: PromotionState): PromotionState {
  return { ...state, promoted: true };
}

/**
 * The risk of the bound after `forgotten` halves. Forgetting evidence starts a new test, and all tests of a rule
 * together may be wrong in at most 5 % of cases. The first has 4 %, the others share 1 % (1/2, 1/6, 1/12 … of it).
 */
function riskAfter(forgotten: number): number {
  return forgotten === 0 ? FIRST_RISK : (RISK - FIRST_RISK) / (forgotten * (forgotten + 1));
}

export function evidence({ older, newer, forgotten }: PromotionState): PromotionEvidence {
  const comparisons = older.comparisons + newer.comparisons;
  const differences = older.differences + newer.differences;
  const clients = countCallers([older.callers, newer.callers]);
  const risk = riskAfter(forgotten);
  return { comparisons, differences, clients, bound: upperBound(differences, comparisons, risk), risk };
}

/** True when the comparisons of all operations together are enough. */
export function canPromote({ settings, clientsNeeded, older, newer, forgotten }: PromotionState): boolean {
  const comparisons = older.comparisons + newer.comparisons;
  const differences = older.differences + newer.differences;
  return (
    isBelow(settings.differencesBelow, differences, comparisons, riskAfter(forgotten)) &&
    countCallers([older.callers, newer.callers]) >= clientsNeeded
  );
}

function halfOf({ differencesBelow }: PromoteSettings): number {
  const wanted = Math.ceil(COMPARISONS_PER_HALF / differencesBelow);
  return Number.isFinite(wanted) ? Math.min(LARGEST_HALF, Math.max(SMALLEST_HALF, wanted)) : LARGEST_HALF;
}

/** Comparisons that are enough for an operation, however often it is requested. */
const ENOUGH = 20;
/** An operation that is requested less often needs this part of the comparisons that are to be expected. */
const PART = 0.5;
/** Sums of shares are a little off. */
const ROUNDING = 1e-6;
/** At most this share of its comparisons may fail, or differ (or `differencesBelow`, where that is more). */
const TOLERATED = 0.1;
const OPERATION_HALF = 100;

/** Failures that say nothing against the operation. After any other, it was compared and could not be shown to be right. */
const NEUTRAL_FAILURES: ReadonlySet<ComparisonFailure> = new Set([
  "busy",
  "memory",
  "native",
  "refused",
  "gone",
  "overtaken",
  "overloaded",
  "old-http",
  "closed",
]);

/** What is known of one operation under one rule. */
export interface OperationEvidence {
  /** Requests that native served, since the rule was changed. */
  readonly requests: number;
  /** How many comparisons of them the sample of their time predicted. Earlier versions saved none. */
  readonly expected?: number | undefined;
  readonly older: OperationCounts;
  readonly newer: OperationCounts;
  /** Why a comparison failed last. */
  readonly failure?: ComparisonFailure | undefined;
}

interface OperationCounts {
  /** Comparisons with a result, and those of them that differed. */
  readonly compared: number;
  readonly differences: number;
  readonly failures: number;
}

/** A request that native served, or a comparison. */
export type OperationEvent =
  /** `sample`: the share of such requests that is compared; 0 to 1. */
  | { readonly kind: "request"; readonly sample: number }
  | { readonly kind: "compared"; readonly differs: boolean }
  | { readonly kind: "failed"; readonly failure: ComparisonFailure };

/** Why an operation is not promoted, and the numbers that decided. */
export interface PromotionBlocker extends OperationCounts {
  readonly why: "failures" | "differences" | "too-few";
  readonly requests: number;
  /** Comparisons that it needs. */
  readonly needed: number;
  /** Why a comparison failed last. */
  readonly failure: ComparisonFailure | undefined;
}

const NO_OPERATION_COUNTS: OperationCounts = { compared: 0, differences: 0, failures: 0 };

export const UNKNOWN_OPERATION: OperationEvidence = {
  requests: 0,
  expected: 0,
  older: NO_OPERATION_COUNTS,
  newer: NO_OPERATION_COUNTS,
  failure: undefined,
};

/** False for a failure that says nothing of the operation. */
export function isEvidence(event: OperationEvent): boolean {
  return event.kind !== "failed" || !NEUTRAL_FAILURES.has(event.failure);
}

/** The evidence after one more event. An outage is forgotten after two halves at most, as differences are. */
export function reduceOperation(evidence: OperationEvidence, event: OperationEvent): OperationEvidence {
  if (!isEvidence(event)) return evidence;
  if (event.kind === "request") {
    const expected = expectedOf(evidence, event.sample) + event.sample;
    return { ...evidence, requests: evidence.requests + 1, expected };
  }
  const { newer } = evidence;
  const half: OperationCounts =
    event.kind === "failed"
      ? { ...newer, failures: newer.failures + 1 }
      : { ...newer, compared: newer.compared + 1, differences: newer.differences + (event.differs ? 1 : 0) };
  const failure = event.kind === "failed" ? event.failure : evidence.failure;
  const full = half.compared + half.failures >= OPERATION_HALF;
  return { ...evidence, failure, ...(full ? { older: half, newer: NO_OPERATION_COUNTS } : { newer: half }) };
}

function expectedOf({ requests, expected }: OperationEvidence, sample: number): number {
  return expected ?? requests * sample;
}

/** What the operation's rule says. */
export interface PromotionTerms {
  /** Share of requests that are compared; 0 to 1. For evidence of a version that counted no expected comparisons. */
  readonly sample: number;
  /** For all operations together. */
  readonly differencesBelow: number;
  /** The rule was promoted already: so far few requests say nothing of how often the operation is requested. */
  readonly late: boolean;
}

/** What keeps the operation from being promoted; undefined: nothing does. */
export function promotionBlocker(
  evidence: OperationEvidence,
  { sample, differencesBelow, late }: PromotionTerms,
): PromotionBlocker | undefined {
  const { requests, older, newer, failure } = evidence;
  const compared = older.compared + newer.compared;
  const differences = older.differences + newer.differences;
  const failures = older.failures + newer.failures;
  // An operation that was requested once needs one, too.
  const part = Math.ceil(expectedOf(evidence, sample) * PART - ROUNDING);
  const needed = late ? ENOUGH : Math.min(ENOUGH, Math.max(1, part));
  const why =
    failures > TOLERATED * (compared + failures)
      ? "failures"
      : differences > Math.max(TOLERATED, differencesBelow) * compared
        ? "differences"
        : compared < needed
          ? "too-few"
          : undefined;
  return why && { why, requests, compared, differences, failures, needed, failure };
}
