import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { RULES, run, tool } from "./programs.ts";
import { allRules, type RulesFile, testFiles } from "./rules-file.ts";

const place = { folder: "" };
beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "rules-"));
});
afterAll(() => rm(place.folder, { recursive: true, force: true }));

describe("promtool", () => {
  test("finds nothing to complain of in the rules", async () => {
    const { code, text } = await run(tool("promtool"), ["check", "rules", "--lint=all", "--lint-fatal", RULES]);
    expect([code, text]).toEqual([0, expect.stringContaining(`SUCCESS: ${allRules().length} rules found`)]);
  });

  test.concurrent.each(testFiles().map((file) => [basename(file), file]))(
    "%s holds",
    async (_name, file) => {
      const { code, text } = await run(tool("promtool"), ["test", "rules", file]);
      expect([code, text]).toEqual([0, expect.stringContaining("SUCCESS")]);
      // Weeks, evaluated hour by hour.
    },
    300_000,
  );

  test("fails for a rule that asks for something else: every one of these tests is able to fail", async () => {
    const broken = await copyOf("instances.yaml", (rules) => {
      for (const rule of rules.groups.flatMap((group) => group.rules)) {
        if (rule.alert !== undefined) Object.assign(rule, { expr: "vector(0) > 1" });
      }
    });
    const { code, text } = await run(tool("promtool"), ["test", "rules", broken]);
    const names = [...(await readFile(broken, "utf8")).matchAll(/alertname="(\w+)",alertstate="firing",sev/g)];
    expect(code).toBe(1);
    for (const [, name = ""] of names) expect(text).toContain(`alertname=\\"${name}\\"`);
  });
});

/** A test file beside changed rules. */
async function copyOf(name: string, change: (rules: RulesFile) => void): Promise<string> {
  const rules = parse(await readFile(RULES, "utf8")) as RulesFile;
  change(rules);
  const file = join(place.folder, "test/real/monitoring/rules", name);
  const copy = join(place.folder, "helm/files/rules/carryover.yaml");
  for (const path of [file, copy]) await mkdir(dirname(path), { recursive: true });
  await writeFile(copy, stringify(rules));
  await cp(testFiles().find((path) => basename(path) === name) ?? "", file);
  return file;
}
