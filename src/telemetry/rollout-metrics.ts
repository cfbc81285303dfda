/** Metrics of clients, rules and comparisons. */
import { type Exchange, faultOf, isTurnedAway, type NativeOutcome, wasLetIn } from "../model/exchange.ts";
import { FAULT_ORIGINS, type FaultOrigin } from "../model/problem.ts";
import type { OwnRuleStatus } from "../rules/status.ts";
import type { MetricFactory } from "./metric-factory.ts";
import { OTHER_LABEL, type ResourceLabels, wordLabel } from "./series.ts";

interface ComparisonMetrics {
  /** By operation, and by operation and client. */
  rows(): Iterable<{
    readonly resource: string;
    readonly operation: string;
    readonly client?: string | undefined;
    readonly results: ReadonlyMap<string, number>;
  }>;
  /** By reason. */
  readonly failures: ReadonlyMap<string, number>;
  readonly calls: Readonly<Record<"v1" | "v2", number>>;
}

/** What other parts know. */
export interface RolloutMetricSources {
  /** What metrics call a client; undefined: it is no part of the migration. */
  clientLabel(name: string): string | undefined;
  /** Labels that always have a series of their own: the configured names. */
  readonly clientNames: ReadonlySet<string>;
  /** Most further clients with series of their own. */
  readonly metricSeries: number;
  /** Clients that the ledger knows, by the version they call; a client of both counts for both. */
  clients(): { readonly v1: number; readonly v2: number };
  rules(): readonly OwnRuleStatus[];
  /** Reads repeated on native v1, by what it did. */
  guardCalls(): Readonly<Record<NativeOutcome, number>>;
  /** What the rules file or `carryover force` forces: a mode, or none. */
  force(): string;
  /** Digest of the rules in force, in hexadecimal digits; undefined without a rules file. */
  digest(): string | undefined;
  /** False while `state.dir` cannot be written. */
  stateSaved(): boolean;
  /** False while the store at `state.url` does not respond. */
  storeUp(): boolean;
  /** Milliseconds since 1970. */
  wall(): number;
  shadow(): {
    readonly running: number;
    readonly waiting: number;
    readonly heldBytes: number;
    /** Sampled requests that were not compared, by reason. */
    readonly passed: Readonly<Record<string, number>>;
  };
  /** Comparisons of this process. Undefined if it makes none. */
  readonly comparisons: ComparisonMetrics | undefined;
}

/** Labels for requests that belong to no client with a label of its own. */
const RESERVED_CLIENT_LABELS = ["unknown", "unauthenticated", "excluded"] as const;

/** `count` counts a request by client; never throws. `forget` ends the series of a label. */
export function createRolloutMetrics(
  make: MetricFactory,
  labels: ResourceLabels,
  sources: RolloutMetricSources,
): { readonly count: (exchange: Exchange) => void; readonly forget: (label: string) => void } {
  const reserved = new Set<string>(RESERVED_CLIENT_LABELS);
  const hasOwnSeries = (label: string): boolean => sources.clientNames.has(label) || reserved.has(label);
  const clients = createClientSeries(sources.metricSeries, hasOwnSeries);
  exportClients(make, clients, sources);
  exportComparisons(make, labels, sources);
  exportRules(make, sources);
  const rescued = make.counted("reads_after_v2_total");
  const refused = make.counted("brownout_refused_total");
  const count = (exchange: Exchange): void => {
    const { apiVersion, rule } = exchange;
    if (exchange.rescued !== undefined && rule !== undefined) rescued.at([rule]).count++;
    if (exchange.brownout !== undefined && rule !== undefined) refused.at([rule]).count++;
    if (apiVersion !== "v1" && apiVersion !== "v2") return;
    const fault = apiVersion === "v1" ? faultOf(exchange) : undefined;
    clients.count(clientLabelOf(exchange, sources, clients), apiVersion, sources.wall(), fault);
  };
  return { count, forget: clients.forget };
}

/** A caller that the platform did not let in can claim any name, so it gets no new series: as in the ledger. */
function clientLabelOf(exchange: Exchange, sources: RolloutMetricSources, clients: ClientSeries): string {
  const { status, client } = exchange;
  if (status === 401) return "unauthenticated";
  const label = sources.clientLabel(client) ?? "excluded";
  if (wasLetIn(exchange)) return label;
  return !isTurnedAway(exchange) && clients.has(label) ? label : OTHER_LABEL;
}

function exportClients(make: MetricFactory, clients: ClientSeries, sources: RolloutMetricSources): void {
  make.counter("client_requests_total", function* () {
    for (const [client, { v1, v2 }] of clients.rows()) {
      if (v1 > 0) yield [[client, "v1"], v1];
      if (v2 > 0) yield [[client, "v2"], v2];
    }
  });
  make.counter("client_errors_total", function* () {
    for (const [client, { errors }] of clients.rows()) {
      for (const fault of FAULT_ORIGINS)
        if (errors !== undefined && errors[fault] > 0) yield [[client, fault], errors[fault]];
    }
  });
  make.gauge("client_last_v1_request_timestamp_seconds", function* () {
    for (const [client, { lastV1 }] of clients.rows()) if (lastV1 > 0) yield [[client], lastV1 / 1000];
  });
  make.gauge("clients", () => Object.entries(sources.clients()).map(([version, count]) => [[version], count]));
  make.gauge("state_last_save_successful", () => Number(sources.stateSaved()));
  make.gauge("state_store_up", () => Number(sources.storeUp()));
}

function exportComparisons(
  make: MetricFactory,
  labels: ResourceLabels,
  { shadow, comparisons }: RolloutMetricSources,
): void {
  make.counter("comparisons_total", function* () {
    for (const { resource, operation, client, results } of comparisons?.rows() ?? []) {
      if (client !== undefined) continue;
      const label = labels.resource(resource);
      for (const [result, count] of results)
        yield [[label, labels.operation(label, operation), wordLabel(result)], count];
    }
  });
  make.counter("comparison_failures_total", () =>
    Array.from(comparisons?.failures ?? [], ([reason, count]) => [[wordLabel(reason)], count]),
  );
  make.counter("comparisons_skipped_total", () =>
    Object.entries(shadow().passed).map(([reason, count]) => [[wordLabel(reason)], count]),
  );
  make.counter("comparison_calls_total", () =>
    Object.entries(comparisons?.calls ?? { v1: 0, v2: 0 }).map(([version, count]) => [[version], count]),
  );
  make.gauge("comparisons_in_progress", () => shadow().running);
  make.gauge("comparisons_waiting", () => shadow().waiting);
  make.gauge("comparisons_held_bytes", () => shadow().heldBytes);
}

/** Both always have a series, so that an alert tests a value instead of a missing series. */
const FORCED_MODES = ["native", "translate"] as const;

/** Rule names come from the operator; a rules file has at most 500. */
function exportRules(make: MetricFactory, sources: RolloutMetricSources): void {
  let found: readonly OwnRuleStatus[] | undefined;
  // A scrape reads all gauges in one turn of the event loop: the rules are asked once.
  const rules = (): readonly OwnRuleStatus[] => {
    if (found !== undefined) return found;
    queueMicrotask(() => {
      found = undefined;
    });
    found = sources.rules();
    return found;
  };
  make.gauge("rules_force", () => FORCED_MODES.map((mode) => [[mode], Number(sources.force() === mode)]));
  make.gauge("config_hash", () => Number.parseInt(sources.digest() ?? "0", 16));
  make.gauge("rule_mode", () => rules().map(({ name, doing }) => [[name, wordLabel(doing)], 1]));
  make.gauge("rule_state", () => rules().map(({ name, phase }) => [[name, wordLabel(phase)], 1]));
  const counts = [
    ["rule_requests", "requests"],
    ["rule_failures", "failures"],
    ["rule_comparisons", "comparisons"],
    ["rule_differences", "differences"],
    ["rule_difference_bound", "bound"],
    ["rule_step_backs", "stepBacks"],
  ] as const;
  for (const [metric, member] of counts) {
    make.gauge(metric, () => rules().map(({ name, evidence }) => [[name], evidence[member]]));
  }
  make.gauge("rule_v2_failures", function* () {
    for (const { name, guard } of rules()) {
      const kinds = guard.trouble?.certain === true ? guard.trouble.kinds : {};
      for (const [kind, count] of Object.entries(kinds)) yield [[name, wordLabel(kind)], count];
    }
  });
  make.gauge("rule_v2_slow", function* () {
    for (const { name, guard } of rules()) {
      if (guard.slow === undefined) continue;
      const { v2Ms, nativeMs } = guard.slow;
      yield [[name], v2Ms / Math.max(1, nativeMs)];
    }
  });
  make.counter("guard_calls_total", () =>
    Object.entries(sources.guardCalls()).map(([outcome, count]) => [[outcome], count]),
  );
  make.gauge("rule_could_move", () => rules().map(({ name, couldMove }) => [[name], Number(couldMove)]));
  const brownouts = (isWanted: (phase: string) => boolean) => () =>
    rules().flatMap(({ name, brownout }) =>
      brownout === undefined ? [] : [[[name], Number(isWanted(brownout.phase))] as const],
    );
  make.gauge(
    "brownout_running",
    brownouts((phase) => phase === "running"),
  );
  make.gauge(
    "brownout_stopped",
    brownouts((phase) => phase === "stopped" || phase === "held"),
  );
  make.gauge("rule_expired", () => rules().map(({ name, state }) => [[name], Number(state === "expired")]));
}

/** Requests of one client, or of all that share a label. */
interface ClientRow {
  v1: number;
  v2: number;
  /** When the last v1 request was counted, in milliseconds since 1970. */
  lastV1: number;
  /** v1 requests that failed; undefined until there is one. */
  errors: Record<FaultOrigin, number> | undefined;
}

/** Requests counted by client. */
interface ClientSeries {
  /** `at`: milliseconds since 1970; `fault`: who made the request fail. */
  count(label: string, version: "v1" | "v2", at: number, fault?: FaultOrigin): void;
  /** True for a label with a row of its own. */
  has(label: string): boolean;
  rows(): Iterable<readonly [label: string, row: ClientRow]>;
  /** Ends the row of a label, which leaves its place to another client. */
  forget(label: string): void;
}

/** Requests after which a client counts as a regular one. */
const REGULAR = 20;
/** Clients watched for that, for each series. */
const CANDIDATES = 4;

/**
 * Each of `own` has a row from its first request on, outside of `max`: configured names are few. Of the `max` rows for all
 * other clients, half go to the first that call, the rest to clients that were seen 20 times: callers that come once each can
 * fill the first half only. A client keeps its row until it is forgotten, so that no counter ever goes down; what was counted before
 * stays with `other`.
 */
export function createClientSeries(max: number, isOwn: (label: string) => boolean): ClientSeries {
  let taken = 0;
  const rows = new Map<string, ClientRow>();
  const candidates = new Map<string, number>();
  const add = (label: string): ClientRow => {
    const row: ClientRow = { v1: 0, v2: 0, lastV1: 0, errors: undefined };
    rows.set(label, row);
    return row;
  };
  const isRegular = (label: string): boolean => {
    const seen = (candidates.get(label) ?? 0) + 1;
    if (seen >= REGULAR) return candidates.delete(label);
    if (candidates.size >= CANDIDATES * max) candidates.clear();
    candidates.set(label, seen);
    return false;
  };
  const rowOf = (label: string): ClientRow => {
    const known = rows.get(label);
    if (known !== undefined) return known;
    if (isOwn(label)) return add(label);
    if (taken >= max || (taken >= max / 2 && !isRegular(label))) return rows.get(OTHER_LABEL) ?? add(OTHER_LABEL);
    taken += 1;
    return add(label);
  };
  return {
    count: (label, version, at, fault) => {
      const row = rowOf(label);
      row[version]++;
      // A clock that was set back must not make a request forgotten.
      if (version === "v1" && at > row.lastV1) row.lastV1 = at;
      if (fault === undefined) return;
      row.errors ??= { client: 0, platform: 0, capacity: 0, translation: 0, v2: 0 };
      row.errors[fault]++;
    },
    has: (label) => rows.has(label),
    rows: () => rows,
    forget: (label) => {
      if (label === OTHER_LABEL) return;
      candidates.delete(label);
      if (rows.delete(label) && !isOwn(label)) taken -= 1;
    },
  };
}
