/** What came out when an answer was compared with the other version's? (Design section 7: shadow.) */

/** Worst first. `order`: the same records in another order, reported and never held against the translation. */
export const DIFFERENCE_CLASSES = ["status", "error", "missing", "extra", "value", "presence", "order"] as const;
export type DifferenceClass = (typeof DIFFERENCE_CLASSES)[number];

/** `noise`: only what native also has against itself; `failed`: there was no answer to compare (the platform, a limit). */
export type ComparisonResult = "equal" | DifferenceClass | "noise" | "failed";

/** One place where two answers differ. */
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

/** Two answers beside each other. */
export interface ComparedResponses {
  /** The worst class of all differences. */
  readonly result: Exclude<ComparisonResult, "failed">;
  /** How many places differ in all, noise included. */
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
  /** Name of the rule that asked for it; undefined: `cutover.mode`. */
  readonly rule: string | undefined;
  /** Its identity: a rule that is changed keeps its name. */
  readonly ruleId?: string | undefined;
  /** Who answered the client: `shadow` native, `translate` carryover. */
  readonly served: "shadow" | "translate";
  readonly kind: "read" | "write";
  readonly result: ComparisonResult;
  readonly total: number;
  readonly differences: readonly Difference[];
  /** Why there was nothing to compare, one word: `timeout`, `too-large`, `unreachable`, `not-comparable`. */
  readonly failure: string | undefined;
  /** True when native was asked a second time. */
  readonly controlled: boolean;
  readonly ms: number;
  /** Calls made for it, beside those of the request itself. */
  readonly calls: { readonly v1: number; readonly v2: number };
}

/** True when the result speaks against the translation. */
export function isDifference(result: ComparisonResult): boolean {
  return result !== "equal" && result !== "order" && result !== "noise" && result !== "failed";
}

/** True when the result counts as a comparison. */
export function isConclusive(result: ComparisonResult): boolean {
  return result !== "failed";
}
