/** What happened to the migration: step backs, changes of rules, starts. The metric, the log and `carryover events` name the same events. */

/** The metric has a series for each kind from the start. */
export const EVENT_KINDS = [
  // A rule changed what it does.
  "stepped-back",
  "returning",
  "returned",
  "promoted",
  "could-promote",
  "expired",
  "unknown",
  "confirmed",
  // v2 fails clients of a rule, and no longer does.
  "alarm",
  "failing",
  "guard-cleared",
  // A brownout refuses v1, or does not.
  "brownout-began",
  "brownout-ended",
  "brownout-stopped",
  "brownout-not-started",
  // All rules are concerned.
  "forced",
  "rules",
  "rules-refused",
  "rules-recovered",
  // The process, and what it depends on.
  "started",
  "stopped",
  "upgraded",
  "config",
  "config-refused",
  "breaker-opened",
  "breaker-closed",
  "state-failing",
  "state-saved",
  "certificate-renewed",
  "certificate-refused",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** An event as the part that saw it reports it. */
export interface NewEvent<Kind extends EventKind = EventKind> {
  readonly kind: Kind;
  /** Milliseconds since 1970; default: now. */
  readonly at?: number | undefined;
  readonly rule?: string | undefined;
  /** The only client that is concerned, as the ledger names it. */
  readonly client?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** For people, with the numbers that decided. */
  readonly reason: string;
  /** The person who did it, as that person said. */
  readonly by?: string | undefined;
  /** Ids of requests (`x-request-id`) that caused it, as examples. */
  readonly requests?: readonly string[] | undefined;
}

/** Records an event. Returns its id, for the log line about it. */
export type RecordEvent = (event: NewEvent) => string;
