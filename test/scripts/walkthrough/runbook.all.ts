import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allMetrics } from "../../../scripts/docs/metrics.ts";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { readRules } from "../../../src/config/rules.ts";
import { rulesContext } from "../../../src/rollout/rules-file.ts";

const ROOT = new URL("../../../", import.meta.url);

interface Action {
  readonly kind: string;
  readonly text: string;
  readonly says: readonly string[];
  readonly back: boolean;
}
interface Step {
  readonly id: string;
  readonly title: string;
  readonly actions: readonly Action[];
}

const text = readFileSync(new URL("docs/runbook.md", ROOT), "utf8");
const { expressionsOf, readRunbook, says } = await import(new URL("scripts/walkthrough/runbook.mjs", ROOT).href);
const { PROOFS } = await import(new URL("scripts/walkthrough/proofs.mjs", ROOT).href);
const { MEANWHILE } = await import(new URL("scripts/walkthrough/meanwhile.mjs", ROOT).href);
const { steps, before }: { steps: readonly Step[]; before: readonly Action[] } = readRunbook(text);
const actions = [...before, ...steps.flatMap((step) => step.actions)];
const commands = actions.flatMap((action) => (action.kind === "command" ? [action.text] : []));

describe("docs/runbook.md", () => {
  it("has no numbered section that the walkthrough leaves out, and numbers them from 1", () => {
    const numbered = [...text.matchAll(/^## ((\d+)\. .*)$/gm)];
    expect(numbered.map(([, , number]) => Number(number))).toEqual(numbered.map((_, index) => index + 1));
    const titles = steps.map(({ title }) => title);
    expect(numbered.map(([, title]) => title).filter((title) => !titles.includes(title ?? ""))).toEqual([]);
  });

  it("has a step for each proof of the walkthrough, in the same order, and the reverse", () => {
    expect(steps.map(({ id }) => id)).toEqual([...PROOFS.keys()]);
  });

  it("asks something in each step, and says how it is taken back", () => {
    for (const { id, actions: own } of steps) {
      const section = text.slice(text.indexOf(`<!-- step: ${id} -->`)).split("\n## ")[0] ?? "";
      expect(section, id).toMatch(/^\*\*Back\*\*: \S/m);
      const asked = own.filter(
        (action) =>
          !action.back && /^(?:(?:\w+="\$\w+" )?carryover (?:status|gate|report|replay)|curl) /.test(action.text),
      );
      expect(asked.length, id).toBeGreaterThan(0);
    }
  });

  it("lets nothing happen in the world that the walkthrough does not know, and uses all that it knows", () => {
    const named = new Set(actions.filter(({ kind }) => kind === "meanwhile").map((action) => action.text));
    expect([...named].toSorted()).toEqual([...MEANWHILE.keys()].toSorted());
  });

  it("has rules files that are right, whole, and different from the one before", async () => {
    const catalogue = await loadCatalogue("v2beta1");
    const context = rulesContext(catalogue, { name: "rules.yaml", native: true, now: Date.now(), expired: "refuse" });
    const files = actions.flatMap((action) =>
      action.text === "rules.next.yaml" ? [`${action.says.join("\n")}\n`] : [],
    );
    expect(files.length).toBeGreaterThan(5);
    for (const [index, file] of files.entries()) {
      expect(file).toMatch(/^version: carryover\/v1\n/);
      expect(file).not.toBe(files[index - 1]);
      expect(readRules(new TextEncoder().encode(file), context).rules.rules.length).toBeGreaterThan(0);
    }
  });

  // A misspelt metric or label selects nothing, which looks like zero.
  it("compares metrics that exist, by labels that they have", () => {
    const asked: readonly string[] = expressionsOf(text);
    expect(asked.length).toBeGreaterThan(6);
    const metrics = allMetrics();
    for (const line of asked) {
      const selectors = [...line.matchAll(/(carryover_\w+?)(?:_bucket)?(?:\{([^}]*)\})?(?=[[)])/g)];
      expect(selectors.length, line).toBeGreaterThan(0);
      for (const [, name = "", matchers = ""] of selectors) {
        const labels = metrics.get(name)?.labels.map((label) => label.name);
        const matched = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
        const by = (/by \(([^)]*)\)/.exec(line)?.[1] ?? "")
          .split(", ")
          .filter((label) => label !== "" && label !== "le");
        expect(labels, line).toEqual(expect.arrayContaining([...matched, ...by]));
      }
    }
  });

  it("names no shell variable that it does not introduce", () => {
    // PATH is the shell's own.
    const introduced = [...text.matchAll(/^export (?!PATH=)([A-Z0-9]+)=/gm)].map(([, name]) => name);
    const used = commands.flatMap((line) => [...line.matchAll(/\$\{?([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name));
    expect([...new Set(used)].toSorted()).toEqual(introduced.toSorted());
  });
});

describe("reading a runbook", () => {
  it("takes a section's commands in order, with what they print, and what follows Back as the way back", () => {
    const page = [
      "## 1. One",
      "<!-- step: one -->",
      "```yaml rules.yaml",
      "rules: []",
      "```",
      "```sh",
      "do it",
      "check it",
      "```",
      "<!-- meanwhile: rain -->",
      "```sh note",
      "for people",
      "```",
      "**Back**: so.",
      "```console",
      "$ undo it",
      "undone",
      "```",
    ].join("\n");
    const [step] = readRunbook(page).steps as readonly Step[];
    expect(step).toMatchObject({ id: "one", title: "1. One" });
    expect(step?.actions).toEqual([
      { kind: "file", text: "rules.yaml", says: ["rules: []"], back: false, line: 3 },
      { kind: "command", text: "do it", says: [], back: false, line: 7 },
      { kind: "command", text: "check it", says: [], back: false, line: 8 },
      { kind: "meanwhile", text: "rain", says: [], back: false, line: 10 },
      { kind: "command", text: "undo it", says: ["undone"], back: true, line: 16 },
    ]);
  });

  it("refuses two steps of one name, and commands of no step", () => {
    expect(() => readRunbook("<!-- step: a -->\n<!-- step: a -->")).toThrow("line 2");
    expect(() => readRunbook("## Words\n```sh\nls\n```")).toThrow("line 2: a block outside");
  });

  it("finds the lines that a command must say, in their order", () => {
    const said = "Clients\n  client   v1\n  ci-bot   12  renames\n";
    expect(says(said, ["client v1", "…", "ci-bot … renames"])).toBeUndefined();
    expect(says(said, ["client v1", "ci-bot … lacking"])).toBe("ci-bot … lacking");
    expect(says(said, ["ci-bot …", "client v1"])).toBe("client v1");
    expect(says("a.c", ["abc"])).toBe("abc");
  });
});
