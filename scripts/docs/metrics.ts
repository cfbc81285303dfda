/** Writes `docs/metrics.md` from the table of metrics; a test keeps it up to date. */
import { PREFIX } from "../../src/telemetry/metric-factory.ts";
import { METRICS, type MetricDefinition, NODE_METRICS } from "../../src/telemetry/metric-table.ts";

/** One meaning of a label: of all metrics that have a label of this name, or of those in `on`. */
interface LabelMeaning {
  readonly name: string;
  readonly means: string;
  /** Which values there can be, whatever clients and upstreams send. */
  readonly values: string;
  readonly on?: readonly string[];
}

interface DocumentedMetric extends Omit<MetricDefinition, "labels"> {
  readonly labels: readonly LabelMeaning[];
}

type Rows = readonly (readonly [name: string, metric: DocumentedMetric])[];

/** Every metric, by its full name, in the order of the table. */
export function allMetrics(): ReadonlyMap<string, DocumentedMetric> {
  return new Map([...own(), ...ofNode()].map(([name, metric]) => [`${PREFIX}${name}`, metric]));
}

const own = (): Rows => Object.entries<MetricDefinition>(METRICS).map(documented);
const ofNode = (): Rows => Object.entries(NODE_METRICS).map(documented);

/** Throws `Error` for a label without a meaning. */
function documented([name, metric]: readonly [string, MetricDefinition]): Rows[number] {
  const labels = metric.labels.map((label) => {
    const meanings = LABELS.filter((one) => one.name === label);
    const meaning = meanings.find(({ on }) => on?.includes(name)) ?? meanings.find(({ on }) => on === undefined);
    if (meaning === undefined) throw new Error(`label ${label} of ${name} has no meaning in scripts/docs/metrics.ts`);
    return meaning;
  });
  return [name, { ...metric, labels }];
}

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
  const users = new Map<LabelMeaning, string[]>();
  for (const [name, { labels }] of own()) {
    for (const label of labels) users.set(label, [...(users.get(label) ?? []), `\`${name}\``]);
  }
  return [...users].map(([{ name, means, values }, on]) => {
    const shown = on.length > 4 ? [...on.slice(0, 3), `${on.length - 3} more`] : on;
    return `| ${[`\`${name}\``, shown.join(", "), means, values].map(cell).join(" | ")} |`;
  });
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

const VERSIONS_OF_CLIENTS = ["client_requests_total", "clients"];
const LABELS: readonly LabelMeaning[] = [
  {
    name: "api_version",
    means: "The version that was called",
    values: "`v1`, `v2`, `sts` (token exchange), `none` (a path of none of them)",
  },
  { name: "api_version", on: VERSIONS_OF_CLIENTS, means: "The version that was called", values: "`v1`, `v2`" },
  { name: "resource", means: "What the request is about", values: "The catalogue's, `unknown`, `other`" },
  {
    name: "operation",
    means: "What is asked of it",
    values: "The catalogue's for that resource, `unknown`, `other`",
  },
  {
    name: "mode",
    means: "What served the request",
    values: "`native`, `shadow`, `translate`, `pass` (v2, untouched), `refused`",
  },
  {
    name: "mode",
    on: ["rule_mode"],
    means: "What the rule does at present",
    values: "`native`, `shadow`, `translate`, `nothing` (it has expired)",
  },
  { name: "mode", on: ["rules_force"], means: "What may be forced", values: "`native`, `translate`" },
  {
    name: "code",
    means: "Status of the response",
    values: "48 registered ones, `none` for no response, `other`",
  },
  { name: "upstream", means: "Which upstream was called", values: "`v1`, `v2`, `sts`" },
  {
    name: "kind",
    means: "What the call is for",
    values:
      "`short` (a request of one call, or the first page of a list), `page` (a further page), `background` (comparisons)",
  },
  {
    name: "kind",
    on: ["nodejs_gc_duration_seconds"],
    means: "Kind of collection",
    values: "`major`, `minor`, `incremental`, `weakcb`",
  },
  { name: "witness", means: "What was proved about the list", values: "`cover`, `count`, `none`" },
  {
    name: "outcome",
    means: "How it ended",
    values: "`complete`, `incomplete`, `too-large`, `too-slow`, `unproven`, `overloaded`, `refused`, `aborted`",
  },
  { name: "direction", means: "Where the field was", values: "`request`, `response`" },
  { name: "field", means: "The v1 field", values: "The catalogue's; beyond the bound of series `other`" },
  {
    name: "reason",
    on: ["problems_total"],
    means: "Reason of the error",
    values: "Those of [errors.md](errors.md#carryovers-own)",
  },
  {
    name: "reason",
    on: ["comparison_failures_total"],
    means: "Why there was nothing to compare",
    values: "The 15 of [cutover.md](cutover.md#shadow-reads)",
  },
  {
    name: "reason",
    on: ["comparisons_skipped_total"],
    means: "Why nothing was compared",
    values: "`aborted`, `busy`, `unauthenticated`, `status`",
  },
  { name: "note", means: "What was noted", values: "Words of carryover's own; beyond the bound of series `other`" },
  {
    name: "client",
    means: "Who called",
    values:
      "Each name of `clients.names`, `c-` and a keyed hash for up to `clients.metricSeries` (200) further clients (`/clients` names the client), `unknown`, `excluded`, `unauthenticated`, `other`",
  },
  { name: "rule", means: "Name of a rule", values: "Those of the rules file, at most 500" },
  { name: "state", means: "Whether it rolled back", values: "`forward`, `back`, `returning`" },
  {
    name: "result",
    means: "The worst difference",
    values:
      "`equal`, `status`, `error`, `missing`, `extra`, `value`, `presence`, `order`, `noise`, `failed` ([cutover.md](cutover.md#shadow-reads))",
  },
  { name: "version", means: "carryover's version", values: "one" },
  { name: "version", on: ["nodejs_version_info"], means: "Node's version", values: "one" },
  { name: "node", means: "Node's version", values: "one" },
  ...["major", "minor", "patch"].map((name) => ({ name, means: "A part of Node's version", values: "one" })),
  { name: "type", means: "What keeps the process busy", values: "Node's own words, some ten" },
  { name: "space", means: "Part of the heap", values: "V8's own, some ten" },
];

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
