import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../src/config/config.ts";
import { readRules } from "../../src/config/rules.ts";
import { settingsJsonSchema } from "../../src/config/schema.ts";
import { isJsonObject, member } from "../../src/model/json.ts";
import { rulesContext } from "../../src/rollout/rules-file.ts";
import type { Block, Page } from "./page.ts";
import { pagesToFollow } from "./pages.ts";

/** Rules on pages expire: they are read as on the day on which this was written. */
const NOW = Date.UTC(2026, 10, 22);
const pages = pagesToFollow();
const bytes = (text: string) => new TextEncoder().encode(text);
const properties = member(settingsJsonSchema(), "properties");
const OPTIONS = new Set(Object.keys(isJsonObject(properties) ? properties : {}));
const catalogue = await loadCatalogue("v2beta1");

const of = (...languages: string[]) =>
  pages.flatMap((page) =>
    page.blocks
      .filter(({ language }) => languages.includes(language))
      .map((block) => ({ at: `${page.name}:${block.line}`, block, wrong: isMeantWrong(page, block) })),
  );

/** `<!-- wrong -->` above a block: it shows a mistake. */
function isMeantWrong({ prose }: Page, { line }: Block): boolean {
  return prose[line - 2]?.trim() === "<!-- wrong -->";
}

/** What the product says of a file; undefined: of no kind that it reads, or right. */
function judged(text: string): string | undefined {
  const faults = parseAllDocuments(text).flatMap(({ errors }) => errors.map(String));
  if (faults.length > 0) return faults.join("\n");
  const trees: unknown[] = parseAllDocuments(text).map((document) => document.toJS());
  for (const tree of trees) {
    const fault = judgedTree(tree, text);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function judgedTree(tree: unknown, text: string): string | undefined {
  if (!isJsonObject(tree)) return undefined;
  if (member(tree, "kind") === "ConfigMap") {
    const data = member(tree, "data");
    const files = isJsonObject(data) ? Object.entries(data).filter(([name]) => name.endsWith(".yaml")) : [];
    return files.map(([, file]) => judged(String(file))).find((fault) => fault !== undefined);
  }
  if (member(tree, "version") === "carryover/v1") return fault(() => readRules(bytes(text), context()));
  const keys = Object.keys(tree);
  if (keys.length === 0 || !keys.every((key) => OPTIONS.has(key))) return undefined;
  const flags = {
    config: "carryover.yaml",
    ...("upstream" in tree ? {} : { upstreamV2Url: "https://api.example.com" }),
  };
  // Files that it names exist on the reader's machine.
  const readFile = (name: string) => bytes(name === "carryover.yaml" ? text : "content");
  return fault(() => loadConfig({ flags, env: {}, readFile }).requireKnown(catalogue));
}

function context() {
  return rulesContext(catalogue, { name: "rules.yaml", native: true, now: NOW, expired: "refuse" });
}

function fault(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("a block", () => {
  it("of YAML is what it seems to be: configuration and rules that the product takes, or at least YAML", () => {
    const blocks = of("yaml", "yml").filter(({ wrong }) => !wrong);
    expect(blocks.length).toBeGreaterThan(10);
    const faults = blocks.flatMap(({ at, block }) => {
      const said = judged(block.lines.join("\n"));
      return said === undefined ? [] : [`${at}: ${said}`];
    });
    expect(faults).toEqual([]);
  });

  it("that is meant to be wrong is wrong", () => {
    const wrong = of("yaml", "yml").filter((one) => one.wrong);
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong.filter(({ block }) => judged(block.lines.join("\n")) === undefined).map(({ at }) => at)).toEqual([]);
  });

  it("of JSON is JSON", () => {
    const faults = of("json").flatMap(({ at, block }) => {
      const said = fault(() => JSON.parse(block.lines.join("\n")));
      return said === undefined ? [] : [`${at}: ${said}`];
    });
    expect(faults).toEqual([]);
  });
});
