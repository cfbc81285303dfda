/** Writes the tables and runs of docs/check.md. */

import type { SandboxOptions } from "../../sandbox/src/options.ts";
import { createSandbox } from "../../sandbox/src/sandbox.ts";
import { QUESTIONS } from "../../src/commands/check/check.ts";
import { VERDICT_WORDS } from "../../src/commands/check/command.ts";
import { type CheckVerdict, exitCodeOf } from "../../src/commands/check/finding.ts";
import { type CommandResult, runCommand } from "../command.ts";
import { upToNumbers, withBlock } from "./blocks.ts";

/** The address in the documentation; the sandbox has a free port. */
const SHOWN = "http://127.0.0.1:8090";

const HOW = [
  ["reads", "reads"],
  ["native", "reads, with `upstream.v1.url`"],
  ["grpc", "reads, with `listen.grpc.port`"],
  ["writes", "writes"],
] as const;

function questionsTable(): string {
  const rows = HOW.flatMap(([how, words]) =>
    QUESTIONS[how].map(({ id, asks }) => `| \`${id}\` | ${asks} | ${words} |`),
  );
  return ["| probe | asks | |", "|---|---|---|", ...rows].join("\n");
}

const MEANS: Readonly<Record<CheckVerdict, string>> = {
  ok: "everything was judged, and nothing is wrong",
  incomplete: "nothing is wrong, but not everything could be judged",
  warn: "there are warnings",
  unjudged: "no list could be read: no token, or one that may read none",
  fail: "there are failures",
};

/** Each verdict as a person and as a program reads it, and the exit code. */
function verdictsTable(): string {
  const rows = (Object.keys(VERDICT_WORDS) as CheckVerdict[]).map((verdict) => {
    const [code, strict] = [false, true].map((asked) => exitCodeOf(verdict, asked));
    const exit = code === strict ? code : `${code}, with \`--strict\` ${strict}`;
    return `| \`${VERDICT_WORDS[verdict]}\` | \`${verdict}\` | ${MEANS[verdict]} | ${exit} |`;
  });
  return ["| last line | `verdict` of `--json` | | exit code |", "|---|---|---|---|", ...rows].join("\n");
}

async function shown(
  options: SandboxOptions,
  argv: (group: string) => readonly string[],
): Promise<CommandResult & { readonly text: string }> {
  const sandbox = createSandbox(options);
  try {
    const { url } = await sandbox.listen();
    const words = ["check", "--upstream-v2-url", url, ...argv(sandbox.wellKnown.someGroup)];
    const ran = await runCommand(words, { env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") } });
    return { ...ran, text: ran.out.replaceAll(url, SHOWN).trimEnd() };
  } finally {
    await sandbox.close();
  }
}

const RULES = `version: carryover/v1
rules:
  - name: ci-reads
    match: { operation: reads, resource: [groups, repos], client: ci-bot, percent: 10 }
    mode: translate
    expires: 2199-03-01
    stepBack: { failures: 0.02, minRequests: 200, minClients: 1, window: 5m }
  - name: everything-else
    match: {}
    mode: shadow
    promoteWhen: { differencesBelow: 0.001 }
`;
const WRONG_RULES = `version: carryover/v1
rules:
  - name: ci-reads
    match: { operation: read, percent: 110 }
    mode: translate
    until: 2027-03-01
`;

/** A rules file, and what is said of it. */
async function shownRules(text: string): Promise<Pick<CommandResult, "code"> & { readonly text: string }> {
  const words = ["check", "--rules-only", "--rules", "rules.yaml"];
  const { code, out } = await runCommand(words, { files: { "rules.yaml": text } });
  const ended = code === 0 ? "" : `\n$ echo $?\n${code}`;
  // The word behind `yaml` is the file that the page's own test writes before it runs the command.
  const file = `${code === 0 ? "" : "<!-- wrong -->\n"}\`\`\`yaml rules.yaml\n${text}\`\`\``;
  return {
    code,
    text: `${file}\n\n\`\`\`console\n$ carryover ${words.join(" ")}\n${out.trimEnd()}${ended}\n\`\`\``,
  };
}

/** `docs/check.md`, from the page as it is. */
export async function checkPage(page: string): Promise<string> {
  const right = await shown({}, () => []);
  const wrong = await shown(
    {
      version: "v2",
      omitZeros: true,
      ignoreSkip: true,
      omitTotalCount: true,
      order: "name",
      tokens: "offset",
      maskSpelling: "snake_case",
      shadowedProviderList: true,
    },
    (group) => ["--write-under", group, "--write-config", "found.yaml"],
  );
  const config = wrong.written.get("found.yaml")?.replace(/http:\S+/, SHOWN) ?? "";
  const [rules, wrongRules] = [await shownRules(RULES), await shownRules(WRONG_RULES)];
  const codes = [right, wrong, rules, wrongRules].map(({ code }) => code).join();
  if (codes !== "0,1,0,1") throw new Error(`docs/check.md: the runs ended with ${codes}`);
  const blocks: readonly (readonly [name: string, body: string, same?: (text: string) => string])[] = [
    ["questions", questionsTable()],
    ["verdicts", verdictsTable()],
    ["run: right", `\`\`\`\n${right.text}\n\`\`\``, upToNumbers],
    ["run: wrong", `\`\`\`\n${wrong.text}\n\`\`\``, upToNumbers],
    ["run: config", `\`\`\`yaml\n${config}\`\`\``, upToNumbers],
    ["run: rules", rules.text, upToNumbers],
    ["run: wrong rules", wrongRules.text],
  ];
  return blocks.reduce((text, block) => withBlock(text, ...block), page);
}
