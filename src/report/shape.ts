/** What does a report say? (The stable shape of `carryover report --json`; docs/report.md.) */
import type { ClientNeeds, Difficulty } from "../model/ledger.ts";
import type { RuleProgress, RuleStateWord } from "../model/progress.ts";
import type { CutoverMode, Rules } from "../model/rules.ts";

/** Times are ISO 8601 in UTC; null: not known, or never. Shares are 0 to 1. */
export interface Report {
  readonly version: 1;
  /** The latest time that an instance told; null when none did. */
  readonly at: string | null;
  /** Every address was heard. */
  readonly complete: boolean;
  readonly instances: readonly InstanceLine[];
  readonly window: {
    /** Beginning of `--since`; null without it. */
    readonly from: string | null;
    /** Since when every instance that was heard has been watching. */
    readonly watchedSince: string | null;
  };
  /** Requests since the instances began. `v1Share`: null when there was none. */
  readonly requests: { readonly v1: number; readonly v2: number; readonly v1Share: number | null };
  readonly resources: readonly ResourceLine[];
  readonly ledger: {
    readonly since: string | null;
    readonly v1: number;
    readonly v2: number;
    /** Each client's v1 count may be too high by so much, and a client that is not listed made at most so many v1 requests. */
    readonly bound: number;
  };
  /** Those on v1 first, most v1 requests first. */
  readonly clients: readonly ClientLine[];
  readonly bounds: readonly BoundLine[];
  readonly rules: readonly RuleLine[];
  /** What would break if carryover were removed now. */
  readonly breaks: readonly BreakLine[];
  readonly v1Left: "yes" | "no" | "unknown";
  /** Why `v1Left` is what it is, one sentence. */
  readonly why: string;
}

export interface InstanceLine {
  readonly address: string;
  /** Why nothing was heard; null when something was, and of the rest all members are null otherwise. */
  readonly fault: string | null;
  readonly instance: string | null;
  readonly since: string | null;
  readonly at: string | null;
  readonly mode: CutoverMode | null;
  readonly force: Rules["force"] | null;
  readonly lastReloadSuccessful: boolean | null;
  /** The address before it that is the same instance, counted once. */
  readonly sameAs: string | null;
  /** The address before it whose ledger began from the same file (`clients.file`): what that held is counted for both. */
  readonly sharesLedgerWith: string | null;
  /** Seconds by which its clock is behind the latest one, by which all times but those of this line are told. */
  readonly clockBehind: number | null;
}

export interface ResourceLine {
  readonly resource: string;
  readonly v1: number;
  readonly v2: number;
  readonly v1Share: number;
  /** How v1 was served. */
  readonly native: number;
  readonly shadow: number;
  readonly translate: number;
  readonly refused: number;
  readonly lastV1: string | null;
}

export interface ClientLine {
  readonly name: string;
  readonly label: string;
  /** It called v1 in the window. */
  readonly onV1: boolean;
  readonly v1: number;
  readonly v2: number;
  /** By how many `v1` may be too high. */
  readonly over: number;
  readonly difficulty: Difficulty;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly lastV1: string | null;
  readonly operations: readonly { readonly resource: string; readonly operation: string; readonly requests: number }[];
  readonly needs: ClientNeeds;
}

export interface BoundLine {
  readonly resource: string;
  readonly operation: string;
  /** Null: all clients. */
  readonly client: string | null;
  readonly comparisons: number;
  readonly differences: number;
  /** At most this share of answers differs (95 %). */
  readonly upper: number;
}

export interface RuleLine {
  readonly name: string;
  readonly mode: CutoverMode;
  readonly doing: RuleProgress["doing"];
  readonly state: RuleStateWord;
  readonly since: string | null;
  readonly detail: string;
  /** Addresses of the instances on which it is so. */
  readonly on: readonly string[];
}

/** Hardest first. */
export const BREAKS = [
  "lacking",
  "native",
  "full-replace",
  "long-list",
  "unknown-field",
  "unseen",
  "operation",
] as const;

/** One thing that would break. Members that say nothing of its kind are null. */
export interface BreakLine {
  /**
   * `lacking`: an operation that v2 does not have; `native`: one that native v1 serves at present; `full-replace`: a field that
   * PUTs zero by leaving it out; `long-list`: a list longer than a v2 page; `unknown-field`: a field that v2 refuses;
   * `unseen`: requests nobody looked into; `operation`: any v1 call.
   */
  readonly kind: (typeof BREAKS)[number];
  readonly resource: string;
  readonly operation: string | null;
  readonly field: string | null;
  /** Records of the longest such list. */
  readonly records: number | null;
  readonly requests: number | null;
  readonly clients: readonly string[];
}
