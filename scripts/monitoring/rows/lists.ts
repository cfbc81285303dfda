/** Panels about long lists and updates. */
import { lines } from "../panels.ts";
import { OF } from "./progress.ts";

const quantiles = (metric: string) =>
  ([0.5, 0.9, 0.99] as const).map(
    (quantile) =>
      [
        `histogram_quantile(${quantile}, sum by (le) (rate(${metric}_bucket{${OF}}[$__rate_interval])))`,
        `p${quantile * 100}`,
      ] as const,
  );

export const lists = {
  title: "Lists",
  panels: [
    lines(
      {
        title: "Lists by what they prove",
        description:
          "Lists a second that arrived whole: cover (complete by proof), count (totals agree), none. A cover that becomes none: a habit of the platform has changed.",
        unit: "ops",
        queries: [
          [`sum by (witness) (rate(carryover_lists_total{${OF},outcome="complete"}[$__rate_interval]))`, "{{witness}}"],
        ],
      },
      { stacked: true },
    ),
    lines({
      title: "Lists that were not answered whole",
      description:
        "Lists a second that ended otherwise: the client got an error or a broken connection, never a short list. aborted: nobody waited.",
      unit: "ops",
      queries: [
        [
          `sum by (resource, outcome) (rate(carryover_lists_total{${OF},outcome!="complete"}[$__rate_interval]))`,
          "{{resource}} {{outcome}}",
        ],
      ],
    }),
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
          `sum by (upstream, kind) (rate(carryover_queue_wait_seconds_total{${OF}}[$__rate_interval])) / sum by (upstream, kind) (rate(carryover_queue_calls_total{${OF}}[$__rate_interval]))`,
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
      queries: [[`carryover_list_readers_paused_seconds{${OF}}`, "{{instance}}"]],
    }),
    lines({
      title: "Long lists",
      description: "Lists of more than one page under way, and waiting for their turn (lists.maxConcurrent).",
      unit: "short",
      width: 12,
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
      title: "What was noted about lists",
      description:
        "Notes a second about lists: repaired borders are harmless; list-order, list-skip-ignored and list-duplicate are habits of the platform (docs/lists.md).",
      unit: "ops",
      width: 12,
      queries: [[`sum by (note) (rate(carryover_notes_total{${OF},note=~"list-.*"}[$__rate_interval]))`, "{{note}}"]],
    }),
  ],
};

export const updates = {
  title: "Updates",
  panels: [
    lines({
      title: "Fields set to zero",
      description:
        "Fields that a PUT left out, and that became zero as v1 has it: what these clients lose when they patch with v2 instead.",
      unit: "ops",
      queries: [
        [
          `topk(10, sum by (resource, field) (rate(carryover_update_defaulted_fields_total{${OF}}[$__rate_interval])))`,
          "{{resource}} {{field}}",
        ],
      ],
    }),
    lines({
      title: "Fields not stored as asked",
      description:
        "Fields that the platform stored otherwise than a PUT asked. updates.mismatch decides what the client hears.",
      unit: "ops",
      queries: [
        [
          `sum by (resource, field) (rate(carryover_update_mismatches_total{${OF}}[$__rate_interval]))`,
          "{{resource}} {{field}}",
        ],
      ],
      steps: [
        [null, "green"],
        [0.001, "red"],
      ],
    }),
    lines({
      title: "Unknown fields",
      description: "Fields in no row of the catalogue, each once a request. /unknown-fields has their names.",
      unit: "ops",
      queries: [
        [
          `sum by (resource, direction) (rate(carryover_unknown_fields_total{${OF}}[$__rate_interval]))`,
          "{{resource}} {{direction}}",
        ],
      ],
    }),
  ],
};
