/**
 * The protocol between a replica and the store that replicas share. One call, the tick, sends everything and returns everything. Counts travel as
 * numbered batches of increments: a batch that arrives twice counts once, and a batch that the store lost is noticed by its number.
 */

/** `add` sums; `min` and `max` keep the extreme; `put` replaces the value of this replica. */
export type IncrementOperation = "add" | "min" | "max" | "put";

/** One change of one number. `value` is an integer, so that the order of increments does not matter. */
export interface Increment {
  /** The subject of the count, such as a rule. */
  readonly key: string;
  readonly field: string;
  readonly operation: IncrementOperation;
  readonly value: number;
}

/** The content of a number never changes, so a batch may be sent any number of times. */
export interface Batch {
  readonly sequence: number;
  /** Replaces everything that the store has of this replica. */
  readonly isReset: boolean;
  readonly increments: readonly Increment[];
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

/** `generation`: the one that the replica saw, 0 without a row. Only a step back applies whatever it is. */
export type Decision =
  | {
      readonly kind: "rule";
      readonly key: string;
      readonly what: DecisionKind;
      readonly generation: number;
      readonly detail: string;
    }
  | { readonly kind: "force"; readonly detail: string }
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

/** One number, summed over all replicas. */
export interface SumQuestion {
  readonly key: string;
  readonly field: string;
  readonly operation: IncrementOperation;
}

export interface TickRequest {
  /** Random, one per process. */
  readonly replica: string;
  /** The store as this replica saw it last; undefined before the first response. */
  readonly seen: StoreMark | undefined;
  readonly about: string;
  /** The highest number that was acknowledged. */
  readonly acknowledged: number;
  /** Undefined: the tick has only decisions and asks, and a full store takes it all the same. */
  readonly batch: Batch | undefined;
  readonly decisions: readonly NumberedDecision[];
  readonly wantsReplicas: boolean;
  /** The process ends after this tick: its counts join those of all replicas that are gone. */
  readonly isLast: boolean;
  readonly sums: readonly SumQuestion[];
}

/** `gap`: an earlier batch is missing, and nothing was counted. `foreign`: the store is another one than the replica saw, and nothing was applied. */
export type TickStatus = "ok" | "dup" | "gap" | "foreign";

export interface TickReply {
  readonly status: TickStatus;
  /** The highest number that the store has of this replica. */
  readonly last: number;
  readonly store: StoreMark;
  /** Milliseconds since 1970 by the clock of the store. */
  readonly at: number;
  /** The store lost decisions that this replica saw: then all rows are here. */
  readonly isDiverged: boolean;
  /** Those that changed since the version that was seen. */
  readonly rules: readonly RuleRow[];
  readonly force: ForceRow | undefined;
  /** In the order of the decisions. */
  readonly outcomes: readonly DecisionOutcome[];
  /** Undefined unless asked for. */
  readonly replicas: readonly ReplicaRow[] | undefined;
  /** In the order of the questions. Undefined where nothing was counted. */
  readonly sums: readonly (number | undefined)[];
}

/** A store that replicas share. */
export interface SharedStore {
  /** Rejects with `StoreError` when there is no response; whether the tick arrived is unknown then. */
  tick(request: TickRequest): Promise<TickReply>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** `full`: the store has no memory for counts. `unusable`: it responds, and an operator has to do something. `away`: all the rest. */
export class StoreError extends Error {
  readonly kind: "away" | "full" | "unusable";
  constructor(kind: StoreError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
