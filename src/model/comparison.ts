/** The outcome of comparing a response with that of the other version. */

/** Worst first. `order`: the same records in another order, which is reported but does not count against the translation. */
export const DIFFERENCE_CLASSES = ["status", "error", "missing", "extra", "value", "presence", "order"] as const;
export type DifferenceClass = (typeof DIFFERENCE_CLASSES)[number];

/** `noise`: only differences that native also has with itself; `failed`: there was no response to compare. */
export type ComparisonResult = "equal" | DifferenceClass | "noise" | "failed";

/** One difference between two responses. */
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

/** Two responses compared. */
export interface ComparedResponses {
  /** The worst class of all differences. */
  readonly result: Exclude<ComparisonResult, "failed">;
  /** The number of all differences, noise included. */
  readonly total: number;
  /** The first of them, worst first; at most 20, one per class and path. */
  readonly differences: readonly Difference[];
}

/** One comparison that is over. */
export interface Comparison {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly resource: string;
  readonly operation: string;
  readonly client: string;
  /** Name of the rule that asked for the comparison; undefined: `cutover.mode`. */
  readonly rule: string | undefined;
  /** The identity of that rule: unlike its name, it changes with the rule. */
  readonly ruleId?: string | undefined;
  /** What served the client: native (`shadow`) or carryover (`translate`). */
  readonly served: "shadow" | "translate";
  readonly kind: "read" | "write";
  readonly result: ComparisonResult;
  readonly total: number;
  readonly differences: readonly Difference[];
  /** Why there was nothing to compare, one word: `timeout`, `too-large`, `unreachable`, `not-comparable`. */
  readonly failure: string | undefined;
  /** True if native was asked twice. */
  readonly controlled: boolean;
  readonly ms: number;
  /** Calls made for the comparison, without those of the request itself. */
  readonly calls: { readonly v1: number; readonly v2: number };
}

/** True if the result counts against the translation. */
export function isDifference(result: ComparisonResult): boolean {
  return result !== "equal" && result !== "order" && result !== "noise" && result !== "failed";
}

/** True if the result counts as a comparison. */
export function isConclusive(result: ComparisonResult): boolean {
  return result !== "failed";
}
