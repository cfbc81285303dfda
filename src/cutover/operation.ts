/** Was one operation compared often enough, and well enough, to move with its rule? (Design section 7: promotion.) */

/** So many comparisons say something of an operation, however often it is asked for. */
const ENOUGH = 20;
/** An operation that is asked for less often needs this part of the comparisons that its rule's `sample` lets expect. */
const PART = 0.5;
/** More than this share of its comparisons must not fail, nor differ (or `differencesBelow`, where that is more). */
const TOLERATED = 0.1;
/** Old comparisons leave by halves of so many. */
const HALF = 100;

/**
 * Failures of comparisons that are no reason to doubt the operation: this instance had no room, native was in trouble, the
 * caller was not let in, left or speaks HTTP/1.0, somebody wrote meanwhile. Any other means that it was tried and could not be shown right.
 */
const SILENT: ReadonlySet<string> = new Set([
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
  readonly older: Half;
  readonly newer: Half;
  /** Why a comparison failed last. */
  readonly failure: string | undefined;
}

interface Half {
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
export interface Hindrance extends Half {
  readonly why: "failures" | "differences" | "too-few";
  readonly requests: number;
  /** Comparisons that it needs. */
  readonly needed: number;
  /** Why a comparison failed last. */
  readonly failure: string | undefined;
}

const NOTHING: Half = { compared: 0, differences: 0, failures: 0 };

export const UNKNOWN_OPERATION: OperationEvidence = { requests: 0, older: NOTHING, newer: NOTHING, failure: undefined };

/** True for what is told of an operation; a failure that says nothing is not. */
export function isTelling(event: OperationEvent): boolean {
  return event.kind !== "failed" || !SILENT.has(event.failure);
}

/** The evidence after one more event. An outage is forgotten after two halves at most, as differences are. */
export function reduce(evidence: OperationEvidence, event: OperationEvent): OperationEvidence {
  if (!isTelling(event)) return evidence;
  if (event.kind === "request") return { ...evidence, requests: evidence.requests + 1 };
  const { newer } = evidence;
  const half: Half =
    event.kind === "failed"
      ? { ...newer, failures: newer.failures + 1 }
      : { ...newer, compared: newer.compared + 1, differences: newer.differences + (event.differs ? 1 : 0) };
  const failure = event.kind === "failed" ? event.failure : evidence.failure;
  const full = half.compared + half.failures >= HALF;
  return { ...evidence, failure, ...(full ? { older: half, newer: NOTHING } : { newer: half }) };
}

/** What its rule says. */
export interface Terms {
  /** Share of requests that are compared; 0 to 1. */
  readonly sample: number;
  /** What the rule allows in all. */
  readonly differencesBelow: number;
  /** The rule has moved already: its first request is no sign that an operation is asked for seldom. */
  readonly late: boolean;
}

/** What keeps the operation from moving; undefined: nothing does. */
export function hindrance(
  evidence: OperationEvidence,
  { sample, differencesBelow, late }: Terms,
): Hindrance | undefined {
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
