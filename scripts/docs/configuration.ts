/** How do the options read in the documentation? (Both texts are kept in `docs/`, and a test keeps them up to date.) */
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

/** `docs/configuration.md`. */
export function configurationPage(): string {
  const options = optionsOf(settingsJsonSchema());
  return [...HEAD, ...options.map(row), ""].join("\n");
}

const HEAD = [
  "# Configuration",
  "",
  "This page is made from the options themselves; `npm run docs` regenerates it.",
  "",
  "Every option has one path. `upstream.v2.url` is",
  "",
  "- a flag: `--upstream-v2-url`,",
  "- a variable: `CARRYOVER_UPSTREAM_V2_URL` (an empty variable is as good as none),",
  "- a place in the YAML file that `--config` or `CARRYOVER_CONFIG` names: `upstream: { v2: { url: … } }`.",
  "",
  "Flags win over variables, variables over the file, the file over defaults. Anything that is not an option is an error,",
  "in the file as among the variables (those that Kubernetes sets for a Service called `carryover` excepted).",
  "Editors check a file against [`config.schema.json`](config.schema.json). Only `upstream.v2.url` is required.",
  "",
  "```yaml",
  "# yaml-language-server: $schema=./config.schema.json",
  "upstream:",
  "  v2: { url: https://api.example.com }",
  "  v1: { url: https://api.example.com } # what v2 has no counterpart for goes here",
  "listen: { port: 8080, publicUrl: https://v1.example.com, trustedProxies: [10.0.0.0/8] }",
  "admin: { host: 0.0.0.0, tokenFile: /run/secrets/admin-token }",
  "lists: { maxSeconds: 45s, require: { default: none, group: cover } }",
  "log: { level: info }",
  "```",
  "",
  "`lists.require` says what a list must prove to be answered at all. A list that is *known* to be incomplete is an error whatever it",
  "says. `none` asks for nothing. `count` (as many distinct records as every page said there are) is reached by lists that nobody",
  "changes while they are read. `cover` (complete by proof, whoever writes meanwhile) is reached by lists that arrive by uid",
  "",
  "- of one page,",
  "- of up to 10,000 records, where the platform honours `skip` and sends `totalCount`: they are read through windows that overlap,",
  "- of any length, when `upstream.v2.pageTokens` is `keyset`; or when it is `offset` and the platform does both: such a platform's lists are read through windows at any length.",
  "",
  "What reaches less than is required is refused with 502 LIST_UNPROVEN: with `pageTokens: unknown`, `cover` refuses lists of more than 10,000 records (unless the records",
  "are so large that windows are used all the same), and `count` those that somebody changes meanwhile. [lists.md](lists.md) has a table for platforms with other habits.",
  "",
  "| form | written as |",
  "|---|---|",
  "| seconds | `45`, `45s`, `1500ms`, `1m`, `1h`; a bare number is seconds |",
  "| bytes | `1048576`, `64KiB`, `256MiB`, `1GiB`; a bare number is bytes |",
  "| list | a YAML list; as a flag or a variable, separated by commas |",
  "| list of `clients.names` | `name=identity`, such as `ci-bot=ci@example.com`; the name is the operator's, the identity what `clients.identify` finds |",
  "| list of `clients.identify` | `user-agent`, `header:NAME`, `claim:NAME` or `claim:A+B` (of the bearer token, read and never believed) |",
  "| file | a path, from the working directory; read at start, and again when it changes: the rules, and certificates of upstreams |",
  "| url | `http` or `https`, without credentials, query and fragment |",
  "| `resource=…` | a YAML map; as a flag or a variable `group=cover,default=count` |",
  "",
  "| option | form | default | limits | |",
  "|---|---|---|---|---|",
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
