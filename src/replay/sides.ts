/** The requests of a replay, and the two versions that it asks. */
import type { Problem } from "../model/problem.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Signal } from "../model/signal.ts";
import type { PairedComparison } from "../shadow/paired.ts";

/** How a replay treats a recorded request. `write`: goes to the platform for writes. `refused`: carryover does not know what it asks for, and native v1 may. */
export type ReplayKind =
  | { readonly kind: "read" | "write"; readonly match: OperationMatch }
  | { readonly kind: "refused"; readonly problem: Problem }
  /** `why`: the same words for the same cause. */
  | { readonly kind: "skip"; readonly why: string };

export interface ReplayedRequest {
  readonly kind: Exclude<ReplayKind, { readonly kind: "skip" }>;
  readonly method: string;
  readonly target: string;
  readonly token: string | undefined;
  /** Of a write. */
  readonly body?: string | undefined;
}

/** Both versions of the platform. */
export interface ReplaySides {
  kindOf(method: string, target: string): ReplayKind;
  /** One attempt. Rejects with ComparisonError where there is nothing to compare, and with the signal's reason. */
  compare(request: ReplayedRequest, signal: Signal): Promise<PairedComparison>;
  /** The status of native v1's response to a GET. Rejects as `compare` does. */
  native(target: string, token: string | undefined, signal: Signal): Promise<number>;
  close(): Promise<void>;
}
