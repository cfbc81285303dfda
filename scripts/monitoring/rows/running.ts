/** Panels about errors, latency and the processes. */
import { lines, stat, table } from "../panels.ts";
import { OF } from "./progress.ts";

const rate = (metric: string, by: string, more = "") =>
  `sum by (${by}) (rate(${metric}{${OF}${more}}[$__rate_interval]))`;
const quantile = (share: number) =>
  `histogram_quantile(${share}, ${rate("carryover_request_duration_seconds_bucket", "mode, le", ',api_version="v1"')})`;

export const errors = {
  title: "Errors",
  panels: [
    lines(
      {
        title: "Answers by status",
        description: "Answers a second that are no success, by status and version. 499: the client left.",
        unit: "reqps",
        queries: [
          [rate("carryover_requests_total", "api_version, code", ',code!~"2..|3.."'), "{{api_version}} {{code}}"],
        ],
      },
      { stacked: true },
    ),
    lines(
      {
        title: "Errors of carryover's own",
        description:
          "Errors a second by reason. INTERNAL is a mistake of carryover's; UPSTREAM_… is the platform; the rest is what clients asked.",
        unit: "ops",
        queries: [[`${rate("carryover_problems_total", "reason")} > 0`, "{{reason}}"]],
      },
      { stacked: true },
    ),
    lines({
      title: "Share of failures",
      description:
        "Of all requests: failed because of carryover (critical above 1 %), and ended in 502, 504 or at the breaker (critical above 5 %); each from 10 in 15 minutes on.",
      unit: "percentunit",
      queries: [
        [
          `sum(rate(carryover_problems_total{${OF},reason=~"INTERNAL|LIST_UNPROVEN|DRAIN_INCOMPLETE|UPDATE_INCOMPLETE|UPSTREAM_INVALID"}[$__rate_interval])) / sum(rate(carryover_requests_total{${OF}}[$__rate_interval]))`,
          "carryover",
        ],
        [
          `(sum(rate(carryover_requests_total{${OF},code=~"502|504"}[$__rate_interval])) + sum(rate(carryover_problems_total{${OF},reason="UPSTREAM_UNAVAILABLE"}[$__rate_interval]))) / sum(rate(carryover_requests_total{${OF}}[$__rate_interval]))`,
          "502, 504, breaker",
        ],
      ],
      steps: [
        [null, "green"],
        [0.01, "orange"],
        [0.05, "red"],
      ],
    }),
    lines(
      {
        title: "Calls to upstreams",
        description: "Calls a second by upstream and status; none: no answer.",
        unit: "reqps",
        queries: [[rate("carryover_upstream_requests_total", "upstream, code"), "{{upstream}} {{code}}"]],
      },
      { stacked: true },
    ),
    lines(
      {
        title: "Upstreams that answer nobody",
        description:
          "Instances whose calls to the upstream fail at once, with 503 UPSTREAM_UNAVAILABLE, until it answers again. The log says since when.",
        unit: "short",
        queries: [[`sum by (upstream) (carryover_upstream_breaker_open{${OF}})`, "{{upstream}}"]],
      },
      { stacked: true },
    ),
    lines({
      title: "Notes",
      description: "Deviations and other events a second: what was dropped, joined, left alone or answered otherwise.",
      unit: "ops",
      queries: [[`topk(10, ${rate("carryover_notes_total", "note", ',note!~"list-.*"')})`, "{{note}}"]],
    }),
    lines({
      title: "Clients that left, log lines lost",
      description: "Requests a second whose client did not wait, and log lines that nobody took.",
      unit: "ops",
      queries: [
        [rate("carryover_aborted_requests_total", "api_version"), "left: {{api_version}}"],
        [rate("carryover_log_lines_dropped_total", "instance"), "lines lost: {{instance}}"],
      ],
    }),
  ],
};

export const performance = {
  title: "Performance",
  panels: [
    lines(
      {
        title: "Where the time of a v1 request goes",
        description:
          "Mean seconds of a v1 request spent waiting for the platform, and in carryover (slow readers of long lists included). Calls made at the same time are added up.",
        unit: "s",
        queries: [
          [
            `sum(rate(carryover_upstream_seconds_total{${OF},api_version="v1"}[$__rate_interval])) / sum(rate(carryover_requests_total{${OF},api_version="v1"}[$__rate_interval]))`,
            "platform",
          ],
          [
            `sum(rate(carryover_own_seconds_total{${OF},api_version="v1"}[$__rate_interval])) / sum(rate(carryover_requests_total{${OF},api_version="v1"}[$__rate_interval]))`,
            "carryover",
          ],
        ],
      },
      { stacked: true },
    ),
    lines({
      title: "Time of v1 requests",
      description:
        "From arrival to the end of the answer, by what serves them: median and 99th percentile. Compare native with translate.",
      unit: "s",
      queries: [
        [quantile(0.5), "{{mode}} p50"],
        [quantile(0.99), "{{mode}} p99"],
      ],
    }),
    lines({
      title: "Slowest operations",
      description: "The ten operations of v1 with the greatest mean time.",
      unit: "s",
      queries: [
        [
          `topk(10, ${rate("carryover_request_duration_seconds_sum", "resource, operation", ',api_version="v1"')} / (${rate("carryover_request_duration_seconds_count", "resource, operation", ',api_version="v1"')} > 0))`,
          "{{resource}} {{operation}}",
        ],
      ],
    }),
    lines({
      title: "Requests under way",
      description: "Requests under way on each instance, and how many may be (limits.inFlight).",
      unit: "short",
      queries: [
        [`carryover_in_flight_requests{${OF}}`, "{{instance}}"],
        [`min(carryover_in_flight_requests_limit{${OF}})`, "limit"],
      ],
    }),
    lines({
      title: "Near the limit",
      description: "Requests under way as a share of limits.inFlight, on each instance. Alert above 80 %.",
      unit: "percentunit",
      queries: [[`carryover_in_flight_requests{${OF}} / carryover_in_flight_requests_limit{${OF}}`, "{{instance}}"]],
      steps: [
        [null, "green"],
        [0.8, "red"],
      ],
    }),
    lines({
      title: "Held for clients",
      description: "Bytes of bodies held for clients on each instance. Beyond limits.memoryBytes reading waits.",
      unit: "bytes",
      queries: [[`carryover_held_bytes{${OF}}`, "{{instance}}"]],
    }),
    lines({
      title: "Bytes",
      description: "Bytes a second of request bodies and of answers, by version.",
      unit: "Bps",
      queries: [
        [rate("carryover_request_bytes_total", "api_version"), "{{api_version}} in"],
        [rate("carryover_response_bytes_total", "api_version"), "{{api_version}} out"],
      ],
    }),
  ],
};

export const instances = {
  title: "Instances",
  panels: [
    stat(
      {
        title: "Ready",
        description: "Instances that take requests (/readyz), by their address.",
        unit: "short",
        width: 6,
        queries: [[`carryover_ready{${OF}}`, "{{instance}}"]],
        steps: [
          [null, "red"],
          [1, "green"],
        ],
      },
      new Map([
        [0, "no"],
        [1, "yes"],
      ]),
    ),
    stat({
      title: "Running for",
      description: "Time since each process began.",
      unit: "s",
      width: 6,
      queries: [[`time() - carryover_process_start_time_seconds{${OF}}`, "{{instance}}"]],
    }),
    stat({
      title: "Restarts within an hour",
      description:
        "How often processes began anew within an hour. What rules learnt, and the ledger without clients.file, begin anew with them.",
      unit: "short",
      width: 6,
      queries: [[`sum(changes(carryover_process_start_time_seconds{${OF}}[1h]))`, "restarts"]],
      steps: [
        [null, "green"],
        [1, "yellow"],
        [3, "red"],
      ],
    }),
    stat(
      {
        title: "Ledger saved",
        description: "no: the file of clients.file cannot be read or written on an instance; the log says why.",
        unit: "short",
        width: 6,
        queries: [[`min(carryover_ledger_last_save_successful{${OF}})`, "saved"]],
        steps: [
          [null, "red"],
          [1, "green"],
        ],
      },
      new Map([
        [0, "no"],
        [1, "yes"],
      ]),
    ),
    stat(
      {
        title: "Certificates usable",
        description:
          "no: on an instance the files of an upstream's certificates cannot be used, and those before them are in force until they end. The log says why. Empty: no upstream has any.",
        unit: "short",
        width: 6,
        queries: [
          [`min by (upstream) (carryover_upstream_certificates_last_reload_successful{${OF}})`, "{{upstream}}"],
        ],
        steps: [
          [null, "red"],
          [1, "green"],
        ],
      },
      new Map([
        [0, "no"],
        [1, "yes"],
      ]),
    ),
    lines({
      title: "Memory",
      description: "Resident memory of each instance, and its heap in use. Bodies are outside of the heap.",
      unit: "bytes",
      queries: [
        [`carryover_process_resident_memory_bytes{${OF}}`, "{{instance}} resident"],
        [`carryover_nodejs_heap_size_used_bytes{${OF}}`, "{{instance}} heap"],
      ],
    }),
    lines({
      title: "CPU",
      description: "Cores that each instance uses. Node uses one for its work; near 1 it is full: add instances.",
      unit: "short",
      queries: [[`rate(carryover_process_cpu_seconds_total{${OF}}[$__rate_interval])`, "{{instance}}"]],
      steps: [
        [null, "green"],
        [0.9, "red"],
      ],
    }),
    lines({
      title: "Event loop delay",
      description:
        "How late the event loop is (99th percentile): above a tenth of a second requests wait for the processor.",
      unit: "s",
      queries: [[`carryover_nodejs_eventloop_lag_p99_seconds{${OF}}`, "{{instance}}"]],
      steps: [
        [null, "green"],
        [0.25, "red"],
      ],
    }),
    lines({
      title: "Garbage collection",
      description: "Share of time that each instance spends in collecting garbage.",
      unit: "percentunit",
      queries: [[rate("carryover_nodejs_gc_duration_seconds_sum", "instance"), "{{instance}}"]],
    }),
    lines({
      title: "Open files and connections",
      description: "Open file descriptors of each instance, and the least limit.",
      unit: "short",
      queries: [
        [`carryover_process_open_fds{${OF}}`, "{{instance}}"],
        [`min(carryover_process_max_fds{${OF}})`, "limit"],
      ],
    }),
    table(
      {
        title: "Versions",
        description: "What runs where.",
        unit: "short",
        width: 8,
        queries: [[`max by (instance, version, node) (carryover_build_info{${OF}})`, ""]],
      },
      { instance: "Instance", version: "carryover", node: "Node", Value: "" },
    ),
  ],
};
