/** Every metric that carryover exposes; `docs/metrics.md` is generated from it. */

import { COMPARISON_FAILURES, SKIP_REASONS } from "../model/comparison.ts";
import { EVENT_KINDS } from "../model/event.ts";

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly unit: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** The most series of one instance; of a histogram, sets of labels, each with its buckets. */
  readonly series: number | string;
}

const metric =
  <const Type extends MetricDefinition["type"]>(type: Type) =>
  <const Series extends number | string = 1>(
    unit: string,
    help: string,
    labels: readonly string[] = [],
    series: Series = 1 as Series,
  ) => ({ type, unit, help, labels, series });
const counter = metric("counter");
const gauge = metric("gauge");
const histogram = metric("histogram");

const VERSIONS = 4;
const PER_RULE = "one for each rule";
const PER_CLIENT = "`clients.metricSeries`, one for each configured name, and four";

/** Beyond the bound of series, resource and operation are `other`. */
const KINDS = ["api_version", "resource", "operation", "mode"] as const;
const FIELDS = ["resource", "field"] as const;

/** By name without the prefix. Operators build dashboards and alerts on these names, so they do not change. */
export const METRICS = {
  requests_total: counter(
    "requests",
    "Requests by response status, including refused and aborted ones",
    [...KINDS, "code"],
    1000,
  ),
  request_duration_seconds: histogram(
    "seconds",
    "Time from the arrival of a request to the end of its response",
    KINDS,
    200,
  ),
  grpc_requests_total: counter(
    "calls",
    "Calls over gRPC by status; a name is `unknown` until a descriptor or a successful call proves it",
    ["service", "method", "code"],
    1000,
  ),
  request_bytes_total: counter("bytes", "Bytes of request bodies", ["api_version"], VERSIONS),
  response_bytes_total: counter("bytes", "Bytes of response bodies", ["api_version"], VERSIONS),
  upstream_seconds_total: counter("seconds", "Time spent waiting for upstreams", ["api_version"], VERSIONS),
  own_seconds_total: counter(
    "seconds",
    "Time spent in carryover itself and in sending to slow clients",
    ["api_version"],
    VERSIONS,
  ),
  aborted_requests_total: counter("requests", "Requests whose client left early", ["api_version"], VERSIONS),
  request_calls_total: counter("calls", "Calls to upstreams that requests needed, by kind of request", KINDS, 200),
  upstream_requests_total: counter("calls", "Calls to upstreams; code none: no response", ["upstream", "code"], 200),
  upstream_breaker_open: gauge(
    "boolean",
    "1 while the circuit breaker fails calls to the upstream at once",
    ["upstream"],
    3,
  ),
  upstream_certificates_last_reload_successful: gauge(
    "boolean",
    "1 if the certificate files were usable when last read; only for upstreams that have such files",
    ["upstream"],
    3,
  ),
  in_flight_requests: gauge("requests", "Requests in progress"),
  in_flight_requests_limit: gauge("requests", "Most requests in progress at a time; further ones get 503"),
  held_bytes: gauge("bytes", "Bytes of bodies held for clients, at most `limits.memoryBytes`"),
  problems_total: counter("errors", "Errors that carryover itself returned", ["reason"], 100),
  notes_total: counter("events", "Deviations and other events worth counting", ["note"], 100),

  lists_total: counter(
    "lists",
    "Drained lists by what was proved and how they ended",
    ["resource", "witness", "outcome"],
    400,
  ),
  list_pages: histogram("pages", "Pages of a drained list"),
  list_records: histogram("records", "Records of a drained list"),
  queue_waiting: gauge("calls", "Calls that wait in the queue", ["upstream", "kind"], 9),
  queue_calls_total: counter("calls", "Calls that left the queue to be sent", ["upstream", "kind"], 9),
  queue_wait_seconds_total: counter("seconds", "Time that those calls waited", ["upstream", "kind"], 9),
  queue_longest_wait_seconds: gauge("seconds", "Wait so far of the call that has waited longest", ["upstream"], 3),
  lists_in_progress: gauge("lists", "Long lists being read"),
  lists_waiting: gauge("lists", "Long lists that wait to be read"),
  list_readers: gauge("pages", "Pages being read"),
  list_readers_waiting: gauge("pages", "Pages that wait to be read"),
  list_readers_limit: gauge("pages", "Most pages read at a time; falls when the platform is slow or refuses"),
  list_readers_paused_seconds: gauge(
    "seconds",
    "Longest remaining pause of page reads because of Retry-After, for all credentials or one",
  ),

  unknown_fields_total: counter(
    "fields",
    "Fields that the catalogue does not know, each once per request",
    ["resource", "direction"],
    200,
  ),
  update_defaulted_fields_total: counter("fields", "Fields that a PUT set to zero by leaving them out", FIELDS, 400),
  update_mismatches_total: counter("fields", "Fields that the platform did not store as asked", FIELDS, 400),

  client_requests_total: counter(
    "requests",
    "Requests by client: a configured name, a keyed hash, or other",
    ["client", "api_version"],
    `${PER_CLIENT}; each once for \`v1\` and once for \`v2\``,
  ),
  client_errors_total: counter(
    "requests",
    "Failed v1 requests by client and by who was at fault",
    ["client", "fault"],
    `${PER_CLIENT}; each once for each fault`,
  ),
  client_last_v1_request_timestamp_seconds: gauge(
    "seconds",
    "When a client last called v1 since this process started",
    ["client"],
    PER_CLIENT,
  ),
  clients: gauge("clients", "Clients in the ledger by the version that they call", ["api_version"], 2),
  state_last_save_successful: gauge("boolean", "0 if state.dir cannot be written, else 1"),
  state_store_up: gauge("boolean", "0 if the store at state.url does not respond, else 1"),

  comparisons_total: counter(
    "comparisons",
    "Native responses compared with translated ones, by the worst difference",
    ["resource", "operation", "result"],
    600,
  ),
  comparison_failures_total: counter(
    "comparisons",
    "Comparisons that could not be made, by reason",
    ["reason"],
    COMPARISON_FAILURES.length,
  ),
  comparisons_skipped_total: counter(
    "requests",
    "Sampled requests that were not compared, by reason",
    ["reason"],
    SKIP_REASONS.length,
  ),
  comparison_calls_total: counter("calls", "Calls to upstreams made for comparisons", ["upstream"], 2),
  comparisons_in_progress: gauge("comparisons", "Comparisons in progress"),
  comparisons_waiting: gauge("comparisons", "Comparisons that wait to be made"),
  comparisons_held_bytes: gauge("bytes", "Bytes held for comparisons"),

  rules_force: gauge(
    "boolean",
    "1 for the mode that the rules file or `carryover force` forces on all requests, else 0",
    ["mode"],
    2,
  ),
  guard_calls_total: counter("calls", "Reads that v2 failed, repeated on native v1, by what it did", ["outcome"], 3),
  reads_after_v2_total: counter(
    "requests",
    "Reads served by native v1 in the request that v2 failed (`onFailure`)",
    ["rule"],
    500,
  ),
  rule_mode: gauge("boolean", "1 for the current mode of the rule", ["rule", "mode"], PER_RULE),
  rule_state: gauge(
    "boolean",
    "1 for forward, back, returning or unknown (its saved state cannot be read)",
    ["rule", "state"],
    PER_RULE,
  ),
  rule_requests: gauge(
    "requests",
    "Translated requests that count as evidence since the rule was last changed",
    ["rule"],
    PER_RULE,
  ),
  rule_failures: gauge("requests", "Requests among those that failed because of translation", ["rule"], PER_RULE),
  rule_comparisons: gauge("comparisons", "Comparisons that rule_difference_bound is computed from", ["rule"], PER_RULE),
  rule_differences: gauge("comparisons", "Comparisons among those that found a difference", ["rule"], PER_RULE),
  rule_difference_bound: gauge("share", "Upper bound (95 %) of the share of responses that differ", ["rule"], PER_RULE),
  rule_step_backs: gauge("events", "Rollbacks since the rule was last changed", ["rule"], PER_RULE),
  rule_v2_failures: gauge(
    "requests",
    "Requests that v2 failed since it began to fail clients of the rule, by how; no series while it does not",
    ["rule", "kind"],
    PER_RULE,
  ),
  rule_v2_slow: gauge(
    "ratio",
    "95th percentile of v2 to that of native v1, where v2 is at least three times and 500 ms slower; no series otherwise",
    ["rule"],
    PER_RULE,
  ),
  rule_could_move: gauge("boolean", "1 if promoteWhen is met", ["rule"], PER_RULE),
  rule_expired: gauge("boolean", "1 if the rule has expired", ["rule"], PER_RULE),
  brownout_running: gauge("boolean", "1 while the rule with mode brownout refuses v1", ["rule"], 10),
  brownout_stopped: gauge(
    "boolean",
    "1 while the window of the brownout is open, and it refuses nothing: it was stopped, or did not start",
    ["rule"],
    10,
  ),
  brownout_refused_total: counter("requests", "Requests to v1 that brownouts refused", ["rule"], 10),

  config_last_reload_successful: gauge("boolean", "1 if the rules file was usable when last read"),
  config_last_reload_successful_timestamp_seconds: gauge(
    "seconds",
    "When the rules file was last read successfully; 0 without one",
  ),
  config_hash: gauge("number", "Hash of the rules in force, for comparing instances; 0 without a rules file"),

  events_total: counter(
    "events",
    "What happened to the migration since this process started (`carryover events`)",
    ["kind"],
    EVENT_KINDS.length,
  ),
  ready: gauge("boolean", "1 while /readyz returns 200"),
  recording_lines_total: counter("lines", "Lines written to record.file"),
  recording_bytes_total: counter("bytes", "Bytes written to record.file"),
  recording_left_out_total: counter(
    "requests",
    "Requests to v1 missing in the recording: beyond record.perSecond (rate), or since the file could not be written (disk)",
    ["why"],
    2,
  ),
  recording_failing: gauge("boolean", "1 while record.file cannot be written"),
  log_lines_dropped_total: counter("lines", "Log lines dropped because the output was blocked"),
  build_info: gauge("boolean", "Always 1; the labels name the versions that are running", ["version", "node"]),
} as const;

export type MetricName = keyof typeof METRICS;

const eventLoopLag = (which: string): MetricDefinition =>
  gauge("seconds", `${which} event loop delay since the last scrape`);
const heapSpace = (which: string): MetricDefinition =>
  gauge("bytes", `${which} of each space of the heap`, ["space"], 12);

/** What prom-client collects about the process and Node.js, by name without the prefix, described in carryover's words. */
export const NODE_METRICS: Readonly<Record<string, MetricDefinition>> = {
  process_cpu_user_seconds_total: counter("seconds", "CPU time spent in user code"),
  process_cpu_system_seconds_total: counter("seconds", "CPU time spent in the kernel"),
  process_cpu_seconds_total: counter("seconds", "CPU time spent in user code and in the kernel"),
  process_start_time_seconds: gauge("seconds", "When the process started, since 1970"),
  process_resident_memory_bytes: gauge("bytes", "Resident memory of the process"),
  process_virtual_memory_bytes: gauge("bytes", "Virtual memory of the process"),
  process_heap_bytes: gauge("bytes", "Data segment of the process"),
  process_open_fds: gauge("files", "Open file descriptors"),
  process_max_fds: gauge("files", "Most open file descriptors"),
  nodejs_eventloop_lag_seconds: gauge("seconds", "Event loop delay, measured once at the scrape"),
  nodejs_eventloop_lag_min_seconds: eventLoopLag("Least"),
  nodejs_eventloop_lag_max_seconds: eventLoopLag("Greatest"),
  nodejs_eventloop_lag_mean_seconds: eventLoopLag("Mean"),
  nodejs_eventloop_lag_stddev_seconds: eventLoopLag("Standard deviation of the"),
  nodejs_eventloop_lag_p50_seconds: eventLoopLag("Median"),
  nodejs_eventloop_lag_p90_seconds: eventLoopLag("90th percentile of the"),
  nodejs_eventloop_lag_p99_seconds: eventLoopLag("99th percentile of the"),
  nodejs_active_resources: gauge(
    "resources",
    "Resources that keep the process alive: sockets, timers, requests",
    ["type"],
    20,
  ),
  nodejs_heap_size_total_bytes: gauge("bytes", "Size of the heap"),
  nodejs_heap_size_used_bytes: gauge("bytes", "Bytes of the heap in use"),
  nodejs_external_memory_bytes: gauge("bytes", "Bytes outside the heap, such as bodies of requests and responses"),
  nodejs_heap_space_size_total_bytes: heapSpace("Size"),
  nodejs_heap_space_size_used_bytes: heapSpace("Bytes used"),
  nodejs_heap_space_size_available_bytes: heapSpace("Bytes free"),
  nodejs_version_info: gauge("boolean", "Always 1; the labels name the version of Node.js", [
    "version",
    "major",
    "minor",
    "patch",
  ]),
  nodejs_gc_duration_seconds: histogram("seconds", "Time spent in garbage collection", ["kind"], 4),
};
