/** Panels about errors and the instances. */
import { lines, NO_YES, stat, table } from "../panels.ts";
import { OF, perPod, rate } from "../queries.ts";

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
        "Of all requests: failed because of carryover (critical above 1 %), and because the platform cannot be reached or does not respond (critical above 5 %); each from 10 in 15 minutes on.",
      unit: "percentunit",
      queries: [
        [
          `sum(rate(carryover_problems_total{${OF},reason=~"INTERNAL|LIST_UNPROVEN|DRAIN_INCOMPLETE|UPDATE_INCOMPLETE|UPSTREAM_INVALID"}[$__rate_interval])) / sum(rate(carryover_requests_total{${OF}}[$__rate_interval]))`,
          "carryover",
        ],
        [
          `sum(rate(carryover_problems_total{${OF},reason=~"UPSTREAM_UNREACHABLE|UPSTREAM_TIMEOUT|UPSTREAM_UNAVAILABLE|LOOP_DETECTED"}[$__rate_interval])) / sum(rate(carryover_requests_total{${OF}}[$__rate_interval]))`,
          "platform",
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
    lines(
      {
        title: "gRPC calls by code",
        description:
          "gRPC calls a second by code, of both versions. Empty: carryover has no gRPC port, or nobody calls it.",
        unit: "reqps",
        width: 12,
        noValue: "none",
        queries: [[rate("carryover_grpc_requests_total", "code"), "{{code}}"]],
      },
      { stacked: true, colours: { OK: "green" } },
    ),
    lines({
      title: "gRPC calls that fail",
      description:
        "The ten methods with most failures a second. RESOURCE_EXHAUSTED of a list: it is longer than grpc.maxResponseBytes. UNIMPLEMENTED has no method: no upstream serves such a call.",
      unit: "reqps",
      width: 12,
      noValue: "none",
      queries: [
        [
          `topk(10, ${rate("carryover_grpc_requests_total", "service, method, code", ',code!="OK"')})`,
          "{{service}}/{{method}} {{code}}",
        ],
      ],
    }),
    lines({
      title: "Clients that left, log lines lost",
      description: "Requests a second whose client did not wait, and log lines that nobody took.",
      unit: "ops",
      width: 24,
      queries: [
        [rate("carryover_aborted_requests_total", "api_version"), "left: {{api_version}}"],
        [perPod(rate("carryover_log_lines_dropped_total", "pod, instance")), "lines lost: {{pod}}"],
      ],
    }),
  ],
};

export const instances = {
  title: "Instances",
  panels: [
    stat({
      title: "Ready",
      description: "Instances that take requests (/readyz).",
      unit: "short",
      width: 6,
      queries: [[perPod(`carryover_ready{${OF}}`), "{{pod}}"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
      words: NO_YES,
    }),
    stat({
      title: "Running for",
      description: "Time since each process began.",
      unit: "s",
      width: 6,
      queries: [[perPod(`time() - carryover_process_start_time_seconds{${OF}}`), "{{pod}}"]],
    }),
    stat({
      title: "Restarts within an hour",
      description:
        "How often processes began anew within an hour. Without state.dir, what rules learnt and the ledger begin anew with them.",
      unit: "short",
      width: 6,
      queries: [[`sum(changes(carryover_process_start_time_seconds{${OF}}[1h]))`, "restarts"]],
      steps: [
        [null, "green"],
        [1, "yellow"],
        [3, "red"],
      ],
    }),
    stat({
      title: "State saved",
      description: "no: state.dir cannot be written on an instance; the log says why.",
      unit: "short",
      width: 6,
      queries: [[`min(carryover_state_last_save_successful{${OF}})`, "saved"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
      words: NO_YES,
    }),
    stat({
      title: "Shared store responds",
      description:
        "no: an instance cannot reach the store at state.url and decides alone; carryover status says why. Always yes without state.url.",
      unit: "short",
      width: 6,
      queries: [[`min(carryover_state_store_up{${OF}})`, "responds"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
      words: NO_YES,
    }),
    stat({
      title: "Certificates usable",
      description:
        "no: on an instance the files of an upstream's certificates cannot be used, and those before them are in force until they end. The log says why. Empty: no upstream has any.",
      unit: "short",
      width: 6,
      queries: [[`min by (upstream) (carryover_upstream_certificates_last_reload_successful{${OF}})`, "{{upstream}}"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
      words: NO_YES,
    }),
    table(
      {
        title: "Versions",
        description: "What runs where.",
        unit: "short",
        queries: [[perPod(`max by (pod, instance, version, node) (carryover_build_info{${OF}})`), ""]],
      },
      { pod: "Pod", instance: "Address", version: "carryover", node: "Node" },
    ),
  ],
};
