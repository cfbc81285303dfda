/** The rules that say what serves a v1 request: valid, complete, frozen. */
import type { Force, RuleSettings } from "../model/rules.ts";

/** A valid rules file. */
export interface Rules {
  /** Overrides every rule and `cutover.mode` from the next request on. */
  readonly force: Force;
  /** Overrides the option `fallback`. */
  readonly fallback: "native" | "refuse" | undefined;
  /** In order: the first that matches decides. */
  readonly rules: readonly Rule[];
  /** Digest of the file's bytes, to tell files apart: 12 hexadecimal digits. */
  readonly digest: string;
}

export interface Rule extends RuleSettings {
  readonly match: RuleMatch;
}

/** All conditions must hold; of header, cookie and percent the first that decides counts, as in ingress controllers. */
export interface RuleMatch {
  /** Catalogue names; undefined: all. */
  readonly resources: ReadonlySet<string> | undefined;
  /** Catalogue names of operations, and the groups `reads` and `writes`; undefined: all. */
  readonly operations: ReadonlySet<string> | undefined;
  /** Names as the ledger has them; undefined: all. */
  readonly clients: ReadonlySet<string> | undefined;
  readonly time: TimeWindow | undefined;
  /** Lower-case name and the value that selects; `never` deselects, any other value leaves the decision to the next. */
  readonly header: CanarySelector | undefined;
  readonly cookie: CanarySelector | undefined;
  /** 0 to 100: share of clients, sticky. */
  readonly percent: number | undefined;
}

/** Matches every request. */
export const EVERY_REQUEST: RuleMatch = {
  resources: undefined,
  operations: undefined,
  clients: undefined,
  time: undefined,
  header: undefined,
  cookie: undefined,
  percent: undefined,
};

export interface CanarySelector {
  readonly name: string;
  readonly value: string;
}

/** Instants are milliseconds since 1970; hours and days are UTC. */
export interface TimeWindow {
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** 0 is Sunday; of a window over midnight, the day on which it starts. */
  readonly days: ReadonlySet<number> | undefined;
  /** Minutes of the day; `end` below `begin` runs over midnight. */
  readonly hours: { readonly begin: number; readonly end: number } | undefined;
}
