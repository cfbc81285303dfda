import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allMetrics } from "../../scripts/docs/metrics.ts";
import { loadCatalogue } from "../../src/catalogue.ts";
import { readRules } from "../../src/config/rules.ts";
import { rulesContext } from "../../src/rollout/rules-file.ts";

const ROOT = new URL("../../", import.meta.url);

interface Block {
  readonly kind: string;
  readonly file: string;
  readonly lines: readonly string[];
  readonly back: boolean;
}
interface Step {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

const text = readFileSync(new URL("docs/runbook.md", ROOT), "utf8");
const { readRunbook, says } = await import(new URL("scripts/walkthrough/runbook.mjs", ROOT).href);
const { PROOFS } = await import(new URL("scripts/walkthrough/proofs.mjs", ROOT).href);
const { MEANWHILE } = await import(new URL("scripts/walkthrough/world.mjs", ROOT).href);
const { steps, every }: { steps: readonly Step[]; every: ReadonlyMap<string, Step> } = readRunbook(text);
const blocks = [...steps, ...every.values()].flatMap((step) => step.blocks);

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

  it("says for each step what to look at and how it is taken back", () => {
    for (const { id, blocks: own } of steps) {
      const section = text.slice(text.indexOf(`<!-- step: ${id} -->`)).split("\n## ")[0] ?? "";
      expect(section, id).toMatch(/^\*\*Back\*\*: \S/m);
      expect(
        own.filter(({ kind, back }) => !back && (kind === "promql" || kind === "text")).length,
        id,
      ).toBeGreaterThan(0);
    }
  });

  it("lets nothing happen in the world that the walkthrough does not know, and uses all that it knows", () => {
    const named = new Set(blocks.filter(({ kind }) => kind === "meanwhile").map(({ file }) => file));
    expect([...named].toSorted()).toEqual([...MEANWHILE.keys()].toSorted());
  });

  it("has rules files that are right, whole, and different from the one before", async () => {
    const catalogue = await loadCatalogue("v2beta1");
    const context = rulesContext(catalogue, { name: "rules.yaml", native: true, now: Date.now(), expired: "refuse" });
    const files = blocks.filter(({ file }) => file === "rules.next.yaml").map(({ lines }) => `${lines.join("\n")}\n`);
    expect(files.length).toBeGreaterThan(12);
    for (const [index, file] of files.entries()) {
      expect(file).toMatch(/^version: carryover\/v1\nforce: none\n/);
      expect(file).not.toBe(files[index - 1]);
      expect(readRules(new TextEncoder().encode(file), context).rules.rules.length).toBeGreaterThan(0);
    }
  });

  // A misspelt metric or label selects nothing, and `or vector(0)` then makes it look like zero.
  it("compares metrics that exist, by labels that they have", () => {
    const asked = blocks.filter(({ kind }) => kind === "promql").flatMap(({ lines }) => lines);
    expect(asked.length).toBeGreaterThan(40);
    const metrics = allMetrics();
    for (const line of asked) {
      expect(line).toMatch(/ (?:[<>]=?|[!=]=) /);
      const selectors = [...line.matchAll(/(carryover_\w+)(?:\{([^}]*)\})?/g)];
      expect(selectors.length, line).toBeGreaterThan(0);
      for (const [, name = "", matchers = ""] of selectors) {
        const labels = metrics.get(name)?.labels.map((label) => label.name);
        const used = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
        expect(labels, line).toEqual(expect.arrayContaining(used));
      }
    }
  });

  it("names no shell variable that it does not introduce", () => {
    const introduced = [...text.matchAll(/^export ([A-Z0-9]+)=/gm)].map(([, name]) => name);
    const scripts = blocks.filter(({ kind }) => kind === "sh").flatMap(({ lines }) => lines);
    const used = scripts.flatMap((line) => [...line.matchAll(/\$\{?([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name));
    const own = scripts.flatMap((line) => [...line.matchAll(/^([A-Z_]+)=/g)].map(([, name]) => name));
    expect([...new Set(used)].filter((name) => ![...introduced, ...own].includes(name))).toEqual([]);
  });
});

describe("reading a runbook", () => {
  it("takes a section's blocks in order, and what follows Back as the way back", () => {
    const page = [
      "## 1. One",
      "<!-- step: one -->",
      "```sh",
      "do it",
      "```",
      "<!-- meanwhile: rain -->",
      "```sh note",
      "for people",
      "```",
      "**Back**: so.",
      "```promql",
      "a == 1",
      "```",
    ].join("\n");
    const [step] = readRunbook(page).steps as readonly Step[];
    expect(step).toMatchObject({ id: "one", title: "1. One" });
    expect(step?.blocks.map(({ kind, file, back }) => [kind, file, back])).toEqual([
      ["sh", "", false],
      ["meanwhile", "rain", false],
      ["promql", "", true],
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
