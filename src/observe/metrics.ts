/** What do Prometheus metrics say about every request? (Design section 8 and 10: names, bounded labels.) */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import { createBatch } from "./batch.ts";
import { type CutoverSources, createCutoverMetrics } from "./cutover-metrics.ts";
import { distinctFields } from "./field-names.ts";
import {
  codeLabel,
  directionLabel,
  type KnownResource,
  outcomeLabel,
  reasonLabel,
  resourceLabels,
  upstreamLabel,
  witnessLabel,
  wordLabel,
} from "./labels.ts";
import { createListGauges, type ListGauges } from "./list-gauges.ts";
import { createRequestCounts } from "./request-counts.ts";
import { createSeries, OTHER, type Series } from "./series.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly resources: readonly KnownResource[];
  /** Milliseconds on the clock that `Exchange.startedAt` was read from; by default the monotonic one. */
  readonly now?: () => number;
  /** Requests under way; not shown when absent. */
  readonly inFlight?: () => number;
  /** What long lists take up; not shown when absent. */
  readonly lists?: ListGauges;
  /** Clients, rules and comparisons; not shown when absent. */
  readonly cutover?: CutoverSources;
  /** Log lines that a blocked sink has cost so far; not shown when absent. */
  readonly droppedLogLines?: () => number;
}

/** Reads exchanges, writes Prometheus text. */
export interface Metrics {
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  /** To be called once for each comparison. */
  compared(comparison: Comparison): void;
  /** Rules were read, or could not be; `at`: milliseconds since 1970. */
  reloaded(successful: boolean, at: number): void;
  readonly contentType: string;
  text(): Promise<string>;
}

/** Label sets per metric, whatever is sent; beyond them everything is `other`. */
const MAX = { fields: 400, words: 100, small: 200 };

const PAGES = [1, 2, 3, 5, 10, 25, 50, 100, 200, 400, 600];
const RECORDS = [10, 50, 200, 1000, 2000, 5000, 10_000, 20_000, 50_000, 120_000];

/** Requests are counted together; whoever asks for the numbers misses none. */
const GATHER = { items: 256, ms: 10 };

/** A request that is over and was not counted yet. */
interface Finished {
  readonly exchange: Exchange;
  readonly seconds: number;
}

interface Count {
  count: number;
}

/** Metrics in a registry of their own. `observe`, `compared` and `reloaded` never throw and do no I/O. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const labels = resourceLabels(options.resources);
  const counts = createCounts(registry);
  const countRequest = createRequestCounts(registry, labels);
  const now = options.now ?? (() => performance.now());
  const lists = listHistograms(registry);
  const state = createState(registry, options);
  const cutover = options.cutover && createCutoverMetrics(registry, labels, options.cutover);

  const count = ({ exchange, seconds }: Finished): void => {
    countRequest(exchange, seconds);
    cutover?.observe(exchange);
    const resource = labels.resource(exchange.resource);
    for (const call of exchange.calls)
      counts.upstream.at([upstreamLabel(call.upstream), codeLabel(call.status)]).count++;
    observeRare(exchange, resource, counts);
    if (exchange.list === undefined) return;
    lists.pages.observe(exchange.list.pages);
    lists.records.observe(exchange.list.records);
  };
  const waiting = createBatch<Finished>(GATHER, (all) => all.forEach(count));
  return {
    observe: (exchange) => {
      const ms = now() - exchange.startedAt;
      waiting.add({ exchange, seconds: ms > 0 ? ms / 1000 : 0 });
    },
    compared: (comparison) => cutover?.compared(comparison),
    reloaded: (successful, at) => {
      state.reloaded = successful;
      if (successful) state.reloadedAt = at;
    },
    contentType: registry.contentType,
    text: () => {
      waiting.settle();
      return registry.metrics();
    },
  };
}

/** What most requests have nothing of. */
function observeRare(exchange: Exchange, resource: string, counts: Counts): void {
  if (exchange.list !== undefined) {
    const { witness, outcome } = exchange.list;
    counts.lists.at([resource, witnessLabel(witness), outcomeLabel(outcome)]).count++;
  }
  if (exchange.reason !== undefined) counts.problems.at([reasonLabel(exchange.reason)]).count++;
  for (const note of exchange.notes) counts.notes.at([wordLabel(note)]).count++;
  for (const field of distinctFields(exchange)) counts.unknown.at([resource, directionLabel(field.direction)]).count++;
  for (const field of exchange.defaultedFields) counts.defaulted.at([resource, wordLabel(field)]).count++;
  for (const field of exchange.mismatches) counts.mismatches.at([resource, wordLabel(field)]).count++;
}

type Counts = ReturnType<typeof createCounts>;

function createCounts(registry: Registry) {
  const counter = (name: string, help: string, labelNames: readonly string[], max: number): Series<Count> => {
    const series = createSeries<Count>(max, () => ({ count: 0 }));
    new Counter({
      name: `carryover_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const [values, row] of series.rows()) {
          this.inc(Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? OTHER])), row.count);
        }
      },
    });
    return series;
  };
  return {
    upstream: counter(
      "upstream_requests_total",
      "Calls to upstreams; code none: no answer",
      ["upstream", "code"],
      MAX.small,
    ),
    lists: counter("lists_total", "Drained lists by what they prove", ["resource", "witness", "outcome"], MAX.fields),
    problems: counter("problems_total", "Errors of carryover's own", ["reason"], MAX.words),
    notes: counter("notes_total", "Deviations and other events worth counting", ["note"], MAX.words),
    unknown: counter(
      "unknown_fields_total",
      "Fields that are in no row, each once a request",
      ["resource", "direction"],
      MAX.small,
    ),
    defaulted: counter(
      "update_defaulted_fields_total",
      "Fields that a PUT left out and so set to zero",
      ["resource", "field"],
      MAX.fields,
    ),
    mismatches: counter(
      "update_mismatches_total",
      "Fields that the platform did not store as asked",
      ["resource", "field"],
      MAX.fields,
    ),
  };
}

function listHistograms(registry: Registry) {
  const registers = [registry];
  return {
    pages: new Histogram({ name: "carryover_list_pages", help: "Pages of a drained list", buckets: PAGES, registers }),
    records: new Histogram({
      name: "carryover_list_records",
      help: "Records of a drained list",
      buckets: RECORDS,
      registers,
    }),
  };
}

function createState(registry: Registry, options: MetricsOptions): { reloaded: boolean; reloadedAt: number } {
  const state = { reloaded: true, reloadedAt: 0 };
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `carryover_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  if (options.inFlight !== undefined) gauge("in_flight_requests", "Requests under way", options.inFlight);
  gauge("config_last_reload_successful", "1 when the rules file, as last read, was usable", () =>
    Number(state.reloaded),
  );
  gauge(
    "config_last_reload_successful_timestamp_seconds",
    "When rules were last read with success; 0 without a rules file",
    () => state.reloadedAt / 1000,
  );
  if (options.lists !== undefined) createListGauges(gauge, options.lists);
  const { droppedLogLines } = options;
  if (droppedLogLines !== undefined) {
    new Counter({
      name: "carryover_log_lines_dropped_total",
      help: "Log lines lost because their sink was blocked",
      registers: [registry],
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
  }
  new Gauge({
    name: "carryover_build_info",
    help: "Always 1; the labels say what is running",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version: options.version, node: process.version }, 1);
  collectDefaultMetrics({ register: registry, prefix: "carryover_" });
  return state;
}
