/** Panels about rules and comparisons. */
import { lines, NO_YES, stat, table } from "../panels.ts";
import { OF, OF_JOB, orZero, rate } from "../queries.ts";

export const cutover = {
  title: "Cutover rules",
  panels: [
    stat({
      title: "Rules file usable",
      description:
        "no: the file as last read is wrong on an instance, and the rules before it are in force. /rules says where.",
      unit: "short",
      width: 6,
      words: NO_YES,
      queries: [[`min(carryover_config_last_reload_successful{${OF}})`, "usable"]],
      steps: [
        [null, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Rules in force",
      description:
        "How many different rules files the instances follow. More than one for minutes: a change did not arrive everywhere.",
      unit: "short",
      width: 6,
      queries: [[`count(count_values("hash", carryover_config_hash{${OF}}))`, "files"]],
      steps: [
        [null, "green"],
        [2, "orange"],
      ],
    }),
    stat({
      title: "Rules last changed",
      description:
        "When rules were last read with success, on the instance that did so first. Decades: there is no rules file.",
      unit: "s",
      width: 6,
      queries: [[`time() - min(carryover_config_last_reload_successful_timestamp_seconds{${OF}})`, "ago"]],
    }),
    stat({
      title: "Rules that expired",
      description: "Rules that take no request any more, because their `expires` is over. Remove them.",
      unit: "short",
      width: 6,
      queries: [[orZero(`count(count by (rule) (carryover_rule_expired{${OF}} == 1))`), "rules"]],
      steps: [
        [null, "green"],
        [1, "orange"],
      ],
    }),
    table(
      {
        title: "Rules",
        description:
          "What each rule does now, and what is known of it since it is as it is, over all instances. More rows of one rule: instances do not agree, since each of them learns by itself.",
        unit: "short",
        width: 24,
        queries: [
          [`max by (rule, mode) (carryover_rule_mode{${OF}} == 1)`, ""],
          [`max by (rule, state) (carryover_rule_state{${OF}} == 1)`, ""],
          [`sum by (rule) (carryover_rule_requests{${OF}})`, ""],
          [`sum by (rule) (carryover_rule_failures{${OF}})`, ""],
          [`sum by (rule) (carryover_rule_comparisons{${OF}})`, ""],
          [`sum by (rule) (carryover_rule_differences{${OF}})`, ""],
          [`max by (rule) (carryover_rule_difference_bound{${OF}})`, ""],
          [`min by (rule) (carryover_rule_could_move{${OF}})`, ""],
          [`sum by (rule) (carryover_rule_step_backs{${OF}})`, ""],
        ],
      },
      {
        rule: "Rule",
        mode: "Does",
        state: "State",
        "Value #C": "Requests",
        "Value #D": "Failures",
        "Value #E": "Comparisons",
        "Value #F": "Differences",
        "Value #G": "Bound",
        "Value #H": "May move on",
        "Value #I": "Steps back",
      },
      { "Value #G": "percentunit", "Value #H": NO_YES },
    ),
    lines({
      title: "Failures of v2",
      width: 12,
      description:
        "Requests that v2 failed since it began to fail clients of a rule, by how; no line: it fails none, or the rule stepped back. carryover status says what native v1 does with them. The last line is above 0 while v2 is slow.",
      unit: "short",
      queries: [
        [`sum by (rule, kind) (carryover_rule_v2_failures{${OF}})`, "{{rule}} {{kind}}"],
        [orZero(`max(carryover_rule_v2_slow{${OF}})`), "times as slow as native v1"],
      ],
      steps: [
        [null, "green"],
        [1, "red"],
      ],
    }),
    lines({
      title: "Native v1 after v2",
      width: 12,
      description:
        "Reads a second that native v1 served in the request that v2 failed (onFailure), by rule, and reads that the guard repeated on native v1 in the background, by what it did.",
      unit: "reqps",
      queries: [
        [rate("carryover_reads_after_v2_total", "rule"), "{{rule}}: served to clients"],
        [rate("carryover_guard_calls_total", "outcome"), "repeated: {{outcome}}"],
      ],
    }),
    lines({
      title: "Failures by rule",
      width: 12,
      description:
        "Share of a rule's translated requests that failed because of translation. stepBack.failures is its limit.",
      unit: "percentunit",
      queries: [
        [
          `sum by (rule) (carryover_rule_failures{${OF}}) / (sum by (rule) (carryover_rule_requests{${OF}}) > 0)`,
          "{{rule}}",
        ],
      ],
    }),
    lines({
      title: "State of rules",
      width: 12,
      description:
        "On how many instances a rule is forward (as written), back (native again), or returning (tried for a share).",
      unit: "short",
      queries: [[`count by (rule, state) (carryover_rule_state{${OF}} == 1)`, "{{rule}} {{state}}"]],
    }),
    lines({
      title: "Brownouts",
      width: 12,
      description:
        "Requests to v1 per second that brownouts refused, by rule. The other lines count instances: on which the brownout runs, and on which its window is open without refusals, since it was stopped or did not start.",
      unit: "reqps",
      queries: [
        [rate("carryover_brownout_refused_total", "rule"), "{{rule}}"],
        [`sum by (rule) (carryover_brownout_running{${OF}}) > 0`, "{{rule}}: instances running"],
        [`sum by (rule) (carryover_brownout_stopped{${OF}}) > 0`, "{{rule}}: instances stopped"],
      ],
    }),
    lines({
      title: "Recording",
      width: 12,
      description:
        "Lines per second that were written to record.file, their size in KiB, requests that are missing in it (beyond record.perSecond, or not written), and on how many instances the file cannot be written.",
      unit: "ops",
      queries: [
        [orZero(`sum(rate(carryover_recording_lines_total{${OF}}[$__rate_interval]))`), "written"],
        [orZero(`sum(rate(carryover_recording_bytes_total{${OF}}[$__rate_interval])) / 1024`), "KiB"],
        [rate("carryover_recording_left_out_total", "why"), "missing: {{why}}"],
        [orZero(`sum(carryover_recording_failing{${OF}})`), "instances that cannot write"],
      ],
    }),
    lines({
      title: "Events",
      width: 24,
      description:
        "What happened within the last five minutes, over all instances: step backs, forced modes, changes of rules, starts and stops. carryover events lists each with its cause.",
      unit: "short",
      queries: [[`sum by (kind) (increase(carryover_events_total{${OF}}[5m])) > 0`, "{{kind}}"]],
    }),
  ],
};

export const shadow = {
  title: "Shadow: translated beside native",
  panels: [
    lines(
      {
        title: "Comparisons by result",
        description:
          "Comparisons a second by the worst difference. equal, order and noise are good; failed proves nothing.",
        unit: "ops",
        queries: [[rate("carryover_comparisons_total", "result"), "{{result}}"]],
      },
      { stacked: true },
    ),
    lines({
      title: "Differences within an hour",
      description:
        "Comparisons within an hour that found a difference, by operation (recording rule). /samples shows them.",
      unit: "short",
      queries: [
        [
          `sum by (resource, operation) (job_resource_operation:carryover_differences:increase1h{${OF_JOB}})`,
          "{{resource}} {{operation}}",
        ],
      ],
      steps: [
        [null, "green"],
        [1, "red"],
      ],
    }),
    lines(
      {
        title: "Not compared",
        description: "Comparisons that could not be made, and sampled requests that were not compared, by reason.",
        unit: "ops",
        queries: [
          [rate("carryover_comparison_failures_total", "reason"), "failed: {{reason}}"],
          [rate("carryover_comparisons_skipped_total", "reason"), "skipped: {{reason}}"],
        ],
      },
      { stacked: true },
    ),
    lines({
      title: "Calls made to compare",
      description: "What comparing costs the platform: calls a second beside those of clients.",
      unit: "reqps",
      width: 24,
      queries: [[rate("carryover_comparison_calls_total", "upstream"), "{{upstream}}"]],
    }),
  ],
};
