/** What do Prometheus metrics say about every request? (Design section 8 and 10: names, bounded labels.) */
import { Registry } from "prom-client";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange, Upstream } from "../model/exchange.ts";
import { PROBLEMS } from "../model/problem.ts";
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
import { createListGauges, createQueueGauges, type ListState, type QueueGauges } from "./list-gauges.ts";
import { addNodeMetrics, createMaker, type Maker } from "./maker.ts";
import { createRequestCounts } from "./request-counts.ts";
import { createUpstreamGauges, type UpstreamGauges } from "./upstream-gauges.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly resources: readonly KnownResource[];
  /** Milliseconds on the clock that `Exchange.startedAt` was read from; by default the monotonic one. */
  readonly now?: () => number;
  /** Requests under way; not shown when absent. */
  readonly inFlight?: () => number;
  /** How many may be; not shown when absent. */
  readonly inFlightLimit?: number;
  /** Bytes of bodies that are held for clients; not shown when absent. */
  readonly heldBytes?: () => number;
  /** Whether requests are taken; not shown when absent. */
  readonly ready?: () => boolean;
  /** Calls that wait, by upstream; not shown when absent. */
  readonly queues?: ReadonlyMap<Upstream, QueueGauges>;
  /** Long lists under way and waiting; not shown when absent. */
  readonly lists?: ListState;
  /** Upstreams' state; not shown when absent. */
  readonly upstreams?: UpstreamGauges;
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

const PAGES = [1, 2, 3, 5, 10, 25, 50, 100, 200, 400, 600];
const RECORDS = [10, 50, 200, 1000, 2000, 5000, 10_000, 20_000, 50_000, 120_000];

/** Requests are counted together; whoever asks for the numbers misses none. */
const GATHER = { items: 256, ms: 10 };

/** A request that is over and was not counted yet. */
interface Finished {
  readonly exchange: Exchange;
  readonly seconds: number;
}

/** Metrics in a registry of their own. `observe`, `compared` and `reloaded` never throw and do no I/O. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const labels = resourceLabels(options.resources);
  const make = createMaker(registry);
  const countRequest = createRequestCounts(make, labels);
  const counts = createCounts(make);
  const now = options.now ?? (() => performance.now());
  const pages = make.histogram("list_pages", PAGES);
  const records = make.histogram("list_records", RECORDS);
  const state = createState(make, options);
  const cutover = options.cutover && createCutoverMetrics(make, labels, options.cutover);
  addNodeMetrics(registry);

  const count = ({ exchange, seconds }: Finished): void => {
    countRequest(exchange, seconds);
    cutover?.observe(exchange);
    const resource = labels.resource(exchange.resource);
    for (const call of exchange.calls)
      counts.upstream.at([upstreamLabel(call.upstream), codeLabel(call.status)]).count++;
    observeRare(exchange, resource, counts);
    if (exchange.list === undefined) return;
    pages.observe(exchange.list.pages);
    records.observe(exchange.list.records);
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
  const times = exchange.times ?? 1;
  if (exchange.reason !== undefined) counts.problems.at([reasonLabel(exchange.reason)]).count += times;
  for (const note of exchange.notes) counts.notes.at([wordLabel(note)]).count += times;
  for (const field of distinctFields(exchange)) counts.unknown.at([resource, directionLabel(field.direction)]).count++;
  for (const field of exchange.defaultedFields) counts.defaulted.at([resource, wordLabel(field)]).count++;
  for (const field of exchange.mismatches) counts.mismatches.at([resource, wordLabel(field)]).count++;
}

type Counts = ReturnType<typeof createCounts>;

/** Counters that grow with what requests say. */
function createCounts(make: Maker) {
  return {
    upstream: make.counted("upstream_requests_total"),
    lists: make.counted("lists_total"),
    problems: make.counted("problems_total", Object.keys(PROBLEMS)),
    notes: make.counted("notes_total"),
    unknown: make.counted("unknown_fields_total"),
    defaulted: make.counted("update_defaulted_fields_total"),
    mismatches: make.counted("update_mismatches_total"),
  };
}

function createState(make: Maker, options: MetricsOptions): { reloaded: boolean; reloadedAt: number } {
  const state = { reloaded: true, reloadedAt: 0 };
  const { inFlight, inFlightLimit, heldBytes, ready, lists, droppedLogLines } = options;
  if (inFlight !== undefined) make.gauge("in_flight_requests", () => [[[], inFlight()]]);
  if (inFlightLimit !== undefined) make.gauge("in_flight_requests_limit", () => [[[], inFlightLimit]]);
  if (heldBytes !== undefined) make.gauge("held_bytes", () => [[[], heldBytes()]]);
  if (ready !== undefined) make.gauge("ready", () => [[[], Number(ready())]]);
  make.gauge("config_last_reload_successful", () => [[[], Number(state.reloaded)]]);
  make.gauge("config_last_reload_successful_timestamp_seconds", () => [[[], state.reloadedAt / 1000]]);
  if (options.queues !== undefined) createQueueGauges(make, options.queues);
  if (lists !== undefined) createListGauges(make, lists);
  if (options.upstreams !== undefined) createUpstreamGauges(make, options.upstreams);
  if (droppedLogLines !== undefined) make.counter("log_lines_dropped_total", () => [[[], droppedLogLines()]]);
  make.gauge("build_info", () => [[[options.version, process.version], 1]]);
  return state;
}
