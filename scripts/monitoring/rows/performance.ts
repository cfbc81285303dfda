/** Panels of the performance dashboard: where time goes, what waits, and what the processes use. */
import { lines } from "../panels.ts";
import { OF, perPod, quantiles, rate } from "../queries.ts";

const quantile = (share: number) =>
  `histogram_quantile(${share}, ${rate("carryover_request_duration_seconds_bucket", "mode, le", ',api_version="v1"')})`;

export const time = {
  title: "Time and load",
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
      title: "Calls that operations need",
      description:
        "The ten operations of v1 that need the most calls to upstreams for each request, by what serves them. A translated list needs one for each page of v2. Comparisons are not counted.",
      unit: "short",
      queries: [
        [
          `topk(10, ${rate("carryover_request_calls_total", "resource, operation, mode", ',api_version="v1"')} / (${rate("carryover_requests_total", "resource, operation, mode", ',api_version="v1"')} > 0))`,
          "{{resource}} {{operation}} {{mode}}",
        ],
      ],
    }),
    lines({
      title: "Requests under way",
      description: "Requests under way on each instance, and how many may be (limits.inFlight).",
      unit: "short",
      queries: [
        [perPod(`carryover_in_flight_requests{${OF}}`), "{{pod}}"],
        [`min(carryover_in_flight_requests_limit{${OF}})`, "limit"],
      ],
    }),
    lines({
      title: "Held bytes",
      description:
        "Bytes of bodies that each instance holds for clients, and for comparisons. limits.memoryBytes bounds either: beyond it reading waits, and requests are not compared.",
      unit: "bytes",
      queries: [
        [perPod(`carryover_held_bytes{${OF}}`), "{{pod}} clients"],
        [perPod(`carryover_comparisons_held_bytes{${OF}}`), "{{pod}} comparisons"],
      ],
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

export const queue = {
  title: "Queue, long lists and comparisons",
  panels: [
    lines({
      title: "Pages of a list",
      description: "v2 pages that one v1 list took.",
      unit: "short",
      queries: quantiles("carryover_list_pages"),
    }),
    lines({
      title: "Records of a list",
      description: "Records of one v1 list. lists.maxRecords is the ceiling; the histogram ends at 120,000.",
      unit: "short",
      queries: quantiles("carryover_list_records"),
    }),
    lines({
      title: "Pages being read",
      description:
        "Pages read at a time, waiting to be, and how many may be: the limit falls when the platform is slow or refuses.",
      unit: "short",
      queries: [
        [`sum(carryover_list_readers{${OF}})`, "read"],
        [`sum(carryover_list_readers_waiting{${OF}})`, "waiting"],
        [`sum(carryover_list_readers_limit{${OF}})`, "limit"],
      ],
    }),
    lines({
      title: "Calls in the queue",
      description: "Calls to an upstream that wait for a place, by kind.",
      unit: "short",
      queries: [[`sum by (upstream, kind) (carryover_queue_waiting{${OF}})`, "{{upstream}} {{kind}}"]],
    }),
    lines({
      title: "Wait in the queue",
      description:
        "Mean wait of a call to an upstream for its place, by kind; background are comparisons, which have idle places only.",
      unit: "s",
      queries: [
        [
          `${rate("carryover_queue_wait_seconds_total", "upstream, kind")} / ${rate("carryover_queue_calls_total", "upstream, kind")}`,
          "{{upstream}} {{kind}}",
        ],
        [`max by (upstream) (carryover_queue_longest_wait_seconds{${OF}})`, "{{upstream}} longest"],
      ],
    }),
    lines({
      title: "Readers paused",
      description:
        "What is left of the platform's Retry-After, on each instance. Often above 0: lower lists.readersPerUpstream.",
      unit: "s",
      queries: [[perPod(`carryover_list_readers_paused_seconds{${OF}}`), "{{pod}}"]],
    }),
    lines({
      title: "Long lists",
      description: "Lists of more than one page under way, and waiting for their turn (lists.maxConcurrent).",
      unit: "short",
      queries: [
        [`sum(carryover_lists_in_progress{${OF}})`, "under way"],
        [`sum(carryover_lists_waiting{${OF}})`, "waiting"],
      ],
      steps: [
        [null, "green"],
        [16, "orange"],
      ],
    }),
    lines({
      title: "Comparisons under way",
      description:
        "Comparisons under way and waiting; shadow.concurrent is the bound of the first, twice as many of the second.",
      unit: "short",
      queries: [
        [`sum(carryover_comparisons_in_progress{${OF}})`, "under way"],
        [`sum(carryover_comparisons_waiting{${OF}})`, "waiting"],
      ],
    }),
  ],
};

export const processes = {
  title: "Processes",
  panels: [
    lines({
      title: "Memory",
      description: "Resident memory of each instance, and its heap in use. Bodies are outside of the heap.",
      unit: "bytes",
      queries: [
        [perPod(`carryover_process_resident_memory_bytes{${OF}}`), "{{pod}} resident"],
        [perPod(`carryover_nodejs_heap_size_used_bytes{${OF}}`), "{{pod}} heap"],
      ],
    }),
    lines({
      title: "CPU",
      description: "Cores that each instance uses. Node uses one for its work; near 1 it is full: add instances.",
      unit: "short",
      queries: [[perPod(`rate(carryover_process_cpu_seconds_total{${OF}}[$__rate_interval])`), "{{pod}}"]],
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
      queries: [[perPod(`carryover_nodejs_eventloop_lag_p99_seconds{${OF}}`), "{{pod}}"]],
      steps: [
        [null, "green"],
        [0.25, "red"],
      ],
    }),
    lines({
      title: "Garbage collection",
      description: "Share of time that each instance spends in collecting garbage.",
      unit: "percentunit",
      queries: [[perPod(rate("carryover_nodejs_gc_duration_seconds_sum", "pod, instance")), "{{pod}}"]],
    }),
    lines({
      title: "Open files and connections",
      width: 16,
      description: "Open file descriptors of each instance, and the least limit.",
      unit: "short",
      queries: [
        [perPod(`carryover_process_open_fds{${OF}}`), "{{pod}}"],
        [`min(carryover_process_max_fds{${OF}})`, "limit"],
      ],
    }),
  ],
};
