/** What ledgers exchange with each other and with reports: who calls what, and how hard each client is to move. */

import { FAULT_ORIGINS, type FaultOrigin } from "./problem.ts";

/** The ledger of one instance at one time, or of several merged. Times are milliseconds since 1970. */
export interface LedgerSnapshot {
  readonly version: 1;
  /** Random, one per process and file, so that no instance is added to itself. */
  readonly instances: readonly string[];
  readonly since: number;
  /** Since when nothing was missed: later than `since` after an interruption. Absent: `since`. */
  readonly watchedSince?: number | undefined;
  readonly at: number;
  /** All requests, including those of clients that are no longer listed. */
  readonly requests: VersionCounts;
  /**
   * No client that is missing here made more v1 requests than this; each `over` is at most this. Clients that called v2
   * only may be missing in any case: they get the entries that callers of v1 leave.
   */
  readonly bound: number;
  /** Most v1 requests first, then most v2 requests. */
  readonly clients: readonly ClientEntry[];
}

export interface VersionCounts {
  readonly v1: number;
  readonly v2: number;
}

export interface ClientEntry {
  /** As rules name it; hashed if the operator asks for that. */
  readonly name: string;
  /** Its name in metrics: a configured name or a keyed hash. */
  readonly label: string;
  /** When the entry was made. It may have called v2 before, and v1 unless `bound` is 0. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** When it last called v1; undefined: never. */
  readonly lastV1: number | undefined;
  /** v1: too high by `over` at most, too low by `bound` at most, and only if it is 0 or ledgers were merged. v2: since `firstSeen`. */
  readonly requests: VersionCounts;
  /** By how much `requests.v1` may be too high. */
  readonly over: number;
  /** v1 operations, most requests first; bounded, the rest under `other`. */
  readonly operations: readonly ClientOperation[];
  readonly needs: ClientNeeds;
}

export interface ClientOperation {
  readonly resource: string;
  readonly operation: string;
  readonly requests: number;
  readonly lastSeen: number;
  /** Those of the requests that failed, by who was at fault (`faultOf`); absent where none did, or nothing is known. */
  readonly errors?: OperationErrors | undefined;
}

/** Counts above 0 only. */
export type OperationErrors = Readonly<Partial<Record<FaultOrigin, number>>>;

/** How many requests failed, whoever was at fault. */
export function countErrors(errors: OperationErrors = {}): number {
  return FAULT_ORIGINS.reduce((sum, fault) => sum + (errors[fault] ?? 0), 0);
}

/** The sum of `all`; undefined where there is no error. */
export function addErrors(all: readonly (OperationErrors | undefined)[]): OperationErrors | undefined {
  const sums = FAULT_ORIGINS.map((fault) => [fault, all.reduce((sum, one) => sum + (one?.[fault] ?? 0), 0)] as const);
  const counted = sums.filter(([, count]) => count > 0);
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}

/** What makes a client hard to move; all lists are bounded and sorted. */
export interface ClientNeeds {
  /** The longest list per resource, if it had more records than a v2 page. */
  readonly longLists: readonly { readonly resource: string; readonly records: number }[];
  /** Fields that its PUTs set to zero by leaving them out. */
  readonly zeroedFields: readonly { readonly resource: string; readonly field: string }[];
  /** Operations that v2 lacks. */
  readonly lacking: readonly { readonly resource: string; readonly operation: string }[];
  /** Fields that it sends and the catalogue does not know. */
  readonly unknownFields: readonly { readonly resource: string; readonly field: string }[];
  /** Operations whose content carryover never saw, because native v1 served them. Their needs may be missing above. */
  readonly unseen: readonly { readonly resource: string; readonly operation: string }[];
}

/**
 * The hardest need of a client, easiest first. `unknown`: nobody looked into some of its requests, so it may be anything below
 * and `full-replace`.
 */
export const DIFFICULTIES = [
  "none",
  "renames",
  "unknown-fields",
  "long-lists",
  "unknown",
  "full-replace",
  "lacking",
] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];
