/** The result of comparing the responses of both versions to one request. */

/** Worst first. `order`: the same records in another order, which does not count as a difference. */
export const DIFFERENCE_CLASSES = ["status", "error", "missing", "extra", "value", "presence", "order"] as const;
export type DifferenceClass = (typeof DIFFERENCE_CLASSES)[number];

/** `noise`: two responses of native differ in the same way; `failed`: there was nothing to compare. */
export type ComparisonResult = "equal" | DifferenceClass | "noise" | "failed";

/** A path at which two responses differ. */
export interface Difference {
  readonly class: DifferenceClass;
  /** v1 path without positions: `items[].name`, `status`, `code`. User-keyed maps end in `.*`. */
  readonly path: string;
  /** The record's id, where it is one of several. */
  readonly id: string | undefined;
  /** JSON text of each side, undefined where it is absent; shortened to 200 characters. */
  readonly native: string | undefined;
  readonly translated: string | undefined;
}

export interface ComparedResponses {
  /** The worst class of all differences. */
  readonly result: Exclude<ComparisonResult, "failed">;
  /** How many differences there are in all, noise included. */
  readonly total: number;
  /** The first of them, worst first; at most 20, one per class and path. */
  readonly differences: readonly Difference[];
}

/**
 * Why there was nothing to compare. `refused` keeps strangers out of the evidence: anybody can send a thousand requests that
 * are refused before a token is looked at, and their equal responses would prove nothing of the translation.
 */
export const COMPARISON_FAILURES = [
  /** No place in time. */
  "busy",
  /** No memory for the responses. */
  "memory",
  /** A response is longer than those that are compared. */
  "too-large",
  "timeout",
  /** Native's own trouble: an outage, a rate limit, a body that is no JSON. */
  "native",
  /** The same for v2. */
  "platform",
  /** No response. */
  "unreachable",
  /** A limit of carryover's own. */
  "overloaded",
  /** The Content-Encoding cannot be decoded. */
  "unreadable",
  /** Only executing the request would tell, or a record has too many members. */
  "not-comparable",
  /** The written record does not exist any more. */
  "gone",
  /** The record was written again meanwhile. */
  "overtaken",
  /** Neither version let the caller in. */
  "refused",
  /** Only because the client speaks HTTP/1.0 it would not get the translated list. */
  "old-http",
  /** A fault of the comparison itself. */
  "internal",
  /** carryover is shutting down. */
  "closed",
] as const;
export type ComparisonFailure = (typeof COMPARISON_FAILURES)[number];

/** Why a sampled request was not compared: its response says nothing, or there was no place. */
export const SKIP_REASONS = ["aborted", "busy", "unauthenticated", "status"] as const;

/** A finished comparison. */
export interface Comparison {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly resource: string;
  readonly operation: string;
  readonly client: string;
  /** Name of the rule that asked for the comparison; undefined: `cutover.mode`. */
  readonly rule: string | undefined;
  /** Its `evidenceKey`: a rule that is about other requests now may keep its name. */
  readonly ruleId?: string | undefined;
  /** A digest of method, target and body: the same for the same request. Undefined: nothing was compared. */
  readonly request?: string | undefined;
  /** Which response the client got: `shadow` native's, `translate` the translated one. */
  readonly served: "shadow" | "translate";
  readonly kind: "read" | "write";
  readonly result: ComparisonResult;
  readonly total: number;
  readonly differences: readonly Difference[];
  /** Set exactly when `result` is `failed`. */
  readonly failure: ComparisonFailure | undefined;
  /** True when native was requested a second time. */
  readonly controlled: boolean;
  readonly ms: number;
  /** Calls made for the comparison, without those of the request itself. */
  readonly calls: { readonly v1: number; readonly v2: number };
}

/** True when the result is evidence against the translation. */
export function isDifference(result: ComparisonResult): boolean {
  return result !== "equal" && result !== "order" && result !== "noise" && result !== "failed";
}

/** True if the result counts as a comparison. */
export function isConclusive(result: ComparisonResult): boolean {
  return result !== "failed";
}
