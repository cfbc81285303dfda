/** The progress of the migration as one instance sees it: what `GET /progress` tells a report. */
import type { LedgerSnapshot } from "./ledger.ts";
import type { CutoverMode, Force, ForceState } from "./rules.ts";

/** Version of this format. A reader refuses any other. */
export const PROGRESS_VERSION = 1;

/** Times are milliseconds since 1970. */
export interface Progress {
  readonly version: typeof PROGRESS_VERSION;
  /** Random, one per process: an instance behind two addresses counts once. */
  readonly instance: string;
  /** When the process started to count. */
  readonly since: number;
  readonly at: number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  /** What overrides every rule now. */
  readonly force: Force;
  /** Who says so. Absent, like all that may be absent here: the instance is older than this member. */
  readonly forcedBy?: ForceState | undefined;
  /** Digest of the rules in force; absent without a rules file, too. */
  readonly digest?: string | undefined;
  /** False: the rules file is bad, and older rules are in force. */
  readonly lastReloadSuccessful: boolean;
  /** False: what outlives a restart cannot be written now. */
  readonly saved?: boolean | undefined;
  /** False: `carryover force` and `confirm` find no token in state.dir. Absent where they need none there. */
  readonly changeable?: boolean | undefined;
  /** As `/readyz` says. */
  readonly ready?: boolean | undefined;
  /** When what was counted before was lost, because it could not be read. */
  readonly countsLostAt?: number | undefined;
  /** Upstreams that do not respond: calls to them fail at once. */
  readonly openBreakers?: readonly string[] | undefined;
  readonly totals: RequestTotals;
  readonly ledger: LedgerSnapshot;
  /** One per operation, and one per operation and client. */
  readonly bounds: readonly DifferenceBound[];
  /** In the order of the file. */
  readonly rules: readonly RuleProgress[];
}

export interface RequestTotals {
  readonly since: number;
  readonly at: number;
  readonly rows: readonly RequestTotalsRow[];
}

/** Requests of one kind, with the labels of metrics. */
export interface RequestTotalsRow {
  readonly apiVersion: string;
  readonly resource: string;
  readonly operation: string;
  readonly mode: string;
  /** `2xx`, …; `none`: there was no response. */
  readonly codes: string;
  readonly requests: number;
  readonly lastSeen: number;
}

/** The evidence of comparisons for one operation. */
export interface DifferenceBound {
  readonly resource: string;
  readonly operation: string;
  /** Undefined: of all clients. */
  readonly client: string | undefined;
  readonly comparisons: number;
  readonly differences: number;
  /** Upper bound (95 %) of the share of responses that differ, 0 to 1. */
  readonly upper: number;
}

/** The state of a rule. */
export interface RuleProgress {
  readonly name: string;
  /** As the file says. */
  readonly mode: CutoverMode;
  /** `nothing`: it has expired. */
  readonly doing: CutoverMode | "nothing";
  readonly state: RuleStateName;
  /** Its saved state cannot be read, and it was not confirmed that it may go on. Then `state` is `stepped-back`, for older commands. */
  readonly unknown?: boolean | undefined;
  /** Since when; undefined if unknown. */
  readonly since: number | undefined;
  /** One sentence for people: why, and what would change it; may be empty. */
  readonly detail: string;
  readonly evidence?: RuleEvidence | undefined;
}

/** Whom a rule is for, and what is known that decides whether it may go further. */
export interface RuleEvidence
  extends Pick<
    RuleStatus,
    | "requests"
    | "failures"
    | "comparisons"
    | "differences"
    | "bound"
    | "risk"
    | "clients"
    | "clientsNeeded"
    | "heldBack"
    | "stepBacks"
  > {
  /** For people: `reads of group, client ci-bot`. */
  readonly whom: string;
  /** Of those, the share of clients that the rule takes: 0 to 100; undefined: all. */
  readonly percent: number | undefined;
  /** Thresholds of the rule, 0 to 1: of `promoteWhen`, else of `stepBack`; undefined: it has none. */
  readonly differencesBelow: number | undefined;
  readonly failuresBelow: number | undefined;
}

/** One rule at one time, for metrics and reports. */
export interface RuleStatus {
  readonly name: string;
  /** As the file says. */
  readonly mode: CutoverMode;
  /**
   * As it is, `force` included; while the rule returns, for those of its clients that are translated; `nothing` when it has
   * expired, since it matches no request then.
   */
  readonly effective: CutoverMode | "nothing";
  readonly state: "forward" | "back" | "returning" | "unknown";
  /** While it returns: the share of its clients that are translated, 0.1 to 1. */
  readonly step: number | undefined;
  /** Milliseconds since 1970 of the last change of mode or state. */
  readonly since: number;
  /** Translated requests that count as evidence, and those that failed because of the translation, since the rule changed. */
  readonly requests: number;
  readonly failures: number;
  /** The latest ones, on which the bound rests. */
  readonly comparisons: number;
  readonly differences: number;
  /** Upper bound (95 %) of the share of differing responses; 1 without a comparison. */
  readonly bound: number;
  /** The chance that `bound` is wrong: it shrinks when old comparisons are forgotten. */
  readonly risk: number;
  /** Distinct clients that were compared, counted up to those that are needed. */
  readonly clients: number;
  readonly clientsNeeded: number;
  /** It may become `translate` by its `promoteWhen`, and has not. */
  readonly couldMove: boolean;
  /** Operations that keep a shadow rule from translating, or that were not promoted with it, and why: a sentence each, at most eleven. */
  readonly heldBack: readonly string[];
  readonly promoted: boolean;
  readonly stepBacks: number;
  readonly expired: boolean;
}

export const RULE_STATES = ["as-written", "stepped-back", "returning", "could-move", "promoted", "expired"] as const;
export type RuleStateName = (typeof RULE_STATES)[number];
