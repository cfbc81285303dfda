/** Who calls, what, and how hard is each client to move? (Design section 8: what ledgers tell each other and reports.) */

/** The ledger of one instance at one time, or of several merged. Times are milliseconds since 1970. */
export interface LedgerSnapshot {
  readonly version: 1;
  /** Random, one per process and file: the same instance is not added to itself. */
  readonly instances: readonly string[];
  readonly since: number;
  /** From when on nothing was missed: later than `since` after a time in which nobody counted. Absent: `since`. */
  readonly watchedSince?: number | undefined;
  readonly at: number;
  /** Requests entered in all, clients that are no longer listed included. */
  readonly requests: VersionCounts;
  /**
   * No client that is missing here made more v1 requests than this; each `over` is at most this. Clients that called v2
   * only may be missing whatever it says: they have the places that callers of v1 leave.
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
  /** As rules name it; hashed where the operator asks for it. */
  readonly name: string;
  /** How metrics name it: a configured name or a keyed hash. */
  readonly label: string;
  /** When its entry was made: it may have called before, v1 when `bound` is not 0, v2 at any rate. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** When it last called v1; undefined: never. */
  readonly lastV1: number | undefined;
  /** v1: too high by `over` at most; too low by `bound` at most, and only when it is 0 or ledgers were merged. v2: since `firstSeen`. */
  readonly requests: VersionCounts;
  /** By how many `requests.v1` may be too high; `requests.v2` never is. */
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
}

/** What makes a client hard to move; all lists bounded and sorted. */
export interface ClientNeeds {
  /** Longest list answered whole, per resource with more records than a v2 page holds. */
  readonly longLists: readonly { readonly resource: string; readonly records: number }[];
  /** Fields that its PUTs left to zero. */
  readonly zeroedFields: readonly { readonly resource: string; readonly field: string }[];
  /** Operations that v2 lacks. */
  readonly lacking: readonly { readonly resource: string; readonly operation: string }[];
  /** Fields that it sends and no row knows. */
  readonly unknownFields: readonly { readonly resource: string; readonly field: string }[];
  /** Operations served natively whose requests nobody looked into: the lists above may lack theirs. */
  readonly unseen: readonly { readonly resource: string; readonly operation: string }[];
}

/** Hardest need of a client, easiest first. */
export const DIFFICULTIES = ["none", "renames", "unknown-fields", "long-lists", "full-replace", "lacking"] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];
