/** The shape of a report on the migration (docs/report.md). */
import type { ClientNeeds, Difficulty, OperationErrors } from "../ledger/entry.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Rules } from "../rules/rule.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import type { BreakLine } from "./breaks.ts";
import type { BrownoutLine } from "./brownouts.ts";
import type { Change } from "./change.ts";
import type { MergedRule } from "./merge.ts";
import type { Standing } from "./standing.ts";
import type { V1Verdict } from "./verdict.ts";

/** The next step, without a full stop, and what to write for it. */
export interface NamedNext {
  readonly next: string;
  readonly change: Change | null;
}

/** The output of `--json`. Times are ISO 8601 in UTC; null: unknown, or never. Shares are 0 to 1. */
export interface MigrationReport extends V1Verdict {
  readonly version: 1;
  /** The latest time of an instance; null if none responded. */
  readonly at: string | null;
  /** Every address responded. */
  readonly complete: boolean;
  /** Where the migration stands, and the next step; null if no instance responded. */
  readonly standing: (Standing & NamedNext) | null;
  /** What the report was narrowed to; null: nothing. */
  readonly scope: { readonly resource: string | null; readonly client: string | null };
  readonly instances: readonly InstanceLine[];
  /** Replicas whose counts their store has lost: `seen` there last, and may have counted `until` then. */
  readonly lost: readonly { readonly name: string; readonly seen: string; readonly until: string }[];
  readonly window: WindowLine;
  readonly requests: RequestLine;
  readonly resources: readonly ResourceLine[];
  /** The same since `window.countsSince`, whatever the window. */
  readonly allTime: {
    readonly requests: RequestLine;
    readonly resources: readonly ResourceLine[];
    /** As in `standing`. */
    readonly translatedShare: number | null;
    readonly served: number | null;
  };
  readonly ledger: {
    readonly since: string | null;
    readonly v1: number;
    readonly v2: number;
    /** By how much each client's v1 count may be too high, and the most v1 requests of a client that is not listed. */
    readonly bound: number;
  };
  /** Those on v1 first, most v1 requests first. */
  readonly clients: readonly ClientLine[];
  /** Since when `bounds` are counted; null if no instance responded. */
  readonly comparedSince: string | null;
  readonly bounds: readonly BoundLine[];
  readonly rules: readonly RuleLine[];
  /** Clients that the last brownout of each refused, whatever the window; by owner. */
  readonly brownouts: readonly BrownoutLine[];
  /** What would break if carryover were removed now. */
  readonly breaks: readonly BreakLine[];
}

/** What the numbers of the report are about, unless their name says another time. */
export interface WindowLine {
  /** What was asked for: null without a beginning or an end. What was not called in it is left out. */
  readonly from: string | null;
  readonly to: string | null;
  /** `in the last 24 h`; null if no instance responded. */
  readonly says: string | null;
  /** `counted for 2 h only`; null if all of it was counted, or if that is unknown. */
  readonly limits: string | null;
  /** The time whose requests were summed, in whole buckets; `since`: when all instances counted. Null for all times, and if it is unknown. */
  readonly counted: { readonly from: string; readonly to: string; readonly since: string } | null;
  /** Addresses that cannot tell the requests of a window, since their release is older. With any, these are unknown. */
  readonly tooOld: readonly string[];
  /** Requests by kind; null: unknown. */
  readonly rows: readonly WindowRow[] | null;
  /** The UTC days over which requests of clients are summed, both included; null for all times. */
  readonly clientDays: { readonly from: string; readonly to: string; readonly says: string } | null;
  /** Since when every instance that responded has been watching. */
  readonly watchedSince: string | null;
  /** Since when all requests are counted: the earliest of `countsSince` of the instances. */
  readonly countsSince: string | null;
}

interface WindowRow extends Omit<RequestTotalsRow, "lastSeen"> {
  readonly lastSeen: string;
}

/** Null: unknown. `v1Share`: null without any request, too. */
export interface RequestLine {
  readonly v1: number | null;
  readonly v2: number | null;
  readonly v1Share: number | null;
}

export interface InstanceLine {
  readonly address: string;
  /** Why there was no usable response; null if there was one. Unless it is null, all members but the address are null. */
  readonly fault: string | null;
  readonly instance: string | null;
  /** When the process started. */
  readonly since: string | null;
  /** Since when its requests count, in this report. */
  readonly countsSince: string | null;
  readonly at: string | null;
  readonly mode: CutoverMode | null;
  readonly force: Rules["force"] | null;
  readonly lastReloadSuccessful: boolean | null;
  /** An earlier address of the same instance, which counts once. */
  readonly sameAs: string | null;
  /** An earlier address whose ledger started from the same file (`state.dir`): what that held counts for both. */
  readonly sharesLedgerWith: string | null;
  /** Seconds by which its clock is behind the latest one, which all times outside of this line follow. */
  readonly clockBehind: number | null;
  /** When it was heard last, by the store that it shared; null: it is there. Then the address is its name. */
  readonly goneSince: string | null;
}

/** All but `v1` is null where the ledger alone is counted, and `v1` is null as well in a window of some clients. */
export interface ResourceLine {
  readonly resource: string;
  readonly v1: number | null;
  readonly v2: number | null;
  readonly v1Share: number | null;
  /** How v1 was served. */
  readonly native: number | null;
  readonly shadow: number | null;
  readonly translate: number | null;
  readonly refused: number | null;
  readonly lastV1: string | null;
}

export interface ClientLine {
  readonly name: string;
  readonly label: string;
  /** Who answers for it, and how to reach them (`clients.names`); null where that is not known. */
  readonly owner: string | null;
  readonly contact: string | null;
  /** It called v1 in the window. */
  readonly onV1: boolean;
  /** On the UTC days that the window touches (`window.clientDays`). Null if unknown: before these counts, and by resource. */
  readonly v1: number | null;
  readonly v2: number | null;
  /** Since `ledger.since`. `v2` is null in the report of one resource: the ledger does not tell v2 requests by resource. */
  readonly allTime: { readonly v1: number; readonly v2: number | null };
  /** By how many `allTime.v1` may be too high. */
  readonly over: number;
  readonly difficulty: Difficulty;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly lastV1: string | null;
  /** Those called in the window, with their counts since `ledger.since`. */
  readonly operations: readonly {
    readonly resource: string;
    readonly operation: string;
    readonly requests: number;
    /** Those that failed, by who was at fault. */
    readonly errors: Readonly<Record<keyof OperationErrors, number>>;
  }[];
  readonly needs: ClientNeeds;
}

export interface BoundLine {
  readonly resource: string;
  readonly operation: string;
  /** Null: all clients. */
  readonly client: string | null;
  readonly comparisons: number;
  readonly differences: number;
  /** Upper bound (95 %) of the share of responses that differ. */
  readonly upper: number;
}

export interface RuleLine extends Omit<MergedRule, "since" | "age"> {
  readonly since: string | null;
}
