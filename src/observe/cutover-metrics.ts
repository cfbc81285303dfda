/** What do metrics say of clients, rules and comparisons? (Design sections 7, 8 and 10.) */
import type { Comparison } from "../model/comparison.ts";
import { type Exchange, wasLetIn } from "../model/exchange.ts";
import { createClientSeries } from "./client-series.ts";
import { oneOf, type resourceLabels, wordLabel } from "./labels.ts";
import type { Maker, Reading } from "./maker.ts";
import { OTHER } from "./series.ts";

/** One rule as metrics show it. */
export interface RuleFacts {
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
export interface CutoverSources {
  /** What metrics call a client; undefined: it is no part of the migration. */
  clientLabel(name: string): string | undefined;
  /** Labels that always have a series of their own: the configured names. */
  readonly clientNames: ReadonlySet<string>;
  /** Further clients with series of their own. */
  readonly metricSeries: number;
  /** Clients that the ledger knows, by the version they call; a client of both counts for both. */
  clients(): { readonly v1: number; readonly v2: number };
  rules(): readonly RuleFacts[];
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
export interface CutoverMetrics {
  observe(exchange: Exchange): void;
  compared(comparison: Comparison): void;
}

/** What carryover itself calls those who are no client of their own. */
const WORDS = ["unknown", "unauthenticated", "excluded"] as const;
const RESULTS = oneOf([
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
export function createCutoverMetrics(
  make: Maker,
  labels: ReturnType<typeof resourceLabels>,
  sources: CutoverSources,
): CutoverMetrics {
  const clients = createClientSeries(sources.metricSeries, new Set([...sources.clientNames, ...WORDS]));
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
function labelOf(exchange: Exchange, sources: CutoverSources): string {
  const { status, calls, reason, client } = exchange;
  if (status === 401) return "unauthenticated";
  // Without any call it is a shared list, made a moment ago for the same credential, or a refusal of carryover's own.
  if (calls.length === 0 ? reason !== undefined : !wasLetIn(exchange)) return OTHER;
  return sources.clientLabel(client) ?? "excluded";
}

function exportClients(make: Maker, clients: ReturnType<typeof createClientSeries>, sources: CutoverSources): void {
  make.counter("client_requests_total", function* (): Iterable<Reading> {
    for (const [client, { v1, v2 }] of clients.rows()) {
      if (v1 > 0) yield [[client, "v1"], v1];
      if (v2 > 0) yield [[client, "v2"], v2];
    }
  });
  make.gauge("client_last_v1_request_timestamp_seconds", function* (): Iterable<Reading> {
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
  make: Maker,
  calls: { readonly v1: number; readonly v2: number },
  sources: CutoverSources,
): void {
  make.counter("comparisons_passed_total", () =>
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
function exportRules(make: Maker, sources: CutoverSources): void {
  const perRule = (read: (rule: RuleFacts) => number) => (): Iterable<Reading> =>
    sources.rules().map((rule) => [[rule.name], read(rule)]);
  const stated = (read: (rule: RuleFacts) => string) => (): Iterable<Reading> =>
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
