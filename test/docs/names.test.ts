/** Do the pages name only what there is: files, options, metrics, views, reasons? */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { configOptions } from "../../src/config.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import { rigForTest, takeDownAfterEach } from "../app/rig.ts";
import { parsePrometheus } from "../observe/prometheus.ts";

takeDownAfterEach();

const ROOT = new URL("../../", import.meta.url);
const PAGES = ["README.md", "CONTRIBUTING.md", ...readdirSync(new URL("docs", ROOT)).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith(".md"))
  .map((name) => [name, readFileSync(new URL(name, ROOT), "utf8")] as const);

const options = configOptions().map(({ path }) => path);
const sections = [...new Set(options.map((path) => path.split(".", 1)[0]))];
let metrics: readonly string[] = [];

beforeAll(async () => {
  const { adminUrl } = await rigForTest();
  metrics = [...parsePrometheus(await (await fetch(`${adminUrl}/metrics`)).text()).types.keys()];
});

/** Keys of a rule that look like options. */
const RULE_KEYS: ReadonlySet<string> = new Set(["shadow.sample", "shadow.control"]);

/** What stands between backticks, outside of blocks. */
function words(text: string): readonly string[] {
  return [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, word = ""]) => word);
}

describe.each(PAGES)("%s", (_name, text) => {
  it("names only files that there are", () => {
    const named = words(text).filter((word) => /^(?:src|test|scripts|docs|deploy|helm)\/[\w./-]*\w$/.test(word));
    expect(named.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
  });

  it("names only options that there are, or a branch of them", () => {
    const shape = new RegExp(`^(?:${sections.join("|")})\\.[A-Za-z0-9.*]*[A-Za-z0-9*]$`);
    const known = (name: string) => {
      const pattern = new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", "[A-Za-z0-9]+")}(?:\\.|$)`);
      return RULE_KEYS.has(name) || options.some((path) => pattern.test(path));
    };
    const named = words(text).filter((word) => shape.test(word) && !/\.(?:md|ts|yaml|json)$/.test(word));
    expect(named.filter((name) => !known(name))).toEqual([]);
  });

  it("names only metrics that there are", () => {
    const said = [...text.matchAll(/\bcarryover_[a-z0-9_]*[a-z0-9]\b/g)].map(([name]) => name);
    const known = (name: string) =>
      metrics.some((metric) => metric === name.replace(/_(?:bucket|sum|count)$/, "") || metric.startsWith(`${name}_`));
    expect(said.filter((name) => !known(name))).toEqual([]);
  });

  it("gives errors the status that they have", () => {
    const said = [...text.matchAll(/\b(\d{3}) `([A-Z]+_[A-Z_]+|INTERNAL|OVERLOADED)`/g)];
    const real = new Map<string, number>(Object.entries(PROBLEMS).map(([reason, { http }]) => [reason, http]));
    expect(
      said.filter(([, status, reason = ""]) => real.get(reason) !== Number(status)).map(([whole]) => whole),
    ).toEqual([]);
  });
});
