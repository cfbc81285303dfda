/** The rules that say what serves a v1 request: valid, complete, frozen. */

/** What serves a v1 request that v2 could serve too. */
export type CutoverMode = "native" | "shadow" | "translate";

/** A rules file that was read and found right. */
export interface Rules {
  /** Overrides every rule and `cutover.mode` from the next request on. */
  readonly force: "none" | "native" | "translate";
  /** Overrides the option `fallback`. */
  readonly fallback: "native" | "refuse" | undefined;
  /** In order: the first that matches decides. */
  readonly rules: readonly Rule[];
  /** Digest of the file's bytes, for people to tell files apart: 12 hexadecimal digits. */
  readonly digest: string;
}

export interface Rule {
  /** Unique in its file; a label in metrics: `[a-z0-9-]`, at most 63 characters. */
  readonly name: string;
  /** Line in the file, from 1. */
  readonly line: number;
  readonly match: RuleMatch;
  readonly mode: CutoverMode;
  /** Milliseconds since 1970 from which on it matches nothing. */
  readonly expires: number | undefined;
  readonly shadow: ShadowSettings;
  readonly stepBack: StepBackSettings | undefined;
  readonly promoteWhen: PromoteSettings | undefined;
  readonly headers: RuleHeaders | undefined;
  /** Changes with whatever is said of the rule: what was learnt about it before (a step back) is forgotten then. */
  readonly identity: string;
}

/** All that are given must hold; of header, cookie and percent the first that decides does, as in ingress controllers. */
export interface RuleMatch {
  /** Catalogue names; undefined: all. */
  readonly resources: ReadonlySet<string> | undefined;
  /** Catalogue names of operations, and the groups `reads` and `writes`; undefined: all. */
  readonly operations: ReadonlySet<string> | undefined;
  /** Names as the ledger has them; undefined: all. */
  readonly clients: ReadonlySet<string> | undefined;
  readonly time: TimeWindow | undefined;
  /** Lower-case name and the value that selects; `never` always deselects, any other value leaves it to what follows. */
  readonly header: CanarySelector | undefined;
  readonly cookie: CanarySelector | undefined;
  /** 0 to 100: share of clients, sticky. */
  readonly percent: number | undefined;
}

/** No restriction at all: takes every request. */
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
  /** 0 is Sunday; of a window over midnight the day on which it begins. */
  readonly days: ReadonlySet<number> | undefined;
  /** Minutes of the day; `end` may be below `begin` (over midnight). */
  readonly hours: { readonly begin: number; readonly end: number } | undefined;
}

export interface ShadowSettings {
  /** Share of requests that are compared, 0 to 1. A `translate` rule compares reads only, with native. */
  readonly sample: number;
  /** Share of compared reads for which native is asked a second time, to measure what differs by itself, 0 to 1. */
  readonly control: number;
}

/** When a rule gives up `translate` by itself. */
export interface StepBackSettings {
  /** Share of requests that failed because of translation; undefined: not looked at. */
  readonly failures: number | undefined;
  /** Share of comparisons with a difference; undefined: not looked at. */
  readonly differences: number | undefined;
  /** Requests (or comparisons) in the window below which nothing is decided. */
  readonly minRequests: number;
  /** Distinct clients that must have met it; never more than the rule names. */
  readonly minClients: number;
  /** Milliseconds. */
  readonly window: number;
  /** Quiet milliseconds before a step towards `translate` is tried again; undefined: only an operator brings it back. */
  readonly returnAfter: number | undefined;
}

/** When a `shadow` rule may become `translate`. */
export interface PromoteSettings {
  /** Upper bound (95 %) of the share of differing answers. */
  readonly differencesBelow: number;
  /** Distinct clients that must have been compared. */
  readonly minClients: number;
  /** False: it only says that it could. */
  readonly automatic: boolean;
}

/** What clients are told (RFC 9745, RFC 8594); milliseconds since 1970. */
export interface RuleHeaders {
  readonly deprecation: number | undefined;
  readonly sunset: number | undefined;
  /** Where people read about it: an http(s) URL. */
  readonly documentation: string | undefined;
  /** `Link: <v2 URL of this request>; rel="successor-version"`. */
  readonly successor: boolean;
}

/** What a rule does at present, after what was learnt. */
export interface ModeDecision {
  readonly mode: CutoverMode;
  /** Undefined: no rule matched, or `force` decided, or nobody knows v1's answer and no rule names the operation. */
  readonly rule: Rule | undefined;
  /** How much of it is compared. */
  readonly shadow: ShadowSettings;
  readonly why: "rule" | "default" | "forced" | "guessed" | "stepped-back" | "promoted";
}
