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
  # Somebody at a desk tries v2 with a header, or a browser with a cookie.
  - name: volunteers
    match: { header: { x-carryover: v2 }, cookie: { carryover: v2 } }
    mode: translate

  # A tenth of the clients, for reads of two resources, in office hours; back by itself when it goes wrong.
  - name: reads-first
    match:
      resource: [groups, repos]
      operation: reads
      percent: 10
      time: { from: 2026-12-01, until: 2099-01-01T18:00:00Z, days: [mon, tue, wed, thu], hours: 08:00-17:00 }
    mode: translate
    shadow: { sample: 0.05, control: 0.2 }
    stepBack: { failures: 0.02, differences: 0.001, minRequests: 200, minClients: 3, window: 5m, returnAfter: 1h }

  # One client stays where it is until it is ready.
  - name: billing-waits
    match: { client: [billing, billing-batch], operation: writes }
    mode: native
    expires: 2099-03-01

  # Everything else: native answers, and v2 is compared with it.
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
  "This page is made from the rules' own schema; `npm run docs` regenerates it.",
  "",
  "The file that the option `cutover.rulesFile` names says what serves which v1 requests: `native` v1, `shadow` (native v1 answers, and",
  "what carryover would have answered is compared with it), or `translate`. The first rule that takes a request decides; a request that no rule",
  "takes gets `cutover.mode`. Editors check the file against [`rules.schema.json`](rules.schema.json).",
  "",
];

const MEANING = [
  "",
  "## Which rule takes a request",
  "",
  "1. `resource`, `operation`, `client` and `time` must all hold, as far as the rule names them, and the rule must not have expired.",
  "2. Then header, cookie and percentage are asked, as ingress controllers ask them; the first that says something decides:",
  "   - the first header field of that name: the rule's value takes the request, `never` does not, any other value says nothing;",
  "   - the first cookie of that name: the same;",
  "   - `percent`: the request is taken when its client's bucket is below it.",
  "   A rule with a header or a cookie and no percentage takes only what they select. A rule with none of the three takes everything.",
  "",
  "Header names are read in any case; values, cookies and clients exactly as they are written.",
  "",
  "A client's bucket, from 0 up to 100, follows from `cutover.salt` and its name alone: it is the same on every replica, for every rule, for reads",
  "and for writes. So a growing percentage never moves a client back, and a client that a rule of 5 percent takes is among those that one of 10 percent takes.",
  "Clients that nothing tells apart are all called `unknown` and move together.",
  "",
  "## What is refused",
  "",
  "A fault names its place as line, column and path: `rules.yaml:4:40 rules.0.match.percent`. Paths count from 0, so `rules.0` is the first rule; the table",
  "of `carryover check` counts from 1, and everything else names rules.",
  "",
  "A file is taken as a whole or not at all, and everything that is wrong with it is told at once, with line, column and remedy; the rules in",
  "force stay. Beside what the schema says, refused are: names of resources and operations that are not there, two rules of one name, a mode, `force`,",
  "`fallback`, step back or comparison that needs `upstream.v1.url` without it, times that are empty or over, `sunset` before `deprecation`, settings that can",
  "have no effect (`stepBack` of a rule that never translates, `promoteWhen` of one that is not `shadow`, differences that are never measured), and rules that can",
  "never match because earlier ones always match first. A rule that has expired since it was taken is no reason to refuse a file, neither when a process",
  "starts with it nor when something else in it changes (`force`, say): it takes nothing and is told as a warning. One that is new or was changed is refused.",
  "Of more than 20 faults the first 20 are told, and how many more there are.",
  "",
  "A file is read on the thread that serves requests, so it has at most 500 rules and 256 KiB, 110000 words and signs of YAML (500 rules",
  "of 220 each; `percent: 10,` are five with its blank and its comma), 1000 anchors and aliases, and nothing nested deeper than rules need.",
  "",
  "A file that is cut off in the middle is mostly no file. Where it could be taken for one (it ends between two rules), `endMark: true` near",
  "the top and `...` as the last line make sure that it is refused. Better still is to write another file and to rename it, as Kubernetes does with ConfigMaps.",
  "",
];

const KEYS = [
  "## Keys",
  "",
  "Dates are days, which begin at 00:00 UTC (`2027-03-01`), or instants (`2027-03-01T08:00:00Z`, `2027-03-01T09:00:00+01:00`). Durations are written as in",
  "[configuration.md](configuration.md): `90`, `90s`, `5m`, `1h`. Resources, operations, clients and days are one text or a list. Shares are from 0 to 1.",
  "`minClients` counts clients by name and by credential, whichever are fewer ([cutover.md](cutover.md)), and is never more than the clients that the rule names.",
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
    const value = member(child, "default");
    const isRequired = Array.isArray(required) && required.includes(key);
    const shown = isRequired ? "required" : value === undefined ? "–" : `\`${String(value)}\``;
    const cells = [`\`${path}\``, formOf(child), shown, String(member(child, "description") ?? "")];
    return [`| ${cells.join(" | ")} |`, ...rowsOf(inner, `${path}${inner === child ? "." : "[]."}`)];
  });
}

function formOf(node: unknown): string {
  const form = member(node, "x-form");
  if (typeof form === "string") return form.startsWith("{") ? `\`${form}\`` : form.replaceAll("|", " \\| ");
  return member(node, "type") === "array" ? "list of maps" : "map";
}
