import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const { chartReadme, pagesOf } = await import(new URL(`file://${ROOT}/scripts/release/chart-readme.mjs`).href);
const TEXT =
  "[runbook.md](../docs/runbook.md#a-b), [carryover](../README.md), [TLS](ci/mtls-values.yaml), [x](https://x.example)";

test("links of the packaged chart lead to the version's own files", () => {
  const pages = "https://git.example/a/b/blob/v1.2.3";
  expect(chartReadme(TEXT, pages)).toBe(
    `[runbook.md](${pages}/docs/runbook.md#a-b), [carryover](${pages}/README.md), [TLS](${pages}/helm/ci/mtls-values.yaml), [x](https://x.example)`,
  );
});

test("where nobody knows a repository, no link of the packaged chart leads out of it", () => {
  expect(chartReadme(TEXT, undefined)).toBe(
    "`docs/runbook.md`, carryover (`README.md`), [TLS](ci/mtls-values.yaml), [x](https://x.example)",
  );
  expect(chartReadme(readFileSync(resolve(ROOT, "helm/README.md"), "utf8"), undefined)).not.toContain("](../");
});

test.each([
  ["https://git.example/a/b.git", "https://git.example/a/b/blob/v1.2.3"],
  ["https://user@git.example/a/b", "https://git.example/a/b/blob/v1.2.3"],
  ["git@git.example:a/b.git", "https://git.example/a/b/blob/v1.2.3"],
  ["ssh://git@git.example/a/b", "https://git.example/a/b/blob/v1.2.3"],
  ["/srv/repository", undefined],
  ["", undefined],
])("a repository at %s is shown at %s", (address, pages) => {
  expect(pagesOf(address, "1.2.3")).toBe(pages);
});
