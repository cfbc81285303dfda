/** Does the documentation show what a check really asks and prints? */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { questionsTable } from "../../src/check/questions.ts";
import { verdictsTable } from "../../src/check/show.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type Checked, check, platform } from "./support.ts";

takeDownAfterEach();

const PAGE = new URL("../../docs/check.md", import.meta.url);
/** The address in the documentation; the sandbox of the test has a free port. */
const SHOWN = "http://127.0.0.1:8090";

async function shown(
  options: SandboxOptions,
  argv: (group: string) => readonly string[],
): Promise<Checked & { text: string }> {
  const { sandbox, url } = await platform(options);
  const ran = await check(["--upstream-v2-url", url, ...argv(sandbox.wellKnown.someGroup)], {
    env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") },
  });
  return { ...ran, text: ran.out.replaceAll(url, SHOWN).trimEnd() };
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
async function shownRules(text: string): Promise<{ readonly code: number | undefined; readonly text: string }> {
  const { code, out } = await check(["--rules-only", "--rules", "rules.yaml"], { files: { "rules.yaml": text } });
  const command = "$ carryover check --rules-only --rules rules.yaml";
  const ended = code === 0 ? "" : `\n$ echo $?\n${code}`;
  // The word behind `yaml` is the file that the page's own test writes before it runs the command.
  const file = `${code === 0 ? "" : "<!-- wrong -->\n"}\`\`\`yaml rules.yaml\n${text}\`\`\``;
  return { code, text: `${file}\n\n\`\`\`console\n${command}\n${out.trimEnd()}${ended}\n\`\`\`` };
}

/** Numbers follow from the records that the sandbox happens to have: others than those shown are no news. */
function upToNumbers(text: string): string {
  return text.replaceAll(/\d+/g, "0");
}

/** `page` with the block called `name` as it is now; a block that differs in what `same` leaves out stays. */
function withBlock(page: string, name: string, body: string, same = (text: string) => text): string {
  const pattern = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- end -->)`);
  const [, , before = ""] = pattern.exec(page) ?? [];
  if (!pattern.test(page)) throw new Error(`the page has no place for ${name}`);
  const now = `\n${body}\n\n`;
  return same(before) === same(now) ? page : page.replace(pattern, (_all, open, _old, end) => `${open}${now}${end}`);
}

it("docs/check.md shows real runs (`npx vitest run test/check/docs.test.ts -u` writes it anew)", async () => {
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
  let page = readFileSync(PAGE, "utf8");
  page = withBlock(page, "questions", questionsTable());
  page = withBlock(page, "verdicts", verdictsTable());
  page = withBlock(page, "run: right", `\`\`\`\n${right.text}\n\`\`\``, upToNumbers);
  page = withBlock(page, "run: wrong", `\`\`\`\n${wrong.text}\n\`\`\``, upToNumbers);
  page = withBlock(page, "run: config", `\`\`\`yaml\n${config}\`\`\``, upToNumbers);
  const [rules, wrongRules] = [await shownRules(RULES), await shownRules(WRONG_RULES)];
  page = withBlock(page, "run: rules", rules.text, upToNumbers);
  page = withBlock(page, "run: wrong rules", wrongRules.text);
  expect([right.code, wrong.code, rules.code, wrongRules.code]).toEqual([0, 1, 0, 1]);
  await expect(page).toMatchFileSnapshot(PAGE.pathname);
});
