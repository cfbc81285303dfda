/** The rules in the documentation; a test keeps the pages up to date. */

import { rulesJsonSchema } from "../../src/config/rules-schema.ts";
import { isJsonObject, member } from "../../src/model/json.ts";
import { schemaText } from "./configuration.ts";

/** `docs/rules.schema.json`. */
export function rulesSchemaFile(): string {
  return schemaText({ title: "carryover rules", ...rulesJsonSchema() });
}

/** `docs/rules.md`. */
export function rulesPage(): string {
  return [
    ...HEAD,
    "```yaml",
    EXAMPLE_RULES.trimEnd(),
    "```",
    ...MEANING,
    ...KEYS,
    ...rowsOf(rulesJsonSchema(), ""),
    "",
  ].join("\n");
}

/** A complete file, in which everything is used that can be. */
export const EXAMPLE_RULES = `# yaml-language-server: $schema=./rules.schema.json
version: carryover/v1
force: none # native: back to native v1 with the next request, whatever the rules say
fallback: native
endMark: true
rules:
  # A fifth of the clients is refused for ten minutes each Tuesday. At all other times this rule matches nothing.
  - name: brownout-tuesdays
    match: { percent: 20, time: { from: 2098-12-01, until: 2099-06-30 } }
    mode: brownout
    schedule: { cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m }
    brownout:
      status: 400
      message: v1 ends in June. It is switched off for ten minutes to find the clients that still need it
      successor: https://example.com/migrate
      contact: api-team@example.com
      exempt: [billing, emergency-console]
      stopAbove: 0.3
      minRequests: 200
      singleReplica: true
      allowLong: false
    headers: { sunset: 2099-06-30 }

  # A developer tries v2 with a header, or a browser with a cookie.
  - name: volunteers
    match: { header: { x-carryover: v2 }, cookie: { carryover: v2 } }
    mode: translate

  # A tenth of the clients, for reads of two resources, during office hours; rolls back by itself when it fails.
  - name: reads-first
    match:
      resource: [groups, repos]
      operation: reads
      percent: 10
      time: { from: 2026-12-01, until: 2099-01-01T18:00:00Z, days: [mon, tue, wed, thu], hours: 08:00-17:00 }
    mode: translate
    shadow: { sample: 0.05, control: 0.2 }
    stepBack: { failures: 0.02, differences: 0.001, minRequests: 200, minComparisons: 20, minClients: 3, window: 5m, returnAfter: 1h }
    guard: { action: stepBack, returnAfter: 15m, slow: warn }
    onFailure: { serve: native, statuses: [401, 403, 429] }

  # One client stays where it is until it is ready.
  - name: billing-waits
    match: { client: [billing, billing-batch], operation: writes }
    mode: native
    expires: 2099-03-01

  # A rehearsal: native v1 is off for one client, for an hour, or until more than 5 % of its requests are refused or fail.
  - name: rehearse-ci-bot
    match: { client: ci-bot, time: { from: 2098-12-01T09:00:00Z, until: 2098-12-01T10:00:00Z } }
    mode: translate
    fallback: refuse
    stepBack: { failures: 0.05, minRequests: 20 }

  # Everything else: native v1 responds, and v2 is compared with it.
  - name: everything-else
    match: {}
    mode: shadow
    shadow: { sample: 0.1 }
    promoteWhen: { differencesBelow: 0.001, minClients: 5, automatic: false }
    headers:
      deprecation: 2026-12-01
      sunset: 2099-06-30
      documentation: https://example.com/migrate
      successor: true
...
`;

const HEAD = [
  "# Rules",
  "",
  "This page is generated from the rules' schema by `npm run docs`.",
  "",
  "The file named by `cutover.rulesFile` decides what serves each v1 request: `native` v1, `shadow` (native v1 responds, and carryover",
  "compares its own response in the background), or `translate`. A rule with `mode: brownout` refuses v1 in the windows of its `schedule`",
  "([brownouts.md](brownouts.md)). The first rule that matches decides. Requests that match no rule get",
  "`cutover.mode`. Editors check the file against [`rules.schema.json`](rules.schema.json).",
  "",
];

const MEANING = [
  "",
  "## Which rule matches a request",
  "",
  "1. `resource`, `operation`, `client` and `time` must all hold, as far as the rule names them, and the rule must not have expired.",
  "2. Then header, cookie and percentage are checked in this order, as ingress controllers do; the first with a result decides:",
  "   - the first header field of that name: the rule's value selects the request, `never` excludes it, any other value has no effect;",
  "   - the first cookie of that name: the same;",
  "   - `percent`: selects the request when its client's bucket is below it.",
  "   A rule with a header or a cookie and no percentage matches only what they select. A rule with none of the three matches everything.",
  "",
  "Header names ignore case; values, cookies and clients must match exactly.",
  "",
  "A client's bucket, from 0 up to 100, depends only on `cutover.salt` and the client's name. It is the same on every replica, for every rule, for reads and for writes. So",
  "a growing percentage never moves a client back: the clients of a 5 percent rule are among those of a 10 percent rule. Clients that",
  "carryover cannot distinguish are all called `unknown` and move together.",
  "",
  "## What is refused",
  "",
  "A fault names its place as line, column and path: `rules.yaml:4:40 rules.1.match.percent`. `rules.1` is the first rule, as in the table of `carryover check`.",
  "",
  "carryover applies a file as a whole or not at all. It reports all faults at once, with line, column and remedy, and keeps the rules",
  "in force. Besides the schema's rules, these are refused: names of resources and operations that are not there, two rules of one name, a mode, `force`,",
  "`fallback`, step back, `onFailure` or comparison that needs `upstream.v1.url` without it, times that are empty or over, `sunset` before `deprecation`, settings that can",
  "have no effect (`stepBack`, `guard` or `onFailure` of a rule that never translates, differences that are never measured),",
  "rehearsals (`fallback: refuse`) without one client, an end, the guard or a share at which they stop ([exam.md](exam.md#a-rehearsal)),",
  "brownouts that never begin, hardly end, or overlap ([brownouts.md](brownouts.md#what-is-refused)), and rules that can",
  "never match because earlier ones always match first. A rule that has expired since it was loaded is no reason to refuse a file, neither at start nor when something else in it changes (`force`, say). It matches nothing, and a",
  "warning names it. An expired rule that is new or was changed is refused. Of more than 20 faults the first 20 are printed, and the",
  "number of the rest.",
  "",
  "The thread that serves requests parses the file, so its size is limited: at most 500 rules and 256 KiB, 110000 words and signs of YAML (500 rules",
  "of 220 each; `percent: 10,` are five with its blank and its comma), 1000 anchors and aliases, and nothing nested deeper than rules need.",
  "",
  "A truncated file is mostly invalid. If it happens to end between two rules, it is not. Put `endMark: true` near the top and `...`",
  "as the last line, and a truncated file is always refused. Better still, write a new file and rename it, as Kubernetes does with",
  "ConfigMaps.",
  "",
];

const KEYS = [
  "## Keys",
  "",
  "Dates are days, which begin at 00:00 UTC (`2027-03-01`), or instants (`2027-03-01T08:00:00Z`, `2027-03-01T09:00:00+01:00`). Durations are written as in",
  "[configuration.md](configuration.md): `90`, `90s`, `5m`, `1h`. Resources, operations, clients and days are one text or a list. Shares are from 0 to 1.",
  "`minClients` counts clients by name and by credential, whichever are fewer ([cutover.md](cutover.md)), and is never more than the clients that the rule names.",
  "Every rule that translates has a [guard](cutover.md#the-guard-when-v2-fails-clients), also one that says nothing of it. Without `upstream.v1.url` its default is `warn`.",
  "",
  "| key | form | default | |",
  "|---|---|---|---|",
];

/** One row for each key of the map `node`, maps and lists before what is in them. */
function rowsOf(node: unknown, prefix: string): readonly string[] {
  const properties = member(node, "properties");
  if (!isJsonObject(properties)) return [];
  const required = member(node, "required");
  return Object.entries(properties).flatMap(([key, child]) => {
    const inner = member(child, "type") === "array" ? member(child, "items") : child;
    const path = `${prefix}${key}`;
    const value = isMap(child) ? undefined : member(child, "default");
    const isRequired = Array.isArray(required) && required.includes(key);
    const shown = isRequired
      ? "required"
      : value === undefined
        ? "–"
        : `\`${Array.isArray(value) ? JSON.stringify(value) : String(value)}\``;
    const cells = [`\`${path}\``, formOf(child), shown, String(member(child, "description") ?? "")];
    return [`| ${cells.join(" | ")} |`, ...rowsOf(inner, `${path}${inner === child ? "." : "[]."}`)];
  });
}

const isMap = (node: unknown): boolean => member(node, "properties") !== undefined;

function formOf(node: unknown): string {
  const pattern = member(node, "pattern");
  if (isMap(node) && typeof pattern === "string") {
    return `map, or ${pattern.slice(2, -2).replaceAll("|", " \\| ")}`;
  }
  const form = member(node, "x-form");
  if (typeof form === "string") return form.startsWith("{") ? `\`${form}\`` : form.replaceAll("|", " \\| ");
  return member(node, "type") === "array" ? "list of maps" : "map";
}
