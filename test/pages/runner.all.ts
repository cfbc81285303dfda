import { afterAll, beforeAll, expect, it } from "vitest";
import { readPage } from "./page.ts";
import { follow } from "./run-page.ts";
import { createStage, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage({ install: false, programs: [], replicas: false, unknownRules: false });
}, 240_000);
afterAll(() => stage.close());

const on = (...lines: string[]): Promise<void> =>
  follow(readPage("docs/new.md", ["# New", "", ...lines].join("\n")), stage);
const sh = (...lines: string[]) => ["```sh", ...lines, "```"];

it("takes what works: exports stay, files are written, a pipe may be cut short, servers go on", {
  timeout: 240_000,
}, async () => {
  await on(
    ...["```yaml made/rules.yaml", "version: carryover/v1", "rules: []", "```"],
    ...sh("export A=1 # kept", "cd made"),
    ...sh(
      'test "$A" = 1 && ls',
      "for i in 1 2; do",
      '  echo "$i"',
      "done | head -n 1",
      "seq 100000 | head -n 1",
      "cd ..",
    ),
    ...[
      "```console",
      "$ carryover check --rules-only --rules made/rules.yaml | head -n 1",
      "carryover check of ….yaml",
      "$ false",
      "$ echo $?",
      "1",
      "```",
    ],
    ...sh(
      "curl -s http://127.0.0.1:8081/readyz",
      'curl -s -H "Authorization: Bearer $TOKEN" https://api.example.com/iam/v1/roles | jq -e .items',
    ),
    ...["```text", "[", "…", "  }", "]", "```"],
    ...sh(
      "npx carryover serve --config carryover.yaml",
      "curl -s http://127.0.0.1:8081/metrics | grep ^carryover_build_info",
    ),
    ...["```text", "carryover_build_info{…} 1", "```"],
    ...sh('curl -s https://v1.example.com/iam/v1/groups -H "Authorization: Bearer $TOKEN" | head -c 5'),
  );
});

it.each([
  ["a command that fails", sh("true", "ls nothing"), /docs\/new\.md:5: `ls nothing`\nends with 2, not 0/],
  ["a command that fails in a pipe", sh("ls nothing | cat"), /ends with 2/],
  ["an option that is not there", sh("carryover serve --uptream-v2-url x"), /go on serving and does not.*--uptream/s],
  [
    "an address that answers with an error",
    sh("curl -s https://api.example.com/iam/v1/nothing"),
    /ends with 22, not 0/,
  ],
  ["another end than it states", sh("(exit 3) # exit 2: not so"), /ends with 3, not 0 or 2/],
  ["other output", [...sh("echo yes"), "```text", "no", "```"], /the page shows\n {2}no\nbut it says\n {2}yes/],
  ["more output than it shows", ["```console", "$ printf 'a\\nb\\n'", "a", "```"], /goes on\n {2}b/],
  ["what would change the machine", sh("touch /etc/carryover"), /new\.md:4: `touch .*write into the folder/s],
  ["half a command", sh("if true; then"), /new\.md:4: no shell takes this/],
  ["an end to the reader's terminal", sh("exit 0"), /ends the shell/],
])("refuses %s, with its place", { timeout: 240_000 }, async (_what, lines, said) => {
  await expect(on(...lines)).rejects.toThrow(said);
});
