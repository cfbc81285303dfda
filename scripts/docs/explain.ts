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
    "upstream: { v2: { url: https://v2.example }, v1: { url: https://v1.example } }\ncutover: { rulesFile: rules.yaml, salt: acme }\n",
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
    "With `body.json` holding",
    "",
    "```json body.json",
    FILES["body.json"].trim(),
    "```",
    "",
    await shown(`carryover explain 'PUT /iam/v1/groups/${UID}' -d @body.json`, put),
    "",
    "The same as curl lines, to try each call by hand. Nothing in them is filled in that only the platform knows.",
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
    "## A pasted curl line",
    "",
    "As one argument in quotes, or on standard input: `pbpaste | carryover explain -`.",
    "",
    await shown(
      `carryover explain "curl -s -H 'Authorization: Bearer eyJ…' 'https://api.example.com/registry/v1/tags?id=a/b&exclude_dates=true' | jq ."`,
      [
        "curl -s -H 'Authorization: Bearer eyJ…' 'https://api.example.com/registry/v1/tags?id=a/b&exclude_dates=true' | jq .",
      ],
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
    "and a `carryover.yaml` that names it",
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
  "This page is made by running the command; `npm run docs` regenerates it.",
  "",
  "`carryover explain` tells what would become of a request: which operation it is, who serves it, which calls it takes, what happens to",
  "each field and parameter, where the answer comes from, and what can go wrong. **Nothing is sent**: the operation runs with a recorder in the",
  "place of the platform, so what is told is what the same code would do. It needs no platform and no configuration; with the options, variables",
  "and `--config` of `carryover serve` it tells what *that* carryover would do. Without an address of v2, `$V2` stands for it.",
  "",
  "The platform's answers are assumed: a record that is read exists, and differs wherever that makes a difference. Each call says what was",
  "assumed, and what else there may be (further pages, further batches, a mask spelled again). A word in capitals (`ROLE_UID`) stands for what only the",
  "platform's answer would tell.",
  "",
  "| option | |",
  "|---|---|",
  "| `-d`, `--data` | the body, or `@file`; `@-` is standard input |",
  "| `-H`, `--header` | `Name: value`; may be repeated |",
  "| `-X`, `--request` | the method, where the request does not say it |",
  "| `--json` | one JSON document, see below |",
  "| `--curl` | the calls as curl lines |",
  "| `--rules` | a file of rules, in place of `cutover.rulesFile` ([rules](rules.md)) |",
  "| `--client` | who sends it, as rules name clients; otherwise `clients.identify` finds it in the header fields |",
  "| `--at` | an instant such as `2026-12-01T09:30Z` (UTC unless it says otherwise) instead of now: rules expire, and have hours |",
  "",
  "Exit codes: 0 explained; 1 carryover would answer with an error of its own (the explanation says why); 2 the question cannot be",
  "understood: a wrong option, a file that is not there, a line that is no request.",
  "",
];

const WITH_RULES = [
  "## Which rule takes it",
  "",
  "With a file of rules (`--rules`, or `cutover.rulesFile`) it is told which rule takes the request and why each one before it did not. Where",
  "native v1 answers, what the translation would have done is shown behind it. Only the file speaks here: what a running carryover has learnt since",
  "(a rule that stepped back) is told by its admin port, below. Name the running carryover's configuration: a client's bucket follows from its",
  "`cutover.salt`, and what no rule takes is as its `cutover.mode` says. With `rules.yaml`, which holds",
];

const JSON_FORM = [
  "## As JSON, and on the admin port",
  "",
  "`--json` prints one document, and `GET /explain` of the admin port answers the same for the configuration of the running process:",
  "",
  "```sh",
  `curl -sG http://127.0.0.1:8081/explain --data-urlencode 'request=PUT /iam/v1/groups/UID' --data-urlencode 'data={"name":"docs"}'`,
  "```",
  "",
  "Its parameters are `request` (a method and a path, or a curl line), `data`, `header` (repeated), `method` and `client`. Rules are those in force, as",
  "they are now. It reads no files, changes nothing, and is shown to whom the other views are shown.",
  "",
  "Members, as an example has them; new ones may be added, these stay:",
];

const TAIL = [
  "`mode` is `translate`, `native`, `shadow`, `pass` or `refused`; `cutover` is null without rules, and for what no rule decides about; its `why` is `rule`,",
  "`default` (`cutover.mode`), `forced`, `guessed`, `stepped-back` or `promoted`. `translated` has the calls of the translation where the rules let native v1 answer",
  "instead, and then `fields`, `parameters`, `answer` and `risks` are about it; otherwise it is empty. `refusal` is null or `{status, code, reason, message, fields[{field, description}]}`.",
  "",
  "| `fields[].becomes` | |",
  "|---|---|",
  "| `same`, `renamed`, `converted` | sent: as it is, under v2's name, in v2's form of the value |",
  "| `when-different` | put into `updateMask` and sent only if the stored record has another value |",
  "| `set-to-zero` | left out by the client, and so made empty: a v1 PUT replaces everything |",
  "| `kept` | left out, and sent as it is stored |",
  "| `left-alone` | not put into `updateMask`, so what is stored stays, although v1 would have emptied it |",
  "| `dropped` | not sent: `why` says for which reason |",
  "| `passed` | unknown, and sent all the same (`unknownFields.request: pass`) |",
  "| `refused` | the reason for the error |",
  "",
  "| `parameters[].becomes` | |",
  "|---|---|",
  "| `sent`, `renamed`, `converted`, `inverted` | sent: as it is, under v2's name, in v2's form, as its opposite |",
  "| `added` | sent although the client did not: without it v2 shows less than v1 |",
  "| `get` | a Get of the one record instead of the list |",
  "| `applied` | tested by carryover |",
  "| `ignored`, `refused` | as v1 ignored it; the reason for the error |",
  "",
  "| `answer[].becomes` | |",
  "|---|---|",
  "| `same`, `renamed`, `converted` | of one v2 member |",
  "| `moved` | from elsewhere in the v2 record |",
  "| `joined` | from another record |",
  "| `worked-out` | found out by carryover, from all records of a list |",
  "| `inserted` | v2 has nothing like it |",
  "| `cut` | v2 sends it, v1 never showed it |",
  "",
  "## Secrets",
  "",
  "Credentials in header fields, in the URL and in parameters, JSON members called like secrets, tokens, passwords or codes, and whatever looks like a",
  "signed token are shown as `…` in every form of output. A body that is no JSON is not shown at all.",
  "",
  "## Curl lines",
  "",
  "Quotes, backslashes and line ends are read as a POSIX shell reads them; `$'…'` is refused. Nothing is expanded and nothing is run: `$NAME` and",
  "`$(…)` stay as they are, and a variable in the URL is read as its name. What follows `|`, `;` or `>` is ignored. Options that curl has and this command",
  "does not know are named in the notes and ignored; forms (`-F`), uploads (`-T`) and `--next` are refused.",
];
