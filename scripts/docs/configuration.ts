/** The options in the documentation; a test keeps the pages up to date. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { settingsJsonSchema } from "../../src/config/schema.ts";
import { type Option, optionsOf } from "../../src/config/sources.ts";

const ROOT = join(import.meta.dirname, "../..");
const BIOME = join(ROOT, "node_modules/.bin/biome");

/** `docs/config.schema.json`: for editors and for checking a file before it is used. */
export function configurationSchemaFile(): string {
  return schemaText({ title: "carryover configuration", ...settingsJsonSchema() });
}

/** A JSON Schema as it is shipped: formatted as all JSON of this project. */
export function schemaText(schema: object): string {
  const words = ["format", "--stdin-file-path=schema.json"];
  return execFileSync(BIOME, words, { cwd: ROOT, input: JSON.stringify(schema, null, 2), encoding: "utf8" });
}

/** `docs/configuration.md`: the usual options first, then all others by what they are about. */
export function configurationPage(): string {
  const advanced = options().filter(({ usual }) => !usual);
  const topics = new Set(advanced.map(topicOf));
  const sections = [...topics].flatMap((topic) => [
    `### ${topic}`,
    "",
    ...table(advanced.filter((option) => topicOf(option) === topic)),
    "",
  ]);
  return [...HEAD, ...USUAL, ...FORMS, "## Advanced options", "", ...sections].join("\n").trimEnd().concat("\n");
}

/** The usual options as a table: also a block of the chart's README. */
export function usualOptions(): readonly string[] {
  return table(options().filter(({ usual }) => usual));
}

function options(): readonly Option[] {
  return optionsOf(settingsJsonSchema());
}

/** By the first word of an option's path; a word that is not here is a topic of its own. */
const TOPICS: ReadonlyMap<string, string> = new Map([
  ["upstream", "Upstreams"],
  ["listen", "Ports"],
  ["admin", "Ports"],
  ["lists", "Lists"],
  ["updates", "Translation"],
  ["unknownFields", "Translation"],
  ["v1", "Translation"],
  ["fallback", "Translation"],
  ["cutover", "Cutover"],
  ["shadow", "Cutover"],
  ["clients", "Clients"],
  ["limits", "Limits"],
]);

function topicOf({ path }: Option): string {
  const [first = ""] = path.split(".");
  return TOPICS.get(first) ?? first;
}

function table(rows: readonly Option[]): readonly string[] {
  return ["| option | form | default | limits | |", "|---|---|---|---|---|", ...rows.map(row)];
}

const HEAD = [
  "# Configuration",
  "",
  "This page is generated from the options; `npm run docs` regenerates it.",
  "",
  "Every option has one path. `upstream.v2.url` is",
  "",
  "- a flag: `--upstream-v2-url`,",
  "- a variable: `CARRYOVER_UPSTREAM_V2_URL` (an empty variable counts as unset),",
  "- a key in the YAML file that `--config` or `CARRYOVER_CONFIG` names: `upstream: { v2: { url: … } }`.",
  "",
  "Flags win over variables, variables over the file, and the file over defaults. carryover refuses unknown options in the file and unknown `CARRYOVER_` variables. Variables that Kubernetes sets",
  "for a Service called `carryover` are ignored. Editors can check the file against [`config.schema.json`](config.schema.json). Only `upstream.v2.url` is required, and `cutover.mode` with a native v1 or a rules file.",
  "",
  "```yaml",
  "# yaml-language-server: $schema=./config.schema.json",
  "upstream:",
  "  v2: { url: https://api.example.com }",
  "  v1: { url: https://api.example.com } # serves what v2 lacks",
  "cutover: { mode: native } # what serves v1 requests that no rule takes: native, shadow or translate",
  "listen: { port: 8080, publicUrl: https://v1.example.com, trustedProxies: [10.0.0.0/8] }",
  "admin: { host: 0.0.0.0, tokenFile: /run/secrets/admin-token }",
  "lists: { maxSeconds: 45s, require: { default: none, group: cover } }",
  "log: { level: info }",
  "```",
  "",
];

const USUAL = [
  "## Usual options",
  "",
  "These are the options that most operators set. `--help` lists them first. All others are [advanced](#advanced-options): their defaults are right until something shows otherwise.",
  "",
  ...usualOptions(),
  "",
  "`lists.require` says what carryover must prove about a list before it sends it. A list that is *known* to be incomplete is always an error.",
  "",
  "- `none` requires nothing.",
  "- `count` requires as many distinct records as every page announced. Lists reach it while nobody changes them.",
  "- `cover` requires a proof of completeness that holds while others write.",
  "",
  "A list that arrives by uid reaches `cover` when",
  "",
  "- it has one page,",
  "- it has up to 10,000 records, and the platform honours `skip` and sends `totalCount`: carryover reads it in overlapping windows,",
  "- `upstream.v2.pageTokens` is `keyset`, at any length,",
  "- `upstream.v2.pageTokens` is `offset` and the platform honours `skip` and sends `totalCount`: carryover reads windows at any length.",
  "",
  "carryover answers a list that reaches less than required with 502 LIST_UNPROVEN. With `pageTokens: unknown`, `cover` refuses lists of more than 10,000 records, unless their records are so large that",
  "carryover reads windows anyway. `count` refuses lists that somebody changes meanwhile. [lists.md](lists.md) covers other platforms.",
  "",
];

const FORMS = [
  "## Forms",
  "",
  "| form | written as |",
  "|---|---|",
  "| seconds | `45`, `45s`, `1500ms`, `1m`, `1h`; a bare number is seconds |",
  "| days | `180`, `180d`, `36h`; a bare number is days |",
  "| bytes | `1048576`, `64KiB`, `256MiB`, `1GiB`; a bare number is bytes |",
  "| list | a YAML list; as a flag or a variable, separated by commas |",
  '| list of `clients.names` | `name=identity`, such as `ci-bot=ci@example.com`; you choose the name; `clients.identify` finds the identity. In a file an entry may also be a map: `{ name: ci-bot, identity: ci@example.com, owner: Build team, contact: "#build" }`, where `identity` may be a list |',
  "| list of `clients.identify` | `user-agent` (its product, without the version), `header:NAME`, `claim:NAME` or `claim:A+B` (a claim of the bearer token, read but never trusted) |",
  "| file | a path, from the working directory; read at start; rules and certificates of upstreams also when they change |",
  "| url | `http` or `https`, without credentials, query or fragment |",
  "| `resource=…` | a YAML map; as a flag or a variable `group=cover,default=count` |",
  "",
];

function row(option: Option): string {
  const cells = [
    `\`${option.path}\``,
    option.form.replaceAll("|", " \\| "),
    option.default === undefined ? "–" : `\`${option.default}\``,
    option.limits,
    option.description,
  ];
  return `| ${cells.join(" | ")} |`;
}
