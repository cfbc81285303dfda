import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readRules } from "../../src/config/rules.ts";
import { deprecationHeaders } from "../../src/model/deprecation.ts";
import { problemBody } from "../../src/model/problem.ts";
import { brownoutProblem } from "../../src/rollout/brownout-problem.ts";
import { NO_SHADOW } from "../../src/rollout/rule-state.ts";
import { createSchedule } from "../../src/rules/schedule.ts";
import { problemHeaders } from "../../src/server/response.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/brownouts.md");
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
const NOW = Date.UTC(2098, 0, 1);

const parsed = (text: string) =>
  readRules(new TextEncoder().encode(text), {
    ...{ name: "brownouts.md", resources: [], native: true, shared: true, now: NOW, expired: "refuse" },
  });

describe("docs/brownouts.md", () => {
  it("has a rules file that is taken without a warning", () => {
    expect(parsed(block("yaml")).warnings).toEqual([]);
  });

  it("has the response of its rule", () => {
    const [rule] = parsed(block("yaml")).rules.rules;
    if (rule?.brownout === undefined) throw new Error("its first rule is not a brownout");
    const [window] = createSchedule(rule.brownout.schedule).after(NOW, 1);
    if (window === undefined) throw new Error("it has no window");
    const decision = { mode: "brownout", rule, brownout: rule.brownout, window, at: window.start + 60_000 } as const;
    const notice = deprecationHeaders(rule.headers ?? { successor: false }, "/iam/v2beta1/groups");
    const problem = brownoutProblem({ ...decision, shadow: NO_SHADOW, why: "rule" }, notice);
    const fields = problemHeaders(problem).map(([name, value]) => `${name}: ${value}`);
    expect(block("http").trimEnd().split("\n")).toEqual([
      `HTTP/1.1 ${problem.http} Bad Request`,
      ...fields,
      "",
      problemBody(problem),
    ]);
  });

  it("has schedules in the runbook that are taken", () => {
    const [, table = ""] = read("docs/runbook.md").split("| when | cron | duration | whom |\n|---|---|---|---|\n");
    const rows = (table.split("\n\n")[0] ?? "").split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    expect(rows).toHaveLength(4);
    for (const [, , cron = "", durations = ""] of rows) {
      for (const [duration] of durations.matchAll(/\b\d+[mh]\b/g)) {
        const long = durations.includes("allowLong") ? ", allowLong: true" : "";
        const text = block("yaml")
          .replace(
            /schedule: .*/,
            `schedule: { cron: "${cron.replaceAll("`", "")}", zone: UTC, duration: ${duration} }`,
          )
          .replace("stopAbove: 0.3", `stopAbove: 0.3${long.replace(", ", "\n      ")}`)
          .replace("from: 2099-03-01, until: 2099-05-01", "from: 2099-01-01, until: 2099-12-01");
        expect(parsed(text).rules.rules).toHaveLength(2);
      }
    }
  });
});
