/** What do metrics say of clients, rules and comparisons? (Design sections 7, 8 and 10.) */
import type { Comparison } from "../model/comparison.ts";
import { type Exchange, wasLetIn } from "../model/exchange.ts";
import type { LabelledValue, MetricFactory } from "./metric-factory.ts";
import { labelOneOf, OTHER_LABEL, type resourceLabels, wordLabel } from "./series.ts";

/** One rule as metrics show it. */
export interface RuleMetrics {
  readonly name: string;
  /** What it does at present. */
  readonly effective: string;
  readonly state: string;
  readonly requests: number;
  readonly failures: number;
  readonly comparisons: number;
  readonly differences: number;
  readonly bound: number;
  readonly stepBacks: number;
  readonly couldMove: boolean;
  readonly expired: boolean;
}

/** Where the numbers come from that nobody counts here. */
export interface RolloutMetricSources {
  /** What metrics call a client; undefined: it is no part of the migration. */
  clientLabel(name: string): string | undefined;
  /** Labels that always have a series of their own: the configured names. */
  readonly clientNames: ReadonlySet<string>;
  /** Further clients with series of their own. */
  readonly metricSeries: number;
  /** Clients that the ledger knows, by the version they call; a client of both counts for both. */
  clients(): { readonly v1: number; readonly v2: number };
  rules(): readonly RuleMetrics[];
  /** What the rules file forces: a mode, or none. */
  force(): string;
  /** Digest of the rules in force, in hexadecimal digits; undefined without a rules file. */
  digest(): string | undefined;
  /** False while the ledger's file cannot be read or written. */
  ledgerSaved(): boolean;
  /** Milliseconds since 1970. */
  wall(): number;
  shadow(): {
    readonly running: number;
    readonly waiting: number;
    readonly heldBytes: number;
    /** Sampled requests whose answers say nothing, by reason. */
    readonly passed: Readonly<Record<string, number>>;
  };
}

/** Counts what is handed to it. */
export interface RolloutMetrics {
  observe(exchange: Exchange): void;
  compared(comparison: Comparison): void;
}

/** What carryover itself calls those who are no client of their own. */
const RESERVED_CLIENT_LABELS = ["unknown", "unauthenticated", "excluded"] as const;
const RESULTS = labelOneOf([
  "equal",
  "status",
  "error",
  "missing",
  "extra",
  "value",
  "presence",
  "order",
  "noise",
  "failed",
]);

/** Never throws later on. */
export function createRolloutMetrics(
  make: MetricFactory,
  labels: ReturnType<typeof resourceLabels>,
  sources: RolloutMetricSources,
): RolloutMetrics {
  const clients = createClientSeries(
    sources.metricSeries,
    new Set([...sources.clientNames, ...RESERVED_CLIENT_LABELS]),
  );
  const comparisons = make.counted("comparisons_total");
  const failures = make.counted("comparison_failures_total");
  const calls = { v1: 0, v2: 0 };
  exportClients(make, clients, sources);
  exportComparisons(make, calls, sources);
  exportRules(make, sources);
  return {
    observe: (exchange) => {
      const { apiVersion } = exchange;
      if (apiVersion !== "v1" && apiVersion !== "v2") return;
      clients.count(labelOf(exchange, sources), apiVersion, sources.wall());
    },
    compared: ({ resource, operation, result, failure, calls: { v1, v2 } }) => {
      if (failure !== undefined) failures.at([wordLabel(failure)]).count++;
      calls.v1 += Math.max(0, v1);
      calls.v2 += Math.max(0, v2);
      const known = labels.resource(resource);
      comparisons.at([known, labels.operation(known, operation), RESULTS(result)]).count++;
    },
  };
}

/** Whoever the platform did not let in can claim to be anybody, and gets no place among clients. */
function labelOf(exchange: Exchange, sources: RolloutMetricSources): string {
  const { status, calls, reason, client } = exchange;
  if (status === 401) return "unauthenticated";
  // Without any call it is a shared list, made a moment ago for the same credential, or a refusal of carryover's own.
  if (calls.length === 0 ? reason !== undefined : !wasLetIn(exchange)) return OTHER_LABEL;
  return sources.clientLabel(client) ?? "excluded";
}

function exportClients(
  make: MetricFactory,
  clients: ReturnType<typeof createClientSeries>,
  sources: RolloutMetricSources,
): void {
  make.counter("client_requests_total", function* (): Iterable<LabelledValue> {
    for (const [client, { v1, v2 }] of clients.rows()) {
      if (v1 > 0) yield [[client, "v1"], v1];
      if (v2 > 0) yield [[client, "v2"], v2];
    }
  });
  make.gauge("client_last_v1_request_timestamp_seconds", function* (): Iterable<LabelledValue> {
    for (const [client, { lastV1 }] of clients.rows()) if (lastV1 > 0) yield [[client], lastV1 / 1000];
  });
  make.gauge("clients", () => {
    const { v1, v2 } = sources.clients();
    return [
      [["v1"], v1],
      [["v2"], v2],
    ];
  });
  make.gauge("ledger_last_save_successful", () => [[[], Number(sources.ledgerSaved())]]);
}

function exportComparisons(
  make: MetricFactory,
  calls: { readonly v1: number; readonly v2: number },
  sources: RolloutMetricSources,
): void {
  make.counter("comparisons_skipped_total", () =>
    Object.entries(sources.shadow().passed).map(([reason, count]) => [[wordLabel(reason)], count]),
  );
  make.counter("comparison_calls_total", () => [
    [["v1"], calls.v1],
    [["v2"], calls.v2],
  ]);
  make.gauge("comparisons_in_progress", () => [[[], sources.shadow().running]]);
  make.gauge("comparisons_waiting", () => [[[], sources.shadow().waiting]]);
  make.gauge("comparisons_held_bytes", () => [[[], sources.shadow().heldBytes]]);
}

/** Both are always there, so that an alert asks for a value and not for what is missing. */
const FORCED = ["native", "translate"] as const;

/** Names of rules are the operator's own, at most 500 of them. */
function exportRules(make: MetricFactory, sources: RolloutMetricSources): void {
  const perRule = (read: (rule: RuleMetrics) => number) => (): Iterable<LabelledValue> =>
    sources.rules().map((rule) => [[rule.name], read(rule)]);
  const stated = (read: (rule: RuleMetrics) => string) => (): Iterable<LabelledValue> =>
    sources.rules().map((rule) => [[rule.name, wordLabel(read(rule))], 1]);
  make.gauge("rules_force", () => FORCED.map((mode) => [[mode], Number(sources.force() === mode)]));
  make.gauge("config_hash", () => [[[], Number.parseInt(sources.digest() ?? "0", 16)]]);
  make.gauge(
    "rule_mode",
    stated(({ effective }) => effective),
  );
  make.gauge(
    "rule_state",
    stated(({ state }) => state),
  );
  make.gauge(
    "rule_requests",
    perRule(({ requests }) => requests),
  );
  make.gauge(
    "rule_failures",
    perRule(({ failures }) => failures),
  );
  make.gauge(
    "rule_comparisons",
    perRule(({ comparisons }) => comparisons),
  );
  make.gauge(
    "rule_differences",
    perRule(({ differences }) => differences),
  );
  make.gauge(
    "rule_difference_bound",
    perRule(({ bound }) => bound),
  );
  make.gauge(
    "rule_step_backs",
    perRule(({ stepBacks }) => stepBacks),
  );
  make.gauge(
    "rule_could_move",
    perRule(({ couldMove }) => Number(couldMove)),
  );
  make.gauge(
    "rule_expired",
    perRule(({ expired }) => Number(expired)),
  );
}

/** Which clients get metrics of their own, whoever calls? (Design section 8: bounded series.) */

/** Requests of one client, or of all that share a label. */
export interface ClientRow {
  v1: number;
  v2: number;
  /** When the last v1 request was counted, in milliseconds since 1970. */
  lastV1: number;
}

/** Requests counted by client. */
export interface ClientSeries {
  /** `at`: milliseconds since 1970. */
  count(label: string, version: "v1" | "v2", at: number): void;
  rows(): Iterable<readonly [label: string, row: ClientRow]>;
}

/** How often a client must have called to get one of the places that are kept for those who stay. */
const STAYS = 20;
/** Clients watched for that, for each place. */
const CANDIDATES = 4;

/**
 * Each of `own` has a row from its first request on and takes no place: configured names are few. Of the `max` places for all
 * others half go to whoever comes first, the rest to clients that were seen 20 times: callers that come once each can fill
 * the first half only. A client keeps its place, so that no counter ever goes down; what it was counted before stays with
 * `other`.
 */
export function createClientSeries(max: number, own: ReadonlySet<string>): ClientSeries {
  let places = 0;
  const rows = new Map<string, ClientRow>();
  const candidates = new Map<string, number>();
  const add = (label: string): ClientRow => {
    const row = { v1: 0, v2: 0, lastV1: 0 };
    rows.set(label, row);
    return row;
  };
  const other = (): ClientRow => rows.get(OTHER_LABEL) ?? add(OTHER_LABEL);
  const stays = (label: string): boolean => {
    const seen = (candidates.get(label) ?? 0) + 1;
    if (seen < STAYS) {
      if (candidates.size >= CANDIDATES * max) candidates.clear();
      candidates.set(label, seen);
      return false;
    }
    return candidates.delete(label);
  };
  const rowOf = (label: string): ClientRow => {
    const known = rows.get(label);
    if (known !== undefined) return known;
    if (own.has(label)) return add(label);
    if (places >= max || (places >= max / 2 && !stays(label))) return other();
    places += 1;
    return add(label);
  };
  return {
    count: (label, version, at) => {
      const row = rowOf(label);
      row[version]++;
      // A clock that was set back must not make a request forgotten.
      if (version === "v1" && at > row.lastV1) row.lastV1 = at;
    },
    rows: () => rows,
  };
}
