import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createIdentity } from "../../src/ledger/identity.ts";
import { type ComparisonResult, DIFFERENCE_CLASSES, isConclusive, isDifference } from "../../src/model/comparison.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import { SLICES } from "../../src/rollout/evidence-window.ts";
import { FIRST_RISK } from "../../src/rollout/promotion.ts";
import { failedByTranslation, initialRuleState } from "../../src/rollout/rule-state.ts";
import { LONGEST_WAIT, MAX_QUIET_TIMES_PER_STEP, STEPS } from "../../src/rollout/step-back.ts";
import { upperBound } from "../../src/rollout/upper-bound.ts";
import { makeRule } from "../rollout/make-rule.ts";
import { tableOf } from "./tables.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const page = read("docs/cutover.md");

const rows = (name: string) => tableOf(page, name);
const bare = (cell = "") => cell.replaceAll("`", "");

describe("docs/cutover.md", () => {
  it("tells of every result of a comparison whether it counts", () => {
    const results: readonly ComparisonResult[] = ["equal", ...DIFFERENCE_CLASSES, "noise", "failed"];
    const said = rows("results").map(([result, counts]) => [bare(result), counts]);
    const counts = (result: ComparisonResult) =>
      !isConclusive(result) ? "not counted" : isDifference(result) ? "yes" : "no";
    expect(said.toSorted()).toEqual(results.map((result) => [result, counts(result)]).toSorted());
  });

  it("has a row for each mode", () => {
    expect(rows("modes").map(([mode]) => bare(mode))).toEqual(["native", "shadow", "translate"]);
  });

  it("has the bounds that comparisons really give", () => {
    const [, table = ""] = page.split(
      "| differences | to be below 2 % | below 1 % | below 0.1 % |\n|---|---|---|---|\n",
    );
    const lines = (table.split("\n\n")[0] ?? "").split("\n").map((line) => line.match(/[\d,]+/g) ?? []);
    expect(lines).toHaveLength(3);
    for (const [differences, ...needed] of lines) {
      for (const [index, share] of [0.02, 0.01, 0.001].entries()) {
        const comparisons = Number(needed[index]?.replace(",", ""));
        expect(upperBound(Number(differences), comparisons, FIRST_RISK)).toBeLessThan(share);
        expect(upperBound(Number(differences), comparisons - 1, FIRST_RISK)).toBeGreaterThanOrEqual(share);
      }
    }
  });

  it("has the numbers of stepping back", () => {
    expect(SLICES).toBe(10);
    expect(page).toContain("(ten slices,");
    expect(page).toContain(
      `for ${STEPS.map((step) => step * 100)
        .join(", ")
        .replace(/, (\d+)$/, " and $1")} % of its`,
    );
    expect(page).toContain(`1, 2, 4, 8, ${LONGEST_WAIT} times \`returnAfter\``);
    expect(MAX_QUIET_TIMES_PER_STEP).toBe(4);
    expect(page).toContain("four times as long, when there are no calls");
  });

  it("has the brakes of a rule that moves by itself and names none", () => {
    const settings = initialRuleState(AUTOMATIC, 0).stepBack?.settings;
    expect(settings).toMatchObject({
      failures: 0.02,
      differences: 0.005,
      minRequests: 200,
      minComparisons: 20,
      minClients: 1,
    });
    expect(settings).toMatchObject({ window: 300_000, returnAfter: undefined });
    expect(page).toContain(
      "`failures` 0.02 and `differences` as `differencesBelow`, `minRequests` 200, `minComparisons` 20, `minClients` 1, `window` 5m, and no return",
    );
  });

  it("says what counts against a translation, and what does not", () => {
    const judged = CASES.map(([, facts]) => failedByTranslation({ ...translated(), ...facts }));
    const words = judged.map((failed) => (failed === undefined ? "not at all" : failed ? "as failure" : "as good"));
    expect(rows("counted").map(([what, counts]) => [what?.split(/[:,]/, 1)[0], counts])).toEqual(
      CASES.map(([what], index) => [what, words[index]]),
    );
  });

  it("says which names of clients get `raw:` before them", () => {
    const row = page.split("\n").find((line) => line.startsWith("| `raw:")) ?? "";
    const identity = createIdentity({
      identify: ["header:x-client"],
      names: ["ci-bot=ci"],
      hash: false,
      exclude: [],
      key: "",
    });
    const named = (name: string) =>
      identity.nameOf([["x-client", Buffer.from(name, "utf8").toString("latin1")]]) === `raw:${name}`;
    const said: readonly (readonly [word: string, name: string])[] = [
      ["`unknown`", "unknown"],
      ["`other`", "other"],
      ["`h-` and 16 digits", "h-0123456789abcdef"],
      ["`clients.names`", "ci-bot"],
      ["other letters than ASCII", "сi-bot"],
    ];
    for (const [word, name] of said) expect([word, row.includes(word), named(name)]).toEqual([word, true, true]);
    expect(named("anybody")).toBe(false);
  });
});

function translated(): Exchange {
  const exchange = createExchange("id", 0, "GET", "/iam/v1/groups");
  const calls = [{ upstream: "v2", status: 200, ms: 1 }] as unknown as Exchange["calls"];
  return { ...exchange, apiVersion: "v1", mode: "translate", status: 200, calls };
}

const CASES: readonly (readonly [string, Partial<Exchange>])[] = [
  ["answered with 2xx or 3xx", { status: 200 }],
  ["the translation failed", { status: 502, reason: "LIST_UNPROVEN" }],
  ["the client's own error", { status: 404 }],
  ["the platform's 5xx", { status: 503, reason: "UPSTREAM_UNREACHABLE" }],
  ["carryover's limits (`OVERLOADED`)", { status: 503, reason: "OVERLOADED" }],
  ["the client left", { status: 200, aborted: true }],
];

const AUTOMATIC = makeRule(
  "auto",
  {},
  {
    mode: "shadow",
    shadow: { sample: 1, control: 0.1 },
    promoteWhen: { differencesBelow: 0.005, minClients: 3, automatic: true },
  },
);
