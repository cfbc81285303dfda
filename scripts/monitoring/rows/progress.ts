/** Panels about the migration's progress. */
import { lines, stat, table } from "../panels.ts";

export const OF = 'namespace=~"$namespace",job=~"$job",instance=~"$instance"';
/** Of recording rules, which know no instance. */
export const OF_JOB = 'namespace=~"$namespace",job=~"$job"';
const CLIENT = `${OF},client=~"$client"`;

export const progress = {
  title: "Progress",
  panels: [
    stat({
      title: "v1 of all requests, 7 days",
      description:
        "Share of requests that still call v1, over the last 7 days (recording rule). The migration is over when it is 0.",
      unit: "percentunit",
      queries: [[`avg(job:carryover_v1_requests:ratio_rate7d{${OF_JOB}})`, "v1"]],
      steps: [
        [null, "green"],
        [0.05, "yellow"],
        [0.5, "orange"],
      ],
    }),
    stat({
      title: "Clients on v1, 7 days",
      description:
        "Clients with a series of their own that called v1 within 7 days (recording rule). /clients has all of them.",
      unit: "short",
      queries: [[`max(job:carryover_v1_clients:count7d{${OF_JOB}})`, "clients"]],
      steps: [
        [null, "green"],
        [1, "yellow"],
      ],
    }),
    stat({
      title: "Translated of v1, 1 day",
      description:
        "Share of v1 requests that carryover serves from v2, rather than native v1 (recording rule). At 1 native v1 can go.",
      unit: "percentunit",
      queries: [[`avg(job:carryover_translated_requests:ratio_rate1d{${OF_JOB}})`, "translated"]],
      steps: [
        [null, "orange"],
        [0.5, "yellow"],
        [0.99, "green"],
      ],
    }),
    stat({
      title: "v1 requests",
      description: "v1 requests a second, now.",
      unit: "reqps",
      queries: [[`sum(rate(carryover_requests_total{${OF},api_version="v1"}[$__rate_interval]))`, "v1"]],
    }),
    stat({
      title: "Clients in the ledger",
      description:
        "Clients that an instance's ledger knows, by the version that they call; the greatest of all instances.",
      unit: "short",
      queries: [[`max by (api_version) (carryover_clients{${OF}})`, "{{api_version}}"]],
    }),
    stat({
      title: "Instances",
      description: "Instances that report. Fewer than you run: see the alert CarryoverDown.",
      unit: "short",
      queries: [[`count(carryover_build_info{${OF}})`, "instances"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
    }),
    lines(
      {
        title: "Requests by version",
        description: "Requests a second by the version that they call: v1 shrinks, v2 grows.",
        unit: "reqps",
        queries: [
          [`sum by (api_version) (rate(carryover_requests_total{${OF}}[$__rate_interval]))`, "{{api_version}}"],
        ],
      },
      { stacked: true },
    ),
    lines(
      {
        title: "v1 by what serves it",
        description:
          "v1 requests a second by mode: native (the platform's v1), shadow (the same, compared), translate (carryover), refused.",
        unit: "reqps",
        queries: [
          [`sum by (mode) (rate(carryover_requests_total{${OF},api_version="v1"}[$__rate_interval]))`, "{{mode}}"],
        ],
      },
      { stacked: true },
    ),
    lines(
      {
        title: "v1 requests by client",
        description:
          "The ten clients that call v1 most. other: those without a series of their own (clients.metricSeries).",
        unit: "reqps",
        queries: [
          [
            `topk(10, sum by (client) (rate(carryover_client_requests_total{${CLIENT},api_version="v1"}[$__rate_interval])))`,
            "{{client}}",
          ],
        ],
      },
      { stacked: true },
    ),
    table(
      {
        title: "Clients left",
        description:
          "Every client that called v1 since the instances began: when last, and how many requests since then of v1 and v2. One with v2 requests and an old last call has moved.",
        unit: "short",
        queries: [
          [`max by (client) (carryover_client_last_v1_request_timestamp_seconds{${CLIENT}}) * 1000`, ""],
          [`sum by (client) (carryover_client_requests_total{${CLIENT},api_version="v1"})`, ""],
          [`sum by (client) (carryover_client_requests_total{${CLIENT},api_version="v2"})`, ""],
        ],
      },
      { client: "Client", "Value #A": "Last v1 request", "Value #B": "v1 requests", "Value #C": "v2 requests" },
      { "Value #A": "dateTimeFromNow" },
    ),
    lines(
      {
        title: "Over twelve weeks",
        description:
          "Both axes of the migration, as means of a week (recording rules): v1's share of requests falls, the translated share of v1 rises.",
        unit: "percentunit",
        width: 12,
        span: "12w",
        queries: [
          [`avg(job:carryover_v1_requests:ratio_rate7d{${OF_JOB}})`, "v1 of all requests"],
          [`avg(job:carryover_translated_requests:ratio_rate7d{${OF_JOB}})`, "translated of v1"],
        ],
      },
      { max: 1 },
    ),
  ],
};
