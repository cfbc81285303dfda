/** Does a rules file move one operation of one client, and back? (The thinnest path through everything that takes part.) */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { later, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const FLAGS = { cutoverReloadSeconds: "0.05", shadowConcurrent: "8" };

/** A rig under rules, and how to change them: resolves when the new ones are in force. */
async function ruled(rules: string) {
  const folder = await mkdtemp(join(tmpdir(), "carryover-rules-"));
  later(() => rm(folder, { recursive: true }));
  const file = join(folder, "rules.yaml");
  await writeFile(file, rules);
  const rig = await rigForTest({ flags: { ...FLAGS, cutoverRulesFile: file } });
  const view = async (path: string) => (await fetch(`${rig.adminUrl}${path}`)).json();
  const until = async (path: string, holds: (seen: never) => boolean) => {
    for (;;) {
      const seen = (await view(path)) as never;
      if (holds(seen)) return seen;
      await new Promise((next) => setTimeout(next, 20));
    }
  };
  const change = async (text: string) => {
    const before = ((await view("/rules")) as { rulesFile: { reloads: number } }).rulesFile.reloads;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
    await until("/rules", ({ rulesFile }: { rulesFile: { reloads: number } }) => rulesFile.reloads > before);
  };
  return { ...rig, view, until, change };
}

const as = (product: string) => ({ headers: { "user-agent": `${product}/1.0` } });
const GROUPS = "/iam/v1/groups";

describe("a rules file", () => {
  it("moves one operation of one client, and all back at once", async () => {
    const rig = await ruled(`version: carryover/v1
rules:
  - name: ci-reads
    match: { operation: reads, resource: [groups], client: ci-bot }
    mode: translate
  - name: everything-else
    mode: native
    match: {}
`);
    const modes = async () => {
      const answers = [
        await rig.ask("GET", GROUPS, as("ci-bot")),
        await rig.ask("GET", GROUPS, as("ui")),
        await rig.ask("GET", "/iam/v1/roles", as("ci-bot")),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      return answers.map((answer) => answer.field("carryover-mode"));
    };
    expect(await modes()).toEqual(["translate", "native", "native"]);
    await rig.change("version: carryover/v1\nforce: native\nrules: []\n");
    expect(await modes()).toEqual(["native", "native", "native"]);
    await rig.change("version: carryover/v1\nforce: translate\nrules: []\n");
    expect(await modes()).toEqual(["translate", "translate", "translate"]);
  });

  it("compares what it says is to be compared", async () => {
    const rig = await ruled(`version: carryover/v1
rules:
  - name: look
    mode: shadow
    match: {}
    shadow: { sample: 1 }
`);
    expect((await rig.ask("GET", GROUPS, as("ui"))).field("carryover-mode")).toBe("shadow");
    const progress = await rig.until(
      "/progress",
      ({ bounds }: { bounds: readonly { comparisons: number }[] }) => bounds.length > 0,
    );
    expect(progress).toMatchObject({
      bounds: [
        { resource: "group", operation: "list", comparisons: 1, differences: 0 },
        { client: "ui", comparisons: 1, differences: 0 },
      ],
      rules: [{ name: "look", mode: "shadow", doing: "shadow", state: "as-written" }],
    });
    expect(await rig.view("/clients")).toMatchObject({ clients: [{ name: "ui", requests: { v1: 1, v2: 0 } }] });
  });
});
