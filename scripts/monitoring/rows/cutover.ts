/** Panels about rules and comparisons. */
import { lines, stat, table } from "../panels.ts";
import { OF, OF_JOB } from "./progress.ts";

const NO_YES: ReadonlyMap<number, string> = new Map([
  [0, "no"],
  [1, "yes"],
]);

export const cutover = {
  title: "Cutover rules",
  panels: [
    stat(
      {
        title: "Everything forced to",
        description: "What `force` at the top of the rules file overrides all rules with. For emergencies only.",
        unit: "short",
        queries: [[`max by (mode) (carryover_rules_force{${OF}})`, "{{mode}}"]],
        steps: [
          [null, "green"],
          [1, "orange"],
        ],
      },
      NO_YES,
    ),
    stat(
      {
        title: "Rules file usable",
        description:
          "no: the file as last read is wrong on an instance, and the rules before it are in force. /rules says where.",
        unit: "short",
        queries: [[`min(carryover_config_last_reload_successful{${OF}})`, "usable"]],
        steps: [
          [null, "red"],
          [1, "green"],
        ],
      },
      NO_YES,
    ),
    stat({
      title: "Rules in force",
      description:
        "How many different rules files the instances follow. More than one for minutes: a change did not arrive everywhere.",
      unit: "short",
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
      queries: [[`time() - min(carryover_config_last_reload_successful_timestamp_seconds{${OF}})`, "ago"]],
    }),
    stat({
      title: "Rules that stepped back",
      description:
        "Rules that some instance serves by native v1 again, because translation failed or differed. /rules says why.",
      unit: "short",
      queries: [
        [
          `count(count by (rule) (carryover_rule_state{${OF},state=~"back|returning"} == 1)) or (max(carryover_ready{${OF}}) * 0)`,
          "rules",
        ],
      ],
      steps: [
        [null, "green"],
        [1, "red"],
      ],
    }),
    stat({
      title: "Rules that expired",
      description: "Rules that take no request any more, because their `expires` is over. Remove them.",
      unit: "short",
      queries: [
        [`count(count by (rule) (carryover_rule_expired{${OF}} == 1)) or (max(carryover_ready{${OF}}) * 0)`, "rules"],
      ],
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
        ],
      },
      {
        rule: "Rule",
        mode: "Does",
        state: "State",
        "Value #A": "On",
        "Value #B": "In",
        "Value #C": "Requests",
        "Value #D": "Failures",
        "Value #E": "Comparisons",
        "Value #F": "Differences",
        "Value #G": "Bound",
        "Value #H": "May move on",
      },
      { "Value #G": "percentunit" },
    ),
    lines({
      title: "Failures by rule",
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
      description:
        "On how many instances a rule is forward (as written), back (native again), or returning (tried for a share).",
      unit: "short",
      queries: [[`count by (rule, state) (carryover_rule_state{${OF}} == 1)`, "{{rule}} {{state}}"]],
    }),
    lines({
      title: "Steps back",
      description: "How often rules stepped back, over all instances, since they are as they are.",
      unit: "short",
      queries: [[`sum by (rule) (carryover_rule_step_backs{${OF}})`, "{{rule}}"]],
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
        queries: [[`sum by (result) (rate(carryover_comparisons_total{${OF}}[$__rate_interval]))`, "{{result}}"]],
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
        title: "What comparisons prove",
        description:
          "At most this share of a rule's answers differs, with 95 % confidence. promoteWhen.differencesBelow is what it has to reach.",
        unit: "percentunit",
        queries: [[`max by (rule) (carryover_rule_difference_bound{${OF}})`, "{{rule}}"]],
      },
      { max: 1 },
    ),
    lines(
      {
        title: "Not compared",
        description: "Comparisons that could not be made, and sampled requests that were not compared, by reason.",
        unit: "ops",
        queries: [
          [
            `sum by (reason) (rate(carryover_comparison_failures_total{${OF}}[$__rate_interval]))`,
            "failed: {{reason}}",
          ],
          [
            `sum by (reason) (rate(carryover_comparisons_skipped_total{${OF}}[$__rate_interval]))`,
            "passed: {{reason}}",
          ],
        ],
      },
      { stacked: true },
    ),
    lines({
      title: "Calls made to compare",
      description: "What comparing costs the platform: calls a second beside those of clients.",
      unit: "reqps",
      queries: [
        [`sum by (upstream) (rate(carryover_comparison_calls_total{${OF}}[$__rate_interval]))`, "{{upstream}}"],
      ],
    }),
    lines({
      title: "Held for comparisons",
      description: "Bytes that each instance holds for comparisons; limits.memoryBytes is the bound.",
      unit: "bytes",
      queries: [[`carryover_comparisons_held_bytes{${OF}}`, "{{instance}}"]],
    }),
    lines({
      title: "Comparisons under way",
      description:
        "Comparisons under way and waiting; shadow.concurrent is the bound of the first, twice as many of the second.",
      unit: "short",
      width: 24,
      queries: [
        [`sum(carryover_comparisons_in_progress{${OF}})`, "under way"],
        [`sum(carryover_comparisons_waiting{${OF}})`, "waiting"],
      ],
    }),
  ],
};
