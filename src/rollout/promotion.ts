/** Has a rule's shadow been compared often enough to move on? (Design section 7: a bound, and who moves.) */
import type { PromoteSettings } from "../model/rules.ts";
import { type CallerIdentity, countCallers, type DistinctCallers, NO_CALLERS, withCaller } from "./evidence-window.ts";
import { upperBound } from "./upper-bound.ts";

/** Comparisons without a difference that give a bound `b` are `3 / b`: a half holds four times as many, and old ones leave by halves. */
const COMPARISONS_PER_HALF = 12;
const SMALLEST_HALF = 100;
const LARGEST_HALF = 10_000_000;
/** What is counted for a rule that says nothing of moving on: its bound can be shown. */
const DEFAULT_PROMOTE_SETTINGS: PromoteSettings = { differencesBelow: 0.001, minClients: 1, automatic: false };

export interface PromotionState {
  readonly settings: PromoteSettings;
  /** Distinct clients that must have been compared: what is set, or as many as the rule names. */
  readonly clientsNeeded: number;
  readonly older: PromotionCounts;
  readonly newer: PromotionCounts;
  /** True from `promote` on, whatever comes after; stepping back is `retreat.ts`. */
  readonly promoted: boolean;
}

interface PromotionCounts {
  readonly comparisons: number;
  readonly differences: number;
  /** Who was compared, at most as many as are needed. */
  readonly crowd: DistinctCallers;
}

/** What a bound rests on. */
export interface PromotionEvidence {
  readonly comparisons: number;
  readonly differences: number;
  /** Distinct; at most as many as are needed are counted. */
  readonly clients: number;
  /** Upper bound (95 %) of the share of differing answers; 1 without a comparison. */
  readonly bound: number;
}

const NO_PROMOTION_COUNTS: PromotionCounts = { comparisons: 0, differences: 0, crowd: NO_CALLERS };

/** `settings`: undefined where the rule never moves by itself; `named`: how many clients the rule names, undefined: all. */
export function initialPromotion(settings: PromoteSettings | undefined, named: number | undefined): PromotionState {
  const { minClients } = settings ?? DEFAULT_PROMOTE_SETTINGS;
  return {
    settings: settings ?? DEFAULT_PROMOTE_SETTINGS,
    clientsNeeded: Math.max(1, Math.min(minClients, named ?? minClients)),
    older: NO_PROMOTION_COUNTS,
    newer: NO_PROMOTION_COUNTS,
    promoted: false,
  };
}

/**
 * The state after one more comparison. Old differences age by number, not by time, and not by a run of luck: once the newer
 * half is full, the older one is forgotten. A state belongs to one identity of a rule; a rule that is changed begins afresh.
 */
export function reducePromotion(
  state: PromotionState,
  seen: { readonly who: CallerIdentity; readonly differs: boolean },
): PromotionState {
  const { newer, clientsNeeded } = state;
  const half: PromotionCounts = {
    comparisons: newer.comparisons + 1,
    differences: newer.differences + (seen.differs ? 1 : 0),
    crowd: withCaller(newer.crowd, seen.who, clientsNeeded),
  };
  const full = half.comparisons >= halfOf(state.settings);
  return full ? { ...state, older: half, newer: NO_PROMOTION_COUNTS } : { ...state, newer: half };
}

/** The state of a rule that moves now, for it could, and no operation that it takes holds it back (`operation.ts`). */
export function promote(state: PromotionState): PromotionState {
  return { ...state, promoted: true };
}

/** What has been compared. */
export function evidence({ older, newer }: PromotionState): PromotionEvidence {
  const comparisons = older.comparisons + newer.comparisons;
  const differences = older.differences + newer.differences;
  const clients = countCallers([older.crowd, newer.crowd]);
  return { comparisons, differences, clients, bound: upperBound(differences, comparisons) };
}

/** True when what has been compared is, all operations together, enough for the rule's settings. */
export function canPromote(state: PromotionState): boolean {
  const { differencesBelow } = state.settings;
  const { older, newer } = state;
  // The bound is never below (differences + 2.99) / comparisons: most of the time this is seen without working it out.
  const least = older.differences + newer.differences + 2.99;
  if (least >= differencesBelow * (older.comparisons + newer.comparisons)) return false;
  const { clients, bound } = evidence(state);
  return clients >= state.clientsNeeded && bound < differencesBelow;
}

function halfOf({ differencesBelow }: PromoteSettings): number {
  const wanted = Math.ceil(COMPARISONS_PER_HALF / differencesBelow);
  return Number.isFinite(wanted) ? Math.min(LARGEST_HALF, Math.max(SMALLEST_HALF, wanted)) : LARGEST_HALF;
}

/** Was one operation compared often enough, and well enough, to move with its rule? (Design section 7: promotion.) */

/** So many comparisons say something of an operation, however often it is asked for. */
const ENOUGH = 20;
/** An operation that is asked for less often needs this part of the comparisons that its rule's `sample` lets expect. */
const PART = 0.5;
/** More than this share of its comparisons must not fail, nor differ (or `differencesBelow`, where that is more). */
const TOLERATED = 0.1;
/** Old comparisons leave by halves of so many. */
const OPERATION_HALF = 100;

/**
 * Failures of comparisons that are no reason to doubt the operation: this instance had no room, native was in trouble, the
 * caller was not let in, left or speaks HTTP/1.0, somebody wrote meanwhile. Any other means that it was tried and could not be shown right.
 */
const NEUTRAL_FAILURES: ReadonlySet<string> = new Set([
  "busy",
  "memory",
  "native",
  "aborted",
  "refused",
  "gone",
  "overtaken",
  "overloaded",
  "old-http",
  "closed",
]);

/** What is known of one operation under one rule. */
export interface OperationEvidence {
  /** Requests that native served for it, since the rule is as it is. */
  readonly requests: number;
  readonly older: OperationCounts;
  readonly newer: OperationCounts;
  /** Why a comparison failed last. */
  readonly failure: string | undefined;
}

interface OperationCounts {
  /** Comparisons that came to a verdict, and those of them that differed. */
  readonly compared: number;
  readonly differences: number;
  readonly failures: number;
}

/** What happened: a request that native served, or a comparison; `failure` is one word (`Comparison.failure`). */
export type OperationEvent =
  | { readonly kind: "request" }
  | { readonly kind: "compared"; readonly differs: boolean }
  | { readonly kind: "failed"; readonly failure: string };

/** Why an operation does not move, and the numbers that it rests on. */
export interface PromotionBlocker extends OperationCounts {
  readonly why: "failures" | "differences" | "too-few";
  readonly requests: number;
  /** Comparisons that it needs. */
  readonly needed: number;
  /** Why a comparison failed last. */
  readonly failure: string | undefined;
}

const NO_OPERATION_COUNTS: OperationCounts = { compared: 0, differences: 0, failures: 0 };

export const UNKNOWN_OPERATION: OperationEvidence = {
  requests: 0,
  older: NO_OPERATION_COUNTS,
  newer: NO_OPERATION_COUNTS,
  failure: undefined,
};

/** True for what is told of an operation; a failure that says nothing is not. */
export function isEvidence(event: OperationEvent): boolean {
  return event.kind !== "failed" || !NEUTRAL_FAILURES.has(event.failure);
}

/** The evidence after one more event. An outage is forgotten after two halves at most, as differences are. */
export function reduceOperation(evidence: OperationEvidence, event: OperationEvent): OperationEvidence {
  if (!isEvidence(event)) return evidence;
  if (event.kind === "request") return { ...evidence, requests: evidence.requests + 1 };
  const { newer } = evidence;
  const half: OperationCounts =
    event.kind === "failed"
      ? { ...newer, failures: newer.failures + 1 }
      : { ...newer, compared: newer.compared + 1, differences: newer.differences + (event.differs ? 1 : 0) };
  const failure = event.kind === "failed" ? event.failure : evidence.failure;
  const full = half.compared + half.failures >= OPERATION_HALF;
  return { ...evidence, failure, ...(full ? { older: half, newer: NO_OPERATION_COUNTS } : { newer: half }) };
}

/** What its rule says. */
export interface PromotionTerms {
  /** Share of requests that are compared; 0 to 1. */
  readonly sample: number;
  /** What the rule allows in all. */
  readonly differencesBelow: number;
  /** The rule has moved already: its first request is no sign that an operation is asked for seldom. */
  readonly late: boolean;
}

/** What keeps the operation from moving; undefined: nothing does. */
export function promotionBlocker(
  evidence: OperationEvidence,
  { sample, differencesBelow, late }: PromotionTerms,
): PromotionBlocker | undefined {
  const { requests, older, newer, failure } = evidence;
  const compared = older.compared + newer.compared;
  const differences = older.differences + newer.differences;
  const failures = older.failures + newer.failures;
  // Whatever was asked for only once needs one, too.
  const needed = late ? ENOUGH : Math.min(ENOUGH, Math.max(1, Math.ceil(requests * sample * PART)));
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
