/** Writes `docs/metrics.md` from the table of metrics; a test keeps it up to date. */
import { EVENT_KINDS } from "../../src/model/event.ts";
import { FAULT_ORIGINS } from "../../src/model/problem.ts";
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
    "No uid, path or token is ever a label, whatever clients and upstreams send. These are the values of each label:",
    "",
    "| label | on | meaning | values |",
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
    values: "`v1`, `v2`, `sts` (token exchange), `none` (any other path)",
  },
  { name: "api_version", on: VERSIONS_OF_CLIENTS, means: "The version that was called", values: "`v1`, `v2`" },
  {
    name: "fault",
    means: "Who was at fault ([errors.md](errors.md))",
    values: FAULT_ORIGINS.map((fault) => `\`${fault}\``).join(", "),
  },
  { name: "resource", means: "Resource that the request is for", values: "Those of the catalogue, `unknown`, `other`" },
  {
    name: "operation",
    means: "Operation on that resource",
    values: "Those of the catalogue for that resource, `unknown`, `other`",
  },
  {
    name: "mode",
    means: "What served the request",
    values: "`native`, `shadow`, `translate`, `pass` (v2, forwarded unchanged), `refused`",
  },
  {
    name: "mode",
    on: ["rule_mode"],
    means: "Current mode of the rule",
    values: "`native`, `shadow`, `translate`, `nothing` (it has expired)",
  },
  { name: "mode", on: ["rules_force"], means: "Mode that can be forced", values: "`native`, `translate`" },
  {
    name: "code",
    means: "Status of the response",
    values: "48 registered status codes, `none` for no response, `other`",
  },
  {
    name: "code",
    on: ["grpc_requests_total"],
    means: "gRPC status of the response",
    values: "`OK`, `NOT_FOUND` and the other names of codes, `other`",
  },
  {
    name: "service",
    means: "gRPC service, with its package",
    values: "Names in the descriptors, names of calls that succeeded, `unknown`, `other`",
  },
  {
    name: "method",
    means: "Method of that service",
    values: "Names in the descriptors, names of calls that succeeded, `unknown`, `other`",
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
    on: ["rule_v2_failures"],
    means: "How v2 failed",
    values:
      "`unavailable` (5xx, no connection, an open circuit breaker, what cannot be translated), `timeout`, `unauthenticated` (401), `forbidden` (403), `limited` (429)",
  },
  {
    name: "kind",
    on: ["nodejs_gc_duration_seconds"],
    means: "Kind of garbage collection",
    values: "`major`, `minor`, `incremental`, `weakcb`",
  },
  {
    name: "kind",
    on: ["events_total"],
    means: "What happened ([status.md](status.md#carryover-events))",
    values: EVENT_KINDS.map((kind) => `\`${kind}\``).join(", "),
  },
  { name: "witness", means: "What was proved about the list", values: "`cover`, `count`, `none`" },
  {
    name: "outcome",
    means: "How the list ended",
    values: "`complete`, `incomplete`, `too-large`, `too-slow`, `unproven`, `overloaded`, `refused`, `aborted`",
  },
  {
    name: "why",
    on: ["recording_left_out_total"],
    means: "Why the request is missing in the recording",
    values: "`rate` (beyond `record.perSecond`), `disk` (the file could not be written)",
  },
  {
    name: "outcome",
    on: ["guard_calls_total"],
    means: "What native v1 did with the read",
    values: "`served`, `failed`, `unknown` (its connections were all in use)",
  },
  { name: "direction", means: "Where the field was", values: "`request`, `response`" },
  { name: "field", means: "The v1 field", values: "Those of the catalogue; `other` beyond the limit of series" },
  {
    name: "reason",
    on: ["problems_total"],
    means: "Reason of the error",
    values: "Those of [errors.md](errors.md#carryovers-own)",
  },
  {
    name: "reason",
    on: ["comparison_failures_total"],
    means: "Why the comparison could not be made",
    values: "Those of [errors.md](errors.md#why-a-comparison-failed)",
  },
  {
    name: "reason",
    on: ["comparisons_skipped_total"],
    means: "Why the request was not compared",
    values: "Those of [errors.md](errors.md#why-a-sampled-request-was-not-compared)",
  },
  {
    name: "note",
    means: "Name of the event",
    values: "Names that carryover defines; `other` beyond the limit of series",
  },
  {
    name: "client",
    means: "Who called",
    values:
      "Each name of `clients.names`, `c-` and a keyed hash for up to `clients.metricSeries` (200) further clients (`/clients` shows their names), `unknown`, `excluded`, `unauthenticated`, `other`",
  },
  { name: "rule", means: "Name of a rule", values: "Those of the rules file, at most 500" },
  { name: "state", means: "Whether it rolled back", values: "`forward`, `back`, `returning`, `unknown`" },
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
  { name: "type", means: "What keeps the process alive", values: "Names that Node defines, about ten" },
  { name: "space", means: "Part of the heap", values: "Names that V8 defines, about ten" },
];

const HEAD = [
  "# Metrics",
  "",
  "`npm run docs` generates this page from the table that defines the metrics.",
  "",
  "`/metrics` on the admin port serves them in the Prometheus text format. Three files use them, and [operations.md](operations.md#prometheus-and-grafana) describes how to load them:",
  "",
  "- [helm/files/rules/carryover.yaml](../helm/files/rules/carryover.yaml): recording rules and alerts. It is a plain rules file that works without Kubernetes.",
  "- [helm/files/dashboards/carryover.json](../helm/files/dashboards/carryover.json) and [carryover-performance.json](../helm/files/dashboards/carryover-performance.json): Grafana dashboards of the migration, and of where time goes.",
  "",
  "How to read the metrics:",
  "",
  "- Each instance counts on its own, from its start. Sum counters over instances (`sum(rate(…))`). For `carryover_clients` and timestamps take the maximum (`max`), since a client may call several instances.",
  "- Comparisons are not requests: the metrics of requests, lists and upstreams do not include their calls.",
  '- `carryover_requests_total{api_version="v1"}` shows what remains to be migrated. When it stays at zero, carryover is no longer needed.',
  "- *Series* is the most series that one instance can have, however many clients call. Beyond that, labels become `other`, so sums stay correct. Requests then still keep `api_version` and `mode`, which adds a few series. Each series of a histogram also has its buckets.",
  "",
  "| metric | type | unit | labels | series | what |",
  "|---|---|---|---|---|---|",
];

const NODE_HEAD = [
  "## Process and Node",
  "",
  "These have the usual names of Node client libraries, with the prefix. Those from `/proc` exist on Linux only. Each scrape resets the event loop delay, so let only one Prometheus scrape an instance.",
  "",
  "| metric | type | unit | labels | series | what |",
  "|---|---|---|---|---|---|",
];
