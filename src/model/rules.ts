/** Settings of rules for v1 requests, and decisions by them. */

/** What serves a v1 request that v2 could serve too. */
export const CUTOVER_MODES = ["native", "shadow", "translate"] as const;
export type CutoverMode = (typeof CUTOVER_MODES)[number];

/** What a rule does. `brownout`: it refuses v1 in the windows of its schedule, and matches nothing outside of them. */
export const RULE_MODES = [...CUTOVER_MODES, "brownout"] as const;
export type RuleMode = (typeof RULE_MODES)[number];

/** A period of time, in milliseconds since 1970; `end` is outside of it. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/** What overrides every rule and `cutover.mode`; `none`: nothing. A command cannot force a translation. */
export const FORCE_COMMANDS = ["native", "none"] as const;
export const FORCES = ["none", "native", "translate"] as const;
export type Force = (typeof FORCES)[number];

export const GUARD_ACTIONS = ["stepBack", "warn", "off"] as const;

/** A rule without what it matches. */
export interface RuleSettings {
  /** Unique in its file; a label in metrics: `[a-z0-9-]`, at most 63 characters. */
  readonly name: string;
  /** Line in the file, from 1. */
  readonly line: number;
  readonly mode: RuleMode;
  /** When it stops matching, in milliseconds since 1970. */
  readonly expires: number | undefined;
  readonly shadow: ShadowSettings;
  readonly stepBack: StepBackSettings | undefined;
  readonly guard: GuardSettings;
  readonly onFailure: OnFailureSettings | undefined;
  /** A rehearsal: native v1 is off for the client that the rule names, so that requests which cannot be translated are refused. */
  readonly fallback?: "refuse" | undefined;
  readonly promoteWhen: PromoteSettings | undefined;
  readonly headers: RuleHeaders | undefined;
  /** Set for a rule of mode `brownout`, and for no other. */
  readonly brownout: BrownoutSettings | undefined;
  /** Changes with every change of the rule. */
  readonly identity: string;
  /**
   * Changes with the requests that the rule is about, so that what was learnt of it no longer holds. How many clients
   * (`percent`), when, and all thresholds do not change it.
   */
  readonly evidenceKey: string;
}

export interface ShadowSettings {
  /** Share of requests that are compared, 0 to 1. A `translate` rule compares reads only, with native. */
  readonly sample: number;
  /** Share of compared reads for which native is asked twice, to measure how it differs from itself, 0 to 1. */
  readonly control: number;
}

/** When a rule rolls back from `translate` by itself. */
export interface StepBackSettings {
  /** Share of requests that failed because of translation; undefined: not checked. */
  readonly failures?: number | undefined;
  /** Share of comparisons with a difference; undefined: not checked. */
  readonly differences?: number | undefined;
  /** Translated requests in the window below which failures decide nothing. */
  readonly minRequests: number;
  /** Comparisons in the window below which differences decide nothing. */
  readonly minComparisons: number;
  /** Distinct clients that must be affected; never more than the rule names. */
  readonly minClients: number;
  /** Milliseconds. */
  readonly window: number;
  /** Quiet milliseconds before a step towards `translate` is tried again; undefined: only an operator returns to it. */
  readonly returnAfter?: number | undefined;
}

/** The reaction to a v2 that fails clients that native v1 would have served. */
export interface GuardSettings {
  /** `off`: nothing is repeated on native. */
  readonly action: (typeof GUARD_ACTIONS)[number];
  /** Milliseconds without a failure of v2 before a step towards `translate` is tried again. */
  readonly returnAfter: number;
  /** The reaction to a v2 that is much slower than native v1. */
  readonly slow: "stepBack" | "warn";
}

/** A read that v2 fails is served by native v1 in the same request. */
export interface OnFailureSettings {
  /** Statuses of v2 below 500 that count as failures too. */
  readonly statuses: readonly number[];
}

/** When a `shadow` rule may become `translate`. */
export interface PromoteSettings {
  /** Upper bound (95 %) of the share of differing responses. */
  readonly differencesBelow: number;
  /** Distinct clients that must have been compared. */
  readonly minClients: number;
  /** False: it is only reported that the rule could move. */
  readonly automatic: boolean;
}

/** Headers for clients (RFC 9745, RFC 8594); times in milliseconds since 1970. */
export interface RuleHeaders {
  readonly deprecation?: number | undefined;
  readonly sunset?: number | undefined;
  /** An http(s) URL for people. */
  readonly documentation?: string | undefined;
  /** `Link: <v2 URL of this request>; rel="successor-version"`. */
  readonly successor: boolean;
}

/** A refusal of v1 for a short time, to find the clients that still need it. */
export interface BrownoutSettings {
  /** The HTTP status of a refusal. Over gRPC the code is always FAILED_PRECONDITION. */
  readonly status: 400 | 410;
  /** For the client's team. */
  readonly message: string;
  /** A URL of what replaces v1. */
  readonly successor: string | undefined;
  /** Who answers questions: an address, a channel or a URL. */
  readonly contact: string | undefined;
  /** Clients that are never refused, as the ledger names them. */
  readonly exempt: ReadonlySet<string>;
  /** Share of v1 requests above which the brownout stops. */
  readonly stopAbove: number;
  /** v1 requests in a window below which `stopAbove` decides nothing. */
  readonly minRequests: number;
  /** The operator states that no other process serves v1. */
  readonly singleReplica: boolean;
  /** Windows may last for more than an hour, and may overlap. */
  readonly allowLong: boolean;
  readonly schedule: ScheduleSettings;
}

/** When the windows of a brownout begin, and how long each lasts. */
export interface ScheduleSettings {
  /** Five fields, or a nickname such as `@weekly`. */
  readonly cron: string;
  /** IANA name of a time zone. */
  readonly zone: string;
  /** Milliseconds. */
  readonly duration: number;
  /** No window begins before this time, in milliseconds since 1970. */
  readonly from: number | undefined;
  /** No window lasts beyond this time, in milliseconds since 1970. */
  readonly until: number | undefined;
}

/** The mode of a request, after the evidence about its rule. */
export type ModeDecision = ServingDecision | RefusingDecision;

/** A brownout refuses the request. */
export interface RefusingDecision {
  readonly mode: "brownout";
  readonly rule: RuleSettings;
  readonly brownout: BrownoutSettings;
  readonly window: TimeSpan;
  /** When it was decided, in milliseconds since 1970. */
  readonly at: number;
  readonly shadow: ShadowSettings;
  readonly why: "rule";
}

export interface ServingDecision {
  readonly mode: CutoverMode;
  /** Undefined: no rule matched, or `force` decided, or v1's response is a guess and no rule names the operation. */
  readonly rule: RuleSettings | undefined;
  readonly shadow: ShadowSettings;
  readonly why: "rule" | "default" | "forced" | "guessed" | "stepped-back" | "unknown" | "promoted";
}
