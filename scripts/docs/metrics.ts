/** How do the metrics read in the documentation? (`docs/metrics.md`; a test keeps it up to date.) */
import { PREFIX } from "../../src/telemetry/metric-factory.ts";
import type { LabelDefinition } from "../../src/telemetry/metric-labels.ts";
import { METRICS, type MetricDefinition, NODE_METRICS } from "../../src/telemetry/metric-table.ts";

type Rows = readonly (readonly [name: string, facts: MetricDefinition])[];

/** Every metric, by its full name, in the order of the table. */
export function allMetrics(): ReadonlyMap<string, MetricDefinition> {
  return new Map([...own(), ...ofNode()].map(([name, facts]) => [`${PREFIX}${name}`, facts]));
}

const own = (): Rows => Object.entries<MetricDefinition>(METRICS);
const ofNode = (): Rows => Object.entries(NODE_METRICS);

/** `docs/metrics.md`. */
export function metricsPage(): string {
  return [
    ...HEAD,
    ...own().map(row),
    "",
    "## Labels",
    "",
    "Whatever clients and upstreams send, no uid, path or token is ever a label, and the values of each label are these:",
    "",
    "| label | on | says | values |",
    "|---|---|---|---|",
    ...labelRows(),
    "",
    ...NODE_HEAD,
    ...ofNode().map(row),
    "",
  ].join("\n");
}

function row([name, { type, unit, labels, series, help }]: Rows[number]): string {
  const cells = [
    `\`${PREFIX}${name}\``,
    type,
    unit,
    labels.map((label) => `\`${label.name}\``).join(", ") || "–",
    typeof series === "number" ? series.toLocaleString("en-US") : series,
    help,
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

/** One row for each meaning that a label has, with the metrics that have it so. */
function labelRows(): readonly string[] {
  const users = new Map<LabelDefinition, string[]>();
  for (const [name, { labels }] of own()) {
    for (const label of labels) users.set(label, [...(users.get(label) ?? []), `\`${name}\``]);
  }
  return [...users].map(([{ name, means, values }, on]) => {
    const shown = on.length > 4 ? [...on.slice(0, 3), `${on.length - 3} more`] : on;
    return `| ${[`\`${name}\``, shown.join(", "), means, values].map(cell).join(" | ")} |`;
  });
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

const HEAD = [
  "# Metrics",
  "",
  "This page is made from the table that the metrics themselves are made from; `npm run docs` regenerates it.",
  "",
  "`/metrics` on the admin port says them as Prometheus text. [helm/files/rules/carryover.yaml](../helm/files/rules/carryover.yaml) holds recording rules and alerts for them, a plain rules file that works without",
  "Kubernetes, and [helm/files/dashboards/carryover.json](../helm/files/dashboards/carryover.json) a dashboard for Grafana; [operations.md](operations.md#prometheus-and-grafana) says how both are loaded.",
  "",
  "- Each instance counts by itself, from its start. Add counters up over instances (`sum(rate(…))`); of `carryover_clients` and of timestamps take the greatest (`max`), since a client may call several.",
  "- Comparisons are no requests: their calls are in none of the metrics of requests, lists and upstreams.",
  '- `carryover_requests_total{api_version="v1"}` is what is left of the migration: when it stays at zero, nobody needs carryover any more.',
  "- *Series* are the most that one instance can have, whoever calls. Beyond them labels become `other`, so sums stay right; only `api_version` and `mode` of requests are kept apart then, with a few series more. Each series of a histogram has its buckets besides.",
  "",
  "| metric | type | unit | labels | series | what |",
  "|---|---|---|---|---|---|",
];

const NODE_HEAD = [
  "## Of the process and of Node",
  "",
  "As client libraries for Node name them, with the prefix. Those of `/proc` are there on Linux only; the event loop's delay begins anew whenever somebody asks, so let one Prometheus ask.",
  "",
  "| metric | type | unit | labels | series | what |",
  "|---|---|---|---|---|---|",
];
