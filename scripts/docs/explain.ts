/** Writes docs/explain.md; its examples are what the command prints. */
import { runCommand } from "../command.ts";

const UID = "57f9e5fa7da60166436d01ae3baf059ec752f4bb/f99d0132e88f4491";
const RULES = `version: carryover/v1
rules:
  - name: ci-reads
    match: { operation: reads, client: ci-bot, percent: 50 }
    mode: translate
  - name: everything-else
    match: {}
    mode: shadow
`;
const FILES = {
  "rules.yaml": RULES,
  "carryover.yaml":
    "upstream: { v2: { url: https://v2.example }, v1: { url: https://v1.example } }\ncutover: { rulesFile: rules.yaml, mode: native, salt: acme }\n",
  "body.json": '{"name":"docs","verified":true,"resourceLimits":{"clusters":3},"colour":"red"}\n',
};

/** A command line as a person would type it, and what it prints. */
async function shown(line: string, words: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand(["explain", ...words], { files: FILES });
  if (err !== "") throw new Error(`${line}: ${err}`);
  return ["```console", `$ ${line}`, out.trimEnd(), ...(code === 0 ? [] : ["$ echo $?", String(code)]), "```"].join(
    "\n",
  );
}

/** The names of a JSON document, with the kind of each value. */
function outline(value: unknown, indent = ""): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [`${indent}[]`] : outline(value[0], indent);
  if (typeof value !== "object" || value === null) return [`${indent}${value === null ? "null" : typeof value}`];
  return Object.entries(value).flatMap(([name, held]) => {
    const list = Array.isArray(held) ? "[]" : "";
    const first: unknown = Array.isArray(held) ? held[0] : held;
    const plain = typeof first !== "object" || first === null || Array.isArray(first);
    return plain ? [`${indent}${name}${list}`] : [`${indent}${name}${list}`, ...outline(first, `${indent}  `)];
  });
}

function withoutEmpty(document: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(document).filter(([, held]) => !Array.isArray(held) || held.length > 0));
}

/** `docs/explain.md`. */
export async function explainPage(): Promise<string> {
  const put = [`PUT /iam/v1/groups/${UID}`, "-d", "@body.json"];
  const json = await runCommand(["explain", ...put, "--json"], { files: FILES });
  const list = await runCommand(["explain", "GET /iam/v1/groups?name=x", "--json"]);
  const ruled = await runCommand(["explain", "GET /iam/v1/groups", "--rules", "rules.yaml", "--json"], {
    files: FILES,
  });
  return [
    ...HEAD,
    "## A full replace",
    "",
    "With this `body.json`:",
    "",
    "```json body.json",
    FILES["body.json"].trim(),
    "```",
    "",
    await shown(`carryover explain 'PUT /iam/v1/groups/${UID}' -d @body.json`, put),
    "",
    "The same as curl lines, to try each call by hand. Values that only the platform knows are not filled in.",
    "",
    await shown(`carryover explain 'PUT /iam/v1/groups/${UID}' -d @body.json --curl`, [...put, "--curl"]),
    "",
    "## A list with joins",
    "",
    await shown(
      "carryover explain 'GET /iam/v1/rolebindings?uidp.childrenOf=57f9e5fa7da60166436d01ae3baf059ec752f4bb'",
      ["GET /iam/v1/rolebindings?uidp.childrenOf=57f9e5fa7da60166436d01ae3baf059ec752f4bb"],
    ),
    "",
    "## A URL",
    "",
    "The request may be a URL, with header fields as in curl.",
    "",
    await shown(
      "carryover explain 'https://api.example.com/registry/v1/tags?id=a/b&exclude_dates=true' -H 'Authorization: Bearer eyJ…'",
      ["https://api.example.com/registry/v1/tags?id=a/b&exclude_dates=true", "-H", "Authorization: Bearer eyJ…"],
    ),
    "",
    "## What carryover refuses",
    "",
    await shown(`carryover explain 'PUT /iam/v1/identities/a/b' -d '{"claimMatch":{},"static":{}}'`, [
      "PUT /iam/v1/identities/a/b",
      "-d",
      '{"claimMatch":{},"static":{}}',
    ]),
    "",
    ...WITH_RULES,
    "",
    "```yaml rules.yaml",
    RULES.trim(),
    "```",
    "",
    "and this `carryover.yaml`:",
    "",
    "```yaml carryover.yaml",
    FILES["carryover.yaml"].trim(),
    "```",
    "",
    await shown("carryover explain 'DELETE /iam/v1/groups/a' --config carryover.yaml --client ci-bot --at 2026-12-01", [
      "DELETE /iam/v1/groups/a",
      ...["--config", "carryover.yaml", "--client", "ci-bot", "--at", "2026-12-01"],
    ]),
    "",
    ...JSON_FORM,
    "",
    "```text",
    // None has everything: lists that are empty in one come from another.
    ...outline({
      ...withoutEmpty(JSON.parse(ruled.out)),
      ...withoutEmpty(JSON.parse(list.out)),
      ...withoutEmpty(JSON.parse(json.out)),
      cutover: JSON.parse(ruled.out).cutover,
    }),
    "```",
    "",
    ...TAIL,
    "",
  ].join("\n");
}

const HEAD = [
  "# carryover explain",
  "",
  "`npm run docs` generates this page by running the command.",
  "",
  "`carryover explain` shows what carryover would do with a request: the operation, which side serves it, the calls it makes, what happens to",
  "each field and parameter, where each part of the response comes from, and what can go wrong. **It sends nothing**: the operation runs with the same code",
  "as in `carryover serve`, against a recorder instead of the platform. It needs no platform and no configuration. Give it the options, variables and",
  "`--config` of a `carryover serve` to see what *that* carryover would do. Without the address of v2, `$V2` is a placeholder for it.",
  "",
  "It assumes the platform's responses: a record that is read exists, and differs wherever that makes a difference. Each call names its assumption",
  "and the calls that may follow (further pages, further batches, a retry with another mask spelling). A word in capitals (`ROLE_UID`) is a value that only",
  "the platform's response would contain.",
  "",
  "| option | |",
  "|---|---|",
  "| `-d`, `--data` | the body, or `@file`; `@-` is standard input |",
  "| `-H`, `--header` | `Name: value`; may be repeated |",
  "| `-X`, `--request` | the method, if the request does not contain it |",
  "| `--json` | print one [JSON document](#as-json-and-on-the-admin-port) |",
  "| `--curl` | print the calls as curl lines |",
  "| `--rules` | a rules file, instead of `cutover.rulesFile` ([rules](rules.md)) |",
  "| `--client` | the client's name, as in rules; by default `clients.identify` finds it in the header fields |",
  "| `--at` | a time such as `2026-12-01T09:30Z`, or `09:30` of today (UTC by default), instead of now, because rules can expire or be limited to certain hours |",
  "",
  "Exit codes: 0 explained; 1 carryover would respond with an error of its own (the explanation says why); 2 invalid arguments: an unknown option,",
  "a missing file, or a line that is not a request.",
  "",
];

const WITH_RULES = [
  "## Which rule takes it",
  "",
  "With a rules file (`--rules` or `cutover.rulesFile`), the command shows which rule takes the request and why earlier rules did not. Where",
  "native v1 serves the request, the output ends with what the translation would have done. The command reads only the file: use the admin port, below, for",
  "the state of a running carryover, such as a rollback of a rule. Pass the running carryover's configuration: `cutover.salt` determines a client's",
  "bucket, and `cutover.mode` applies to requests that no rule takes. For example, with this `rules.yaml`:",
];

const JSON_FORM = [
  "## As JSON, and on the admin port",
  "",
  "`--json` prints one document. `GET /explain` on the admin port returns the same document for the configuration of the running process:",
  "",
  "```sh",
  `curl -sG http://127.0.0.1:8081/explain --data-urlencode 'request=PUT /iam/v1/groups/UID' --data-urlencode 'data={"name":"docs"}'`,
  "```",
  "",
  "Its parameters are `request` (a method, and a path or a URL), `data`, `header` (repeated), `method` and `client`. It applies the rules in their",
  "current state. It reads no files, changes nothing, and requires the same access as the other admin views.",
  "",
  "The document has these members. Later versions may add members, but keep these:",
];

const TAIL = [
  "`mode` is `translate`, `native`, `shadow`, `pass` or `refused`. `cutover` is null without rules, and for requests that rules do not cover. Its `why` is",
  "`rule`, `default` (`cutover.mode`), `forced`, `guessed`, `stepped-back` or `promoted`. `translated` has the calls of the translation if rules send the",
  "request to native v1, and is empty otherwise. In that case `fields`, `parameters`, `answer` and `risks` describe the translation.",
  "`refusal` is null or `{status, code, reason, message, fields[{field, description}]}`.",
  "",
  "| `fields[].becomes` | |",
  "|---|---|",
  "| `same`, `renamed`, `converted` | sent unchanged, under v2's name, or in v2's form of the value |",
  "| `when-different` | put into `updateMask` and sent only if the stored record has another value |",
  "| `set-to-zero` | left out by the client, so carryover empties it: a v1 PUT replaces everything |",
  "| `kept` | left out by the client; carryover sends the stored value |",
  "| `left-alone` | not put into `updateMask`, so the stored value stays, although v1 would have emptied it |",
  "| `dropped` | not sent; `why` has the reason |",
  "| `passed` | unknown, but sent (`unknownFields.request: pass`) |",
  "| `refused` | the reason for the error |",
  "",
  "| `parameters[].becomes` | |",
  "|---|---|",
  "| `sent`, `renamed`, `converted`, `inverted` | sent unchanged, under v2's name, in v2's form, or as its opposite |",
  "| `added` | added by carryover: without it v2 shows less than v1 |",
  "| `get` | a Get of the one record instead of the list |",
  "| `applied` | carryover applies the filter itself |",
  "| `ignored`, `refused` | ignored, as v1 did; the reason for the error |",
  "",
  "| `answer[].becomes` | |",
  "|---|---|",
  "| `same`, `renamed`, `converted` | from one v2 member |",
  "| `moved` | from elsewhere in the v2 record |",
  "| `joined` | from another record |",
  "| `worked-out` | computed by carryover from all records of a list |",
  "| `inserted` | v2 has no such member |",
  "| `cut` | v2 sends it, but v1 never showed it |",
  "",
  "## Secrets",
  "",
  "Every form of output masks secrets as `…`: credentials in header fields, in the URL and in parameters, and whatever looks like a signed token.",
  "It also masks JSON members whose names suggest secrets, tokens, passwords or codes. It never shows a body that is not JSON.",
];
