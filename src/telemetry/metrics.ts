/** What do Prometheus metrics say about every request? (Design section 8 and 10: names, bounded labels.) */
import { Registry } from "prom-client";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange, Upstream } from "../model/exchange.ts";
import { PROBLEMS } from "../model/problem.ts";
import { createBatch } from "./batch.ts";
import { addNodeMetrics, createMetricFactory, type LabelledValue, type MetricFactory } from "./metric-factory.ts";
import { METRICS } from "./metric-table.ts";
import { createRolloutMetrics, type RolloutMetricSources } from "./rollout-metrics.ts";
import {
  apiVersionLabel,
  codeLabel,
  createSeries,
  directionLabel,
  type KnownResource,
  modeLabel,
  OTHER_LABEL,
  outcomeLabel,
  reasonLabel,
  resourceLabels,
  type Series,
  upstreamLabel,
  witnessLabel,
  wordLabel,
} from "./series.ts";
import { distinctFields } from "./unknown-fields.ts";

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
  readonly lists?: ListGauges;
  /** Upstreams' state; not shown when absent. */
  readonly upstreams?: UpstreamGauges;
  /** Clients, rules and comparisons; not shown when absent. */
  readonly cutover?: RolloutMetricSources;
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
interface FinishedRequest {
  readonly exchange: Exchange;
  readonly seconds: number;
}

/** Metrics in a registry of their own. `observe`, `compared` and `reloaded` never throw and do no I/O. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const labels = resourceLabels(options.resources);
  const make = createMetricFactory(registry);
  const countRequest = createRequestCounts(make, labels);
  const counts = createCounts(make);
  const now = options.now ?? (() => performance.now());
  const pages = make.histogram("list_pages", PAGES);
  const records = make.histogram("list_records", RECORDS);
  const state = createState(make, options);
  const cutover = options.cutover && createRolloutMetrics(make, labels, options.cutover);
  addNodeMetrics(registry);

  const count = ({ exchange, seconds }: FinishedRequest): void => {
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
  const waiting = createBatch<FinishedRequest>(GATHER, (all) => all.forEach(count));
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
function observeRare(exchange: Exchange, resource: string, counts: RareCounters): void {
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

type RareCounters = ReturnType<typeof createCounts>;

/** Counters that grow with what requests say. */
function createCounts(make: MetricFactory) {
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

function createState(make: MetricFactory, options: MetricsOptions): { reloaded: boolean; reloadedAt: number } {
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

/** How much of each kind of request was there? (Summed per request in one look-up, exported when somebody asks.) */

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50];

type DurationLabels = Readonly<Record<"api_version" | "resource" | "operation" | "mode", string>>;

/** All that is counted of the requests of one kind: one look-up for each request, sums made when somebody asks. */
interface RequestCounters {
  readonly duration: DurationLabels;
  count: number;
  requestBytes: number;
  responseBytes: number;
  upstreamSeconds: number;
  ownSeconds: number;
  aborted: number;
}

/** Counts requests and their time; the function given back takes each finished one, with its seconds. */
export function createRequestCounts(
  make: MetricFactory,
  labels: ReturnType<typeof resourceLabels>,
): (exchange: Exchange, seconds: number) => void {
  const requests = requestSeries();
  exportRequests(make, requests);
  const durations = make.histogram("request_duration_seconds", SECONDS);
  return (exchange, seconds) => {
    const resource = labels.resource(exchange.resource);
    const row = requests.at([
      apiVersionLabel(exchange.apiVersion),
      resource,
      labels.operation(resource, exchange.operation),
      modeLabel(exchange.mode),
      codeLabel(exchange.status),
    ]);
    addTo(row, exchange, seconds);
    for (let i = exchange.times ?? 1; i > 0; i--) durations.observe(row.duration, seconds);
  };
}

function addTo(row: RequestCounters, exchange: Exchange, seconds: number): void {
  const upstream = Math.max(0, exchange.upstreamMs) / 1000;
  row.count += exchange.times ?? 1;
  row.requestBytes += Math.max(0, exchange.requestBytes);
  row.responseBytes += Math.max(0, exchange.responseBytes);
  row.upstreamSeconds += upstream;
  // Overlapping calls add up to more than the time that passed: own time is then counted as none.
  row.ownSeconds += Math.max(0, seconds - upstream);
  if (exchange.aborted) row.aborted++;
}

/** Beyond the bounds of the table resource, operation and code are `other`, whatever is sent. */
function requestSeries(): Series<RequestCounters> {
  const durations = createSeries<DurationLabels>(
    METRICS.request_duration_seconds.series,
    ([api_version = OTHER_LABEL, resource = OTHER_LABEL, operation = OTHER_LABEL, mode = OTHER_LABEL]) => ({
      api_version,
      resource,
      operation,
      mode,
    }),
    ([version = OTHER_LABEL, , , mode = OTHER_LABEL]) => [version, OTHER_LABEL, OTHER_LABEL, mode],
  );
  return createSeries<RequestCounters>(
    METRICS.requests_total.series,
    (values) => ({
      duration: durations.at(values.slice(0, 4)),
      count: 0,
      requestBytes: 0,
      responseBytes: 0,
      upstreamSeconds: 0,
      ownSeconds: 0,
      aborted: 0,
    }),
    ([version = OTHER_LABEL, , , mode = OTHER_LABEL]) => [version, OTHER_LABEL, OTHER_LABEL, mode, OTHER_LABEL],
  );
}

function exportRequests(make: MetricFactory, requests: Series<RequestCounters>): void {
  make.counter("requests_total", function* (): Iterable<LabelledValue> {
    for (const [values, { count }] of requests.rows()) yield [values, count];
  });
  const byVersion = (read: (row: RequestCounters) => number) =>
    function* (): Iterable<LabelledValue> {
      for (const [[version = OTHER_LABEL], row] of requests.rows()) yield [[version], read(row)];
    };
  make.counter(
    "request_bytes_total",
    byVersion((row) => row.requestBytes),
  );
  make.counter(
    "response_bytes_total",
    byVersion((row) => row.responseBytes),
  );
  make.counter(
    "upstream_seconds_total",
    byVersion((row) => row.upstreamSeconds),
  );
  make.counter(
    "own_seconds_total",
    byVersion((row) => row.ownSeconds),
  );
  make.counter(
    "aborted_requests_total",
    byVersion((row) => row.aborted),
  );
}

/** How many calls and lists wait, and what limits them at present? (Design section 5, limits of parallelism.) */

/** The queue of calls to one upstream, read when somebody asks for metrics. */
export interface QueueGauges {
  state(): {
    readonly waiting: Readonly<Record<string, number>>;
    readonly waits: Readonly<Record<string, { readonly count: number; readonly seconds: number }>>;
    readonly longestMs: number;
    readonly limit: number;
    readonly reading: number;
    /** Milliseconds until all may read pages again, and until every credential may. */
    readonly gatedMs: number;
    readonly pausedMs: number;
  };
}

/** Lists of more than one page. */
export type ListGauges = () => { readonly reading: number; readonly waiting: number };

/** Shows the queues of calls by upstream and kind, and of v2's pages what limits them. */
export function createQueueGauges(make: MetricFactory, queues: ReadonlyMap<Upstream, QueueGauges>): void {
  const byKind = (of: (state: ReturnType<QueueGauges["state"]>) => Readonly<Record<string, number>>) =>
    function* (): Iterable<LabelledValue> {
      for (const [upstream, { state }] of queues)
        for (const [kind, value] of Object.entries(of(state()))) yield [[upstream, kind], value];
    };
  make.gauge(
    "queue_waiting",
    byKind(({ waiting }) => waiting),
  );
  make.counter(
    "queue_calls_total",
    byKind(({ waits }) => mapped(waits, ({ count }) => count)),
  );
  make.counter(
    "queue_wait_seconds_total",
    byKind(({ waits }) => mapped(waits, ({ seconds }) => seconds)),
  );
  make.gauge("queue_longest_wait_seconds", function* () {
    for (const [upstream, { state }] of queues) yield [[upstream], state().longestMs / 1_000];
  });
  const v2 = (of: (state: ReturnType<QueueGauges["state"]>) => number) =>
    function* (): Iterable<LabelledValue> {
      const state = queues.get("v2")?.state();
      if (state !== undefined) yield [[], of(state)];
    };
  make.gauge(
    "list_readers_limit",
    v2(({ limit }) => limit),
  );
  make.gauge(
    "list_readers",
    v2(({ reading }) => reading),
  );
  make.gauge(
    "list_readers_waiting",
    v2(({ waiting }) => waiting["page"] ?? 0),
  );
  // The platform asks one credential to wait as well as everybody: a client that is alone would show nothing else.
  make.gauge(
    "list_readers_paused_seconds",
    v2(({ gatedMs, pausedMs }) => Math.max(gatedMs, pausedMs) / 1_000),
  );
}

export function createListGauges(make: MetricFactory, lists: ListGauges): void {
  make.gauge("lists_in_progress", () => [[[], lists().reading]]);
  make.gauge("lists_waiting", () => [[[], lists().waiting]]);
}

function mapped<Value>(of: Readonly<Record<string, Value>>, one: (value: Value) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, one(value)]));
}

/** How is it with each upstream at present? */

type UpstreamStates = () => Iterable<readonly [Upstream, boolean]>;

/** Read when somebody asks for metrics. */
export interface UpstreamGauges {
  /** Whether calls to it fail at once. */
  readonly breakers: UpstreamStates;
  /** Of each with certificates in files: whether what they hold is in force. */
  readonly certificates: UpstreamStates;
}

/** Shows them. */
export function createUpstreamGauges(make: MetricFactory, { breakers, certificates }: UpstreamGauges): void {
  make.gauge("upstream_breaker_open", () => readings(breakers));
  make.gauge("upstream_certificates_last_reload_successful", () => readings(certificates));
}

function readings(states: UpstreamStates): LabelledValue[] {
  return Array.from(states(), ([name, state]) => [[upstreamLabel(name)], Number(state)]);
}
