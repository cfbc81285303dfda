/** Prometheus metrics, read from the `Exchange` of each request and from the state of the parts. */
import { Registry } from "prom-client";
import type { EventKind } from "../model/event.ts";
import type { Exchange, Upstream } from "../model/exchange.ts";
import { PROBLEMS } from "../model/problem.ts";
import type { RecorderCounts } from "../recording/recorder.ts";
import type { CallQueue, CallQueueState } from "../upstream/call-queue.ts";
import { createBatch } from "./batch.ts";
import { joinRegistry, type MetricsRegistry } from "./foreign-registry.ts";
import {
  addNodeMetrics,
  createMetricFactory,
  type LabelledValue,
  type MetricFactory,
  PREFIX,
} from "./metric-factory.ts";
import { METRICS, type MetricName } from "./metric-table.ts";
import { createRolloutMetrics, type RolloutMetricSources } from "./rollout-metrics.ts";
import {
  apiVersionLabel,
  codeLabel,
  createSeries,
  directionLabel,
  type KnownResource,
  modeLabel,
  outcomeLabel,
  type ResourceLabels,
  reasonLabel,
  resourceLabels,
  rpcLabels,
  upstreamLabel,
  witnessLabel,
  wordLabel,
} from "./series.ts";
import { distinctFields } from "./unknown-fields.ts";

/** Functions are called for each scrape. */
export interface MetricsOptions {
  readonly version: string;
  readonly resources: readonly KnownResource[];
  /** Milliseconds on the clock that `Exchange.startedAt` was read from; by default the monotonic one. */
  readonly now?: () => number;
  /** Requests in progress, and the limit of them. */
  readonly inFlight: () => number;
  readonly inFlightLimit: number;
  /** Bytes of bodies held for clients. */
  readonly heldBytes: () => number;
  readonly ready: () => boolean;
  readonly queues: ReadonlyMap<Upstream, Pick<CallQueue, "state">>;
  /** Lists of more than one page. */
  readonly lists: () => { readonly reading: number; readonly waiting: number };
  readonly upstreams: UpstreamGauges;
  readonly cutover: RolloutMetricSources;
  /** By kind. */
  readonly events: () => Iterable<readonly [EventKind, number]>;
  readonly droppedLogLines: () => number;
  readonly recording: () => RecorderCounts;
  /** Shows carryover's metrics as well, except process metrics, which its owner has. */
  readonly registry?: MetricsRegistry | undefined;
}

type UpstreamStates = () => Iterable<readonly [Upstream, boolean]>;

interface UpstreamGauges {
  /** Whether the circuit breaker is open. */
  readonly breakers: UpstreamStates;
  /** For each upstream with certificates in files: whether the files are in force. */
  readonly certificates: UpstreamStates;
}

/** Reads exchanges, writes Prometheus text. */
export interface Metrics {
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  /** The rules file was read, or could not be; `at`: milliseconds since 1970. */
  reloaded(successful: boolean, at: number): void;
  /** Ends the series of a client. */
  forget(label: string): void;
  /** Takes carryover's metrics out of the `registry` of the options. */
  close(): void;
  readonly contentType: string;
  text(): Promise<string>;
  /** The present values of one metric. A histogram has names that end in `_sum`, `_count` and `_bucket`. */
  values(name: MetricName): Promise<readonly MetricValue[]>;
}

export interface MetricValue {
  readonly name: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

const PAGES = [1, 2, 3, 5, 10, 25, 50, 100, 200, 400, 600];
const RECORDS = [10, 50, 200, 1000, 2000, 5000, 10_000, 20_000, 50_000, 120_000];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50];

/** Requests are counted together; a scrape counts those that wait first. */
const BATCH = { items: 256, ms: 10 };

/** Metrics in a registry of their own. `observe` and `reloaded` never throw and do no I/O. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const make = createMetricFactory(registry);
  const labels = resourceLabels(options.resources);
  const countRequest = createRequestCounts(make, labels);
  const countDetails = createDetailCounts(make, labels);
  const byClient = createRolloutMetrics(make, labels, options.cutover);
  const reload = { successful: true, at: 0 };
  make.gauge("config_last_reload_successful", () => Number(reload.successful));
  make.gauge("config_last_reload_successful_timestamp_seconds", () => reload.at / 1000);
  exportState(make, options);
  exportQueues(make, options.queues);
  const own = registry.getMetricsAsArray();
  addNodeMetrics(registry);

  const now = options.now ?? (() => performance.now());
  const batch = createBatch<{ readonly exchange: Exchange; readonly seconds: number }>(BATCH, (all) => {
    for (const { exchange, seconds } of all) {
      countRequest(exchange, seconds);
      countDetails(exchange);
      byClient.count(exchange);
    }
  });
  const leave = options.registry === undefined ? () => {} : joinRegistry(options.registry, own, batch.settle);
  return {
    close: leave,
    observe: (exchange) => {
      const ms = now() - exchange.startedAt;
      batch.add({ exchange, seconds: ms > 0 ? ms / 1000 : 0 });
    },
    reloaded: (successful, at) => {
      reload.successful = successful;
      if (successful) reload.at = at;
    },
    forget: (label) => {
      batch.settle();
      byClient.forget(label);
    },
    contentType: registry.contentType,
    text: () => {
      batch.settle();
      return registry.metrics();
    },
    values: async (name) => {
      batch.settle();
      const found = await registry.getSingleMetric(PREFIX + name)?.get();
      return (found?.values ?? []).map((one) => {
        const { labels, value } = one;
        return { name: "metricName" in one ? String(one.metricName) : PREFIX + name, labels, value };
      });
    },
  };
}

type DurationLabels = readonly [apiVersion: string, resource: string, operation: string, mode: string];
type RequestLabels = readonly [...DurationLabels, code: string];

/** All that is counted of the requests of one kind: one look-up per request, sums made at the scrape. */
interface RequestCounters {
  readonly duration: Readonly<Record<"api_version" | "resource" | "operation" | "mode", string>>;
  count: number;
  requestBytes: number;
  responseBytes: number;
  upstreamSeconds: number;
  ownSeconds: number;
  aborted: number;
  calls: number;
}

/** Beyond the bounds of the table, `api_version` and `mode` stay: both have few values. */
const KEPT_LABELS = [0, 3];

/** Counts requests and their time. */
function createRequestCounts(
  make: MetricFactory,
  labels: ResourceLabels,
): (exchange: Exchange, seconds: number) => void {
  const durationLabels = createSeries<RequestCounters["duration"], DurationLabels>(
    METRICS.request_duration_seconds.series,
    ([api_version, resource, operation, mode]) => ({ api_version, resource, operation, mode }),
    KEPT_LABELS,
  );
  const requests = createSeries<RequestCounters, RequestLabels>(
    METRICS.requests_total.series,
    ([apiVersion, resource, operation, mode]) => ({
      duration: durationLabels.at([apiVersion, resource, operation, mode]),
      count: 0,
      requestBytes: 0,
      responseBytes: 0,
      upstreamSeconds: 0,
      ownSeconds: 0,
      aborted: 0,
      calls: 0,
    }),
    KEPT_LABELS,
  );
  const durations = make.histogram("request_duration_seconds", SECONDS);
  make.counter("requests_total", () => Array.from(requests.rows(), ([values, { count }]) => [values, count]));
  make.counter("request_calls_total", () =>
    Array.from(requests.rows(), ([[apiVersion, resource, operation, mode], { calls }]) => [
      [apiVersion, resource, operation, mode],
      calls,
    ]),
  );
  const sums = [
    ["request_bytes_total", "requestBytes"],
    ["response_bytes_total", "responseBytes"],
    ["upstream_seconds_total", "upstreamSeconds"],
    ["own_seconds_total", "ownSeconds"],
    ["aborted_requests_total", "aborted"],
  ] as const;
  for (const [name, sum] of sums) {
    make.counter(name, () => Array.from(requests.rows(), ([[apiVersion], row]) => [[apiVersion], row[sum]]));
  }
  return (exchange, seconds) => {
    const { times = 1, upstreamMs } = exchange;
    const resource = labels.resource(exchange.resource);
    const row = requests.at([
      apiVersionLabel(exchange.apiVersion),
      resource,
      labels.operation(resource, exchange.operation),
      modeLabel(exchange.mode),
      codeLabel(exchange.status),
    ]);
    const upstream = Math.max(0, upstreamMs) / 1000;
    row.count += times;
    row.calls += exchange.calls.length;
    row.requestBytes += Math.max(0, exchange.requestBytes);
    row.responseBytes += Math.max(0, exchange.responseBytes);
    row.upstreamSeconds += upstream;
    // Overlapping calls add up to more than the time that passed: own time then counts as none.
    row.ownSeconds += Math.max(0, seconds - upstream);
    if (exchange.aborted) row.aborted++;
    for (let i = times; i > 0; i--) durations.observe(row.duration, seconds);
  };
}

/** Counts what requests did beyond their status: calls, lists, errors, fields. */
function createDetailCounts(make: MetricFactory, labels: ResourceLabels): (exchange: Exchange) => void {
  const pages = make.histogram("list_pages", PAGES);
  const records = make.histogram("list_records", RECORDS);
  const upstreamCalls = make.counted("upstream_requests_total");
  const lists = make.counted("lists_total");
  const problems = make.counted("problems_total", Object.keys(PROBLEMS));
  const notes = make.counted("notes_total");
  const rpcs = make.counted("grpc_requests_total");
  const unknown = make.counted("unknown_fields_total");
  const defaulted = make.counted("update_defaulted_fields_total");
  const mismatches = make.counted("update_mismatches_total");
  return (exchange) => {
    const { list, reason, times = 1 } = exchange;
    const resource = labels.resource(exchange.resource);
    if (exchange.rpc !== undefined) rpcs.at(rpcLabels(exchange.rpc)).count++;
    for (const call of exchange.calls) {
      upstreamCalls.at([upstreamLabel(call.upstream), codeLabel(call.status)]).count++;
    }
    if (list !== undefined) {
      lists.at([resource, witnessLabel(list.witness), outcomeLabel(list.outcome)]).count++;
      pages.observe(list.pages);
      records.observe(list.records);
    }
    if (reason !== undefined) problems.at([reasonLabel(reason)]).count += times;
    for (const note of exchange.notes) notes.at([wordLabel(note)]).count += times;
    for (const { direction } of distinctFields(exchange)) unknown.at([resource, directionLabel(direction)]).count++;
    for (const field of exchange.defaultedFields) defaulted.at([resource, wordLabel(field)]).count++;
    for (const field of exchange.mismatches) mismatches.at([resource, wordLabel(field)]).count++;
  };
}

function exportState(make: MetricFactory, options: MetricsOptions): void {
  const { lists, upstreams } = options;
  const perUpstream = (states: UpstreamStates) => (): LabelledValue[] =>
    Array.from(states(), ([name, state]) => [[upstreamLabel(name)], Number(state)]);
  make.gauge("in_flight_requests", options.inFlight);
  make.gauge("in_flight_requests_limit", () => options.inFlightLimit);
  make.gauge("held_bytes", options.heldBytes);
  make.gauge("ready", () => Number(options.ready()));
  make.gauge("lists_in_progress", () => lists().reading);
  make.gauge("lists_waiting", () => lists().waiting);
  make.gauge("upstream_breaker_open", perUpstream(upstreams.breakers));
  make.gauge("upstream_certificates_last_reload_successful", perUpstream(upstreams.certificates));
  make.counter("events_total", () => Array.from(options.events(), ([kind, count]) => [[kind], count]));
  const { recording } = options;
  make.counter("recording_lines_total", () => [[[], recording().lines]]);
  make.counter("recording_bytes_total", () => [[[], recording().bytes]]);
  make.counter("recording_left_out_total", () => [
    [["rate"], recording().beyondRate],
    [["disk"], recording().dropped],
  ]);
  make.gauge("recording_failing", () => Number(recording().isFailing));
  make.counter("log_lines_dropped_total", () => [[[], options.droppedLogLines()]]);
  make.gauge("build_info", () => [[[options.version, process.version], 1]]);
}

/** Exports the queues of calls by upstream and kind, and what limits the reading of v2's pages. */
function exportQueues(make: MetricFactory, queues: ReadonlyMap<Upstream, Pick<CallQueue, "state">>): void {
  const perKind = (read: (state: CallQueueState) => Iterable<readonly [kind: string, value: number]>) =>
    function* (): Iterable<LabelledValue> {
      for (const [upstream, { state }] of queues)
        for (const [kind, value] of read(state())) yield [[upstream, kind], value];
    };
  const waits = (read: "count" | "seconds") =>
    perKind((state) => Object.entries(state.waits).map(([kind, wait]) => [kind, wait[read]]));
  make.gauge(
    "queue_waiting",
    perKind(({ waiting }) => Object.entries(waiting)),
  );
  make.counter("queue_calls_total", waits("count"));
  make.counter("queue_wait_seconds_total", waits("seconds"));
  make.gauge("queue_longest_wait_seconds", () =>
    Array.from(queues, ([upstream, { state }]) => [[upstream], state().longestMs / 1000]),
  );
  const gauges = [
    ["list_readers_limit", ({ limit }: CallQueueState) => limit],
    ["list_readers", ({ reading }: CallQueueState) => reading],
    ["list_readers_waiting", ({ waiting }: CallQueueState) => waiting.page],
    // The platform pauses everybody or one credential: with a single client only the latter would show.
    ["list_readers_paused_seconds", ({ gatedMs, pausedMs }: CallQueueState) => Math.max(gatedMs, pausedMs) / 1000],
  ] as const;
  for (const [name, read] of gauges) {
    make.gauge(name, () => {
      const state = queues.get("v2")?.state();
      return state === undefined ? [] : read(state);
    });
  }
}
