/** What is said of each metric? */
import * as label from "./metric-labels.ts";
import { KIND, type LabelDefinition, SEMVER, SPACE, TYPE } from "./metric-labels.ts";

/** One metric. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly unit: string;
  readonly help: string;
  readonly labels: readonly LabelDefinition[];
  /** Most series of one instance (of a histogram: sets of labels, each of them with its buckets). */
  readonly series: number | string;
}

interface TypedMetricDefinition<Type, Labels, Series> {
  readonly type: Type;
  readonly unit: string;
  readonly help: string;
  readonly labels: Labels;
  readonly series: Series;
}

export const counter = <const Labels extends readonly LabelDefinition[], const Series extends number | string>(
  unit: string,
  help: string,
  labels: Labels,
  series: Series,
): TypedMetricDefinition<"counter", Labels, Series> => ({ type: "counter", unit, help, labels, series });

export const histogram = <const Labels extends readonly LabelDefinition[], const Series extends number | string>(
  unit: string,
  help: string,
  labels: Labels,
  series: Series,
): TypedMetricDefinition<"histogram", Labels, Series> => ({ type: "histogram", unit, help, labels, series });

/** One series without labels unless said otherwise. */
export const gauge = (
  unit: string,
  help: string,
  labels: readonly LabelDefinition[] = [],
  series: number | string = 1,
): MetricDefinition & { readonly type: "gauge" } => ({ type: "gauge", unit, help, labels, series });

/** Which metrics does carryover count itself, and what does each of them say? */

const VERSIONS = 4;
const PER_RULE = "one a rule";
const PER_CLIENT = "`clients.metricSeries`, one for each configured name, and four";

/** Kinds of requests that are counted apart; the bytes and times of all others are those of `other`. */
const KINDS = [label.API_VERSION, label.RESOURCE, label.OPERATION, label.MODE] as const;
const FIELDS = [label.RESOURCE, label.FIELD] as const;

/** By name without its prefix, in the order in which they are shown. Names are part of what operators build on: none changes. */
export const METRICS = {
  requests_total: counter("requests", "Requests answered, refused or abandoned", [...KINDS, label.CODE], 1000),
  request_duration_seconds: histogram(
    "seconds",
    "Time from the arrival of a request to the end of its answer",
    KINDS,
    200,
  ),
  request_bytes_total: counter("bytes", "Bytes of request bodies", [label.API_VERSION], VERSIONS),
  response_bytes_total: counter("bytes", "Bytes of answers' bodies", [label.API_VERSION], VERSIONS),
  upstream_seconds_total: counter("seconds", "Time spent waiting for upstreams", [label.API_VERSION], VERSIONS),
  own_seconds_total: counter(
    "seconds",
    "Time spent in carryover itself, and in sending to slow clients",
    [label.API_VERSION],
    VERSIONS,
  ),
  aborted_requests_total: counter("requests", "Requests whose client left early", [label.API_VERSION], VERSIONS),
  upstream_requests_total: counter(
    "calls",
    "Calls to upstreams; code none: no answer",
    [label.UPSTREAM, label.CODE],
    200,
  ),
  upstream_breaker_open: gauge(
    "boolean",
    "1 while calls to the upstream fail at once, since it answers nobody",
    [label.UPSTREAM],
    3,
  ),
  upstream_certificates_last_reload_successful: gauge(
    "boolean",
    "1 when the files of its certificates, as last read, were usable; only of upstreams that have some",
    [label.UPSTREAM],
    3,
  ),
  in_flight_requests: gauge("requests", "Requests under way"),
  in_flight_requests_limit: gauge("requests", "Requests that may be under way at a time; further ones get 503"),
  held_bytes: gauge("bytes", "Bytes of bodies held for clients, of `limits.memoryBytes` at most"),
  problems_total: counter("errors", "Errors of carryover's own", [label.PROBLEM], 100),
  notes_total: counter("events", "Deviations and other events worth counting", [label.NOTE], 100),

  lists_total: counter(
    "lists",
    "Drained lists by what they prove",
    [label.RESOURCE, label.WITNESS, label.OUTCOME],
    400,
  ),
  list_pages: histogram("pages", "Pages of a drained list", [], 1),
  list_records: histogram("records", "Records of a drained list", [], 1),
  queue_waiting: gauge("calls", "Calls to the upstream that wait for a place", [label.UPSTREAM, label.WORK], 9),
  queue_calls_total: counter("calls", "Calls that got a place", [label.UPSTREAM, label.WORK], 9),
  queue_wait_seconds_total: counter("seconds", "Time that they waited for it", [label.UPSTREAM, label.WORK], 9),
  queue_longest_wait_seconds: gauge("seconds", "How long the call that waits longest has waited", [label.UPSTREAM], 3),
  lists_in_progress: gauge("lists", "Long lists being read"),
  lists_waiting: gauge("lists", "Long lists that wait for their turn"),
  list_readers: gauge("pages", "Pages being read"),
  list_readers_waiting: gauge("pages", "Pages that wait to be read"),
  list_readers_limit: gauge("pages", "Pages that may be read at a time; falls when the platform is slow or refuses"),
  list_readers_paused_seconds: gauge(
    "seconds",
    "Longest time until page reads go on that rest because of Retry-After: those of all, or of one credential",
  ),

  unknown_fields_total: counter(
    "fields",
    "Fields that are in no row, each once a request",
    [label.RESOURCE, label.DIRECTION],
    200,
  ),
  update_defaulted_fields_total: counter("fields", "Fields that a PUT left out and so set to zero", FIELDS, 400),
  update_mismatches_total: counter("fields", "Fields that the platform did not store as asked", FIELDS, 400),

  client_requests_total: counter(
    "requests",
    "Requests by client: a configured name or a keyed hash, the rest other",
    [label.CLIENT, label.CALLED],
    `${PER_CLIENT}; each once for \`v1\` and once for \`v2\``,
  ),
  client_last_v1_request_timestamp_seconds: gauge(
    "seconds",
    "When a client last called v1, since this process began",
    [label.CLIENT],
    PER_CLIENT,
  ),
  clients: gauge("clients", "Clients in the ledger by the version that they call", [label.CALLED], 2),
  ledger_last_save_successful: gauge("boolean", "1 unless the ledger's file cannot be read or written"),

  comparisons_total: counter(
    "comparisons",
    "Native answers compared with translated ones, by the worst difference",
    [label.RESOURCE, label.OPERATION, label.RESULT],
    600,
  ),
  comparison_failures_total: counter(
    "comparisons",
    "Comparisons that could not be made, by reason",
    [label.FAILURE],
    15,
  ),
  comparisons_skipped_total: counter(
    "requests",
    "Sampled requests that were not compared: no place (busy), or their answers say nothing; by reason",
    [label.PASSED],
    4,
  ),
  comparison_calls_total: counter("calls", "Calls to upstreams that were made to compare", [label.UPSTREAM], 2),
  comparisons_in_progress: gauge("comparisons", "Comparisons under way"),
  comparisons_waiting: gauge("comparisons", "Comparisons that wait for their turn"),
  comparisons_held_bytes: gauge("bytes", "Bytes held for comparisons"),

  rules_force: gauge(
    "boolean",
    "1 for what the rules file forces on all requests, 0 for what it does not",
    [label.FORCED],
    2,
  ),
  rule_mode: gauge("boolean", "1 for what the rule does at present", [label.RULE, label.RULE_MODE], PER_RULE),
  rule_state: gauge("boolean", "1 for forward, back or returning", [label.RULE, label.RULE_STATE], PER_RULE),
  rule_requests: gauge(
    "requests",
    "Translated requests that speak for or against the translation, since the rule is as it is",
    [label.RULE],
    PER_RULE,
  ),
  rule_failures: gauge("requests", "Of those, failed because of translation", [label.RULE], PER_RULE),
  rule_comparisons: gauge("comparisons", "Comparisons that its bound rests on", [label.RULE], PER_RULE),
  rule_differences: gauge("comparisons", "Of those, with a difference", [label.RULE], PER_RULE),
  rule_difference_bound: gauge("share", "Share of answers that differ at most (95 %)", [label.RULE], PER_RULE),
  rule_step_backs: gauge("events", "How often it stepped back since it is as it is", [label.RULE], PER_RULE),
  rule_could_move: gauge("boolean", "1 when its promoteWhen is met", [label.RULE], PER_RULE),
  rule_expired: gauge("boolean", "1 when it matches nothing any more", [label.RULE], PER_RULE),

  config_last_reload_successful: gauge("boolean", "1 when the rules file, as last read, was usable"),
  config_last_reload_successful_timestamp_seconds: gauge(
    "seconds",
    "When rules were last read with success; 0 without a rules file",
  ),
  config_hash: gauge("number", "Stands for the rules in force: equal where they are; 0 without a rules file"),

  ready: gauge("boolean", "1 while /readyz says 200"),
  log_lines_dropped_total: counter("lines", "Log lines lost because their sink was blocked", [], 1),
  build_info: gauge("boolean", "Always 1; the labels say what is running", [label.VERSION_LABEL, label.NODE_VERSION]),
} as const;

export type MetricName = keyof typeof METRICS;

/** What do metrics say of the process and of Node? (As the client library counts it; here is which of it, and what it means.) */

const nodeCounter = (unit: string, help: string): MetricDefinition => ({
  type: "counter",
  unit,
  help,
  labels: [],
  series: 1,
});
const eventLoopLag = (which: string): MetricDefinition =>
  gauge("seconds", `${which} of the event loop's delay since it was last asked for`);
const heapSpace = (which: string): MetricDefinition =>
  gauge("bytes", `Bytes of each part of the heap: ${which}`, [SPACE], 12);

/** By name without its prefix. */
export const NODE_METRICS: Readonly<Record<string, MetricDefinition>> = {
  process_cpu_user_seconds_total: nodeCounter("seconds", "CPU time spent in user code"),
  process_cpu_system_seconds_total: nodeCounter("seconds", "CPU time spent in the kernel"),
  process_cpu_seconds_total: nodeCounter("seconds", "CPU time, both together"),
  process_start_time_seconds: gauge("seconds", "When the process began, since 1970"),
  process_resident_memory_bytes: gauge("bytes", "Memory that the process occupies"),
  process_virtual_memory_bytes: gauge("bytes", "Addresses that it has reserved"),
  process_heap_bytes: gauge("bytes", "Its data segment"),
  process_open_fds: gauge("files", "Open files and connections"),
  process_max_fds: gauge("files", "How many may be open"),
  nodejs_eventloop_lag_seconds: gauge("seconds", "The event loop's delay, measured once when asked for"),
  nodejs_eventloop_lag_min_seconds: eventLoopLag("The least"),
  nodejs_eventloop_lag_max_seconds: eventLoopLag("The most"),
  nodejs_eventloop_lag_mean_seconds: eventLoopLag("The mean"),
  nodejs_eventloop_lag_stddev_seconds: eventLoopLag("The standard deviation"),
  nodejs_eventloop_lag_p50_seconds: eventLoopLag("The median"),
  nodejs_eventloop_lag_p90_seconds: eventLoopLag("The 90th percentile"),
  nodejs_eventloop_lag_p99_seconds: eventLoopLag("The 99th percentile"),
  nodejs_active_resources: gauge("resources", "What keeps the process alive: sockets, timers, requests", [TYPE], 20),
  nodejs_heap_size_total_bytes: gauge("bytes", "Size of the heap"),
  nodejs_heap_size_used_bytes: gauge("bytes", "Of that, used"),
  nodejs_external_memory_bytes: gauge("bytes", "Bytes outside of the heap: bodies of requests and answers"),
  nodejs_heap_space_size_total_bytes: heapSpace("its size"),
  nodejs_heap_space_size_used_bytes: heapSpace("used"),
  nodejs_heap_space_size_available_bytes: heapSpace("free"),
  nodejs_version_info: gauge("boolean", "Always 1; the labels say which Node is running", SEMVER),
  nodejs_gc_duration_seconds: histogram("seconds", "Time spent in collecting garbage", [KIND], 4),
};
