/** What the page shows, gathered from the views of the admin port. */
import type { FleetRule } from "../fleet/fleet.ts";
import type { MigrationStatus } from "../fleet/status.ts";
import type { HistoryEvent } from "../history/events.ts";
import type { Series, SeriesSource } from "../history/series.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { RuleGuard } from "../rules/status.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";

/** An event, and the other replicas that have it. */
export type PageEvent = HistoryEvent & { readonly on?: readonly string[] | undefined };

/** A sample of `/samples`: foreign JSON where another replica made it. */
export interface PageSample {
  readonly at: string;
  readonly resource: string;
  readonly operation: string;
  readonly client: string;
  readonly rule?: string | undefined;
  readonly total: number;
  readonly differences: readonly PageDifference[];
}

export interface PageDifference {
  readonly class: string;
  readonly path: string;
  readonly native?: string | undefined;
  readonly translated?: string | undefined;
  readonly set?: string | undefined;
}

export interface UpstreamLoad {
  readonly name: string;
  /** Its circuit breaker is open. */
  readonly isOpen: boolean;
  /** Pages of lists that are being read, and how many may be. */
  readonly reading: number;
  readonly limit: number;
  /** Calls that wait for a connection, and the longest wait so far in milliseconds. */
  readonly waiting: number;
  readonly longestMs: number;
}

/** Of this instance. */
export interface PageLoad {
  readonly inFlight: number;
  readonly inFlightLimit: number;
  readonly heldBytes: number;
  readonly heldLimit: number;
  readonly residentBytes: number;
  readonly lists: { readonly reading: number; readonly waiting: number };
  readonly upstreams: readonly UpstreamLoad[];
  /** Errors that carryover itself returned since the start of the process, by reason; most first. */
  readonly refused: readonly (readonly [reason: string, count: number])[];
  /** 99th percentile of the delay of the event loop in seconds; undefined if it is not measured. */
  readonly loopDelay: number | undefined;
}

/** What a v1 operation cost since the start of the process. */
export interface OperationCost {
  readonly resource: string;
  readonly operation: string;
  readonly translated: ServedCost;
  /** In shadow, too: native v1 responded. */
  readonly native: ServedCost;
}

export interface ServedCost {
  readonly requests: number;
  /** Calls to upstreams that they needed, comparisons not counted. */
  readonly calls: number;
  /** Seconds, estimated from a histogram; undefined without a request. */
  readonly median: number | undefined;
  readonly p99: number | undefined;
}

export interface PageCost {
  readonly operations: readonly OperationCost[];
  readonly v1Requests: number;
  readonly v1Calls: number;
  readonly upstreamCalls: Readonly<Record<string, number>>;
  readonly comparisonCalls: number;
}

export interface PageData {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly version: string;
  /** This instance, as others name it. */
  readonly instance: string;
  readonly status: MigrationStatus;
  /** In the order of the file. */
  readonly rules: readonly FleetRule[];
  /** By name of a rule: how many clients of `ledger` it takes requests of. */
  readonly takers: ReadonlyMap<string, number>;
  /** By name of a rule, what the guard of this instance counted. */
  readonly ownGuards: ReadonlyMap<string, RuleGuard | undefined>;
  /** By name of a rule in trouble, what the guards of all replicas find together. */
  readonly guardsTogether: ReadonlyMap<string, { readonly replicas: number; readonly evidence: number }>;
  /** Requests of the last 24 hours by kind. Undefined if they are unknown. */
  readonly rows: readonly RequestTotalsRow[] | undefined;
  readonly hours: Series;
  readonly days: Series;
  /** Oldest first. */
  readonly events: readonly PageEvent[];
  readonly eventsSince: number;
  readonly ledger: LedgerSnapshot;
  readonly samples: { readonly values: "redact" | "show"; readonly samples: readonly PageSample[] };
  readonly load: PageLoad | undefined;
  readonly cost: PageCost | undefined;
  /** What overrides every rule. */
  readonly force: string;
  readonly hasNative: boolean;
  /** The store that replicas share. */
  readonly store: { readonly up: boolean; readonly fault: string | undefined } | undefined;
  /** True for the sandbox of `carryover demo`, whose past is made up. */
  readonly isMadeUp: boolean;
}

/** The invented past of the demo. Only its page reads it. */
export interface MadeUpPast {
  readonly hours: SeriesSource;
  readonly days: SeriesSource;
  readonly events: readonly PageEvent[];
}
