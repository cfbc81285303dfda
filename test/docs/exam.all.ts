import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRules } from "../../src/config/rules.ts";
import { EXAM_TERMS } from "../../src/fleet/exam-operations.ts";
import { comparisonsNeeded } from "../../src/rollout/upper-bound.ts";
import { rehearsalOf } from "../../src/rules/rule.ts";

const page = readFileSync(new URL("../../docs/exam.md", import.meta.url), "utf8");

test("docs/exam.md has a rehearsal that is taken without a warning", () => {
  const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const { rules, warnings } = readRules(new TextEncoder().encode(text), {
    ...{ name: "exam.md", resources: [], native: true, now: Date.UTC(2098, 0, 1), expired: "refuse" },
  });
  expect(warnings).toEqual([]);
  expect(rules.rules.map(rehearsalOf)).toEqual([{ client: "ci-bot", until: Date.UTC(2098, 11, 1, 10) }, undefined]);
});

test("docs/exam.md says how many responses without a difference are enough", () => {
  expect(page).toContain(`${comparisonsNeeded(EXAM_TERMS.below, 0)} without a difference are enough`);
});
