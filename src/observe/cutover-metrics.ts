/** What do metrics say of clients, rules and comparisons? (Design sections 7, 8 and 10.) */
import { Counter, Gauge, type Registry } from "prom-client";
import type { Comparison } from "../model/comparison.ts";
import { type Exchange, wasLetIn } from "../model/exchange.ts";
import { createClientSeries } from "./client-series.ts";
import { oneOf, type resourceLabels, wordLabel } from "./labels.ts";
import { createSeries, OTHER } from "./series.ts";

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
const MAX_COMPARISONS = 600;
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

/** Registers the metrics in `registry`. Never throws later on. */
export function createCutoverMetrics(
  registry: Registry,
  labels: ReturnType<typeof resourceLabels>,
  sources: CutoverSources,
): CutoverMetrics {
  const clients = createClientSeries(sources.metricSeries, new Set([...sources.clientNames, ...WORDS]));
  const comparisons = createSeries(MAX_COMPARISONS, () => ({ count: 0 }));
  const failures = new Counter({
    name: "carryover_comparison_failures_total",
    help: "Comparisons that could not be made, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  const calls = new Counter({
    name: "carryover_comparison_calls_total",
    help: "Calls to upstreams that were made to compare",
    labelNames: ["upstream"],
    registers: [registry],
  });
  exportClients(registry, clients, sources);
  exportComparisons(registry, comparisons, sources);
  exportRules(registry, sources);
  return {
    observe: (exchange) => {
      const { apiVersion } = exchange;
      if (apiVersion === "v1" || apiVersion === "v2") clients.count(labelOf(exchange, sources), apiVersion);
    },
    compared: ({ resource, operation, result, failure, calls: { v1, v2 } }) => {
      if (failure !== undefined) failures.inc({ reason: wordLabel(failure) });
      calls.inc({ upstream: "v1" }, Math.max(0, v1));
      calls.inc({ upstream: "v2" }, Math.max(0, v2));
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

function exportClients(
  registry: Registry,
  clients: ReturnType<typeof createClientSeries>,
  sources: CutoverSources,
): void {
  new Counter({
    name: "carryover_client_requests_total",
    help: "Requests by client: a configured name or a keyed hash, the rest other",
    labelNames: ["client", "api_version"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [client, { v1, v2 }] of clients.rows()) {
        if (v1 > 0) this.inc({ client, api_version: "v1" }, v1);
        if (v2 > 0) this.inc({ client, api_version: "v2" }, v2);
      }
    },
  });
  new Gauge({
    name: "carryover_clients",
    help: "Clients in the ledger by the version that they call",
    labelNames: ["api_version"],
    registers: [registry],
    collect() {
      const { v1, v2 } = sources.clients();
      this.set({ api_version: "v1" }, v1);
      this.set({ api_version: "v2" }, v2);
    },
  });
}

function exportComparisons(
  registry: Registry,
  comparisons: ReturnType<typeof createSeries<{ count: number }>>,
  sources: CutoverSources,
): void {
  new Counter({
    name: "carryover_comparisons_total",
    help: "Native answers compared with translated ones, by the worst difference",
    labelNames: ["resource", "operation", "result"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [[resource = OTHER, operation = OTHER, result = OTHER], { count }] of comparisons.rows()) {
        this.inc({ resource, operation, result }, count);
      }
    },
  });
  new Counter({
    name: "carryover_comparisons_passed_total",
    help: "Sampled requests that were not compared: no place (busy), or their answers say nothing; by reason",
    labelNames: ["reason"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(sources.shadow().passed))
        this.inc({ reason: wordLabel(reason) }, count);
    },
  });
  const gauge = (name: string, help: string, read: (state: ReturnType<CutoverSources["shadow"]>) => number) =>
    new Gauge({
      name: `carryover_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read(sources.shadow()));
      },
    });
  gauge("comparisons_in_progress", "Comparisons under way", ({ running }) => running);
  gauge("comparisons_waiting", "Comparisons that wait for their turn", ({ waiting }) => waiting);
  gauge("comparisons_held_bytes", "Bytes held for comparisons", ({ heldBytes }) => heldBytes);
}

/** Both are always there, so that an alert asks for a value and not for what is missing. */
const FORCED = ["native", "translate"] as const;

/** Names of rules are the operator's own, at most 500 of them. */
function exportRules(registry: Registry, sources: CutoverSources): void {
  const perRule = (name: string, help: string, read: (rule: RuleFacts) => number) =>
    new Gauge({
      name: `carryover_rule_${name}`,
      help,
      labelNames: ["rule"],
      registers: [registry],
      collect() {
        this.reset();
        for (const rule of sources.rules()) this.set({ rule: rule.name }, read(rule));
      },
    });
  const stated = (name: string, help: string, label: "mode" | "state", read: (rule: RuleFacts) => string) =>
    new Gauge({
      name: `carryover_rule_${name}`,
      help,
      labelNames: ["rule", label],
      registers: [registry],
      collect() {
        this.reset();
        for (const rule of sources.rules()) this.set({ rule: rule.name, [label]: wordLabel(read(rule)) }, 1);
      },
    });
  new Gauge({
    name: "carryover_rules_force",
    help: "1 for what the rules file forces on all requests, 0 for what it does not",
    labelNames: ["mode"],
    registers: [registry],
    collect() {
      for (const mode of FORCED) this.set({ mode }, Number(sources.force() === mode));
    },
  });
  stated("mode", "1 for what the rule does at present", "mode", ({ effective }) => effective);
  stated("state", "1 for forward, back or returning", "state", ({ state }) => state);
  perRule(
    "requests",
    "Translated requests that speak for or against the translation, since the rule is as it is",
    ({ requests }) => requests,
  );
  perRule("failures", "Of those, failed because of translation", ({ failures }) => failures);
  perRule("comparisons", "Comparisons that its bound rests on", ({ comparisons }) => comparisons);
  perRule("differences", "Of those, with a difference", ({ differences }) => differences);
  perRule("difference_bound", "Share of answers that differ at most (95 %)", ({ bound }) => bound);
  perRule("step_backs", "How often it stepped back since it is as it is", ({ stepBacks }) => stepBacks);
  perRule("could_move", "1 when its promoteWhen is met", ({ couldMove }) => Number(couldMove));
  perRule("expired", "1 when it matches nothing any more", ({ expired }) => Number(expired));
}
