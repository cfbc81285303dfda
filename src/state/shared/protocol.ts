/**
 * The protocol between a replica and the store that replicas share. One call, the tick, sends what is new and returns what is new. Each replica
 * owns rows of text and replaces a row as a whole, so a row that arrives twice changes nothing. Readers add up the rows of all replicas. Rows that the store loses
 * are sent again.
 */

/** `text` undefined or empty: the row is removed. */
export interface Row {
  readonly name: string;
  readonly text: string | undefined;
}

/** New rows of one owner. One process writes them at a time. */
export interface Contribution {
  readonly owner: string;
  /** Grows with each tick that has rows. */
  readonly revision: number;
  readonly rows: readonly Row[];
}

/** `back`: a rule stepped back. `promote`: it moves forward for the first time. `forward`: it returned. */
export type DecisionKind = "back" | "promote" | "forward";

/** A decision about a rule as the store keeps it. */
export interface RuleRow {
  readonly key: string;
  /** Grows by one with each decision about the rule. */
  readonly generation: number;
  /** Version of the store with which the row came. */
  readonly version: number;
  readonly what: DecisionKind;
  /** By the clock of the store, milliseconds since 1970. */
  readonly at: number;
  /** Id of the replica that decided. */
  readonly replica: string;
  /** JSON of the replica that decided; the store does not look at it. */
  readonly detail: string;
}

/** The last `carryover force`. */
export interface ForceRow {
  /** Grows by one with each command. The store gives it. */
  readonly number: number;
  readonly version: number;
  /** By the clock of the store, milliseconds since 1970. */
  readonly at: number;
  readonly replica: string;
  /** JSON. */
  readonly detail: string;
}

/**
 * `generation`, `after`: of the row that the replica saw, 0 without one. A step back and `force` apply whatever that is, and outrank it even if the store
 * has lost it.
 */
export type Decision =
  | {
      readonly kind: "rule";
      readonly key: string;
      readonly what: DecisionKind;
      readonly generation: number;
      readonly detail: string;
    }
  | { readonly kind: "force"; readonly after?: number; readonly detail: string }
  /** Brings back a row that the store lost. */
  | { readonly kind: "restore-rule"; readonly row: RuleRow }
  | { readonly kind: "restore-force"; readonly row: ForceRow };

/** `number`: each replica counts its decisions, so that one which arrives twice applies once. */
export type NumberedDecision = Decision & { readonly number: number };

/** `stale`: the rule has another generation by now, or the store has newer. `dup`: it was applied before. */
export type DecisionOutcome = "applied" | "stale" | "dup";

/** The state of a store: another one after each decision, and after every loss. */
export interface StoreMark {
  /** Random, made with the first tick that finds an empty store. */
  readonly id: string;
  readonly version: number;
  /** Random, one for each version: two histories of the store never share it. */
  readonly token: string;
}

/** One replica as the store knows it. */
export interface ReplicaRow {
  readonly id: string;
  /** By the clock of the store, milliseconds since 1970. */
  readonly heardAt: number;
  /** JSON: name, version, digest of the rules, start. */
  readonly about: string;
}

/** One of those that have rows, also if it is gone. */
export interface OwnerRow {
  readonly owner: string;
  /** By the clock of the store, milliseconds since 1970. */
  readonly heardAt: number;
  /** JSON of the replica that wrote last. */
  readonly about: string;
}

export interface TickRequest {
  /** Random, one per process. */
  readonly replica: string;
  /** The store as this replica saw it last; undefined before the first response. */
  readonly seen: StoreMark | undefined;
  readonly about: string;
  /** Without rows a full store takes the tick all the same. */
  readonly contributions: readonly Contribution[];
  readonly decisions: readonly NumberedDecision[];
  readonly wantsReplicas: boolean;
  /** Names of rows to read, of all owners that were heard within 30 days. */
  readonly asks: readonly string[];
  /** Keys that this replica wants the others to look at: each is returned to all of them for a minute. */
  readonly alerts: readonly string[];
}

export interface TickReply {
  /** The store is another one than the replica saw, and nothing was applied. */
  readonly isForeign: boolean;
  /** Of each contribution: the revision that the store had before. Another one than the replica sent last: rows are missing. */
  readonly revisions: readonly number[];
  readonly store: StoreMark;
  /** Milliseconds since 1970 by the clock of the store. */
  readonly at: number;
  /** The store lost decisions that this replica saw: then all rows of rules are here. */
  readonly isDiverged: boolean;
  /** Those that changed since the version that was seen. */
  readonly rules: readonly RuleRow[];
  readonly force: ForceRow | undefined;
  /** In the order of the decisions. */
  readonly outcomes: readonly DecisionOutcome[];
  /** Undefined unless asked for. */
  readonly replicas: readonly ReplicaRow[] | undefined;
  /** In the order of the questions: each owner that has the row. */
  readonly answers: readonly (readonly { readonly owner: string; readonly text: string }[])[];
  /** Of all replicas, within the last minute. */
  readonly alerts: readonly string[];
}

/** A store that replicas share. */
export interface SharedStore {
  /** Rejects with `StoreError` when there is no response; whether the tick arrived is unknown then. */
  tick(request: TickRequest): Promise<TickReply>;
  /** All that have rows. Rejects with `StoreError`. */
  owners(): Promise<readonly OwnerRow[]>;
  /** By name. Rejects with `StoreError`. */
  rowsOf(owner: string): Promise<ReadonlyMap<string, string>>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** `full`: the store has no memory for rows. `unusable`: it responds, and an operator has to do something. `away`: all the rest. */
export class StoreError extends Error {
  readonly kind: "away" | "full" | "unusable";
  constructor(kind: StoreError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
