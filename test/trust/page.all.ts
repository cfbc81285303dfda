import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { GOALS } from "../../scripts/trust/goals.ts";
import { missedGoals, missedWords, type Result, trustPage, withRecorded } from "../../scripts/trust/page.ts";
import { PROMISES, ROWS } from "../../scripts/trust/plan.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const result = withRecorded(read("test/trust/result.json") as Result, read("bench/recorded.json"));

interface Counted {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}
type Report = Readonly<Record<"numPassedTests" | "numFailedTests", number> & { testResults: readonly unknown[] }>;
type Line = Readonly<Record<"id" | "what" | "unit", string> & { value: number }>;
const { testsOf, figuresOf, mended, mergedInto, replaced, summed, resultOf, triedBy } = (await import(
  "../../scripts/trust/gather.mjs" as string
)) as {
  testsOf(report: unknown): Map<string, Counted>;
  figuresOf(text: string): Line[];
  mended(report: Report, again: Report): Report;
  replaced(figures: readonly Line[], again: readonly Line[]): Line[];
  summed(figures: readonly Line[]): unknown[];
  triedBy(figures: readonly Line[], passed: boolean): Map<string, Counted>;
  resultOf(parts: readonly unknown[], around: unknown): Result;
  mergedInto(old: Result, prefix: string, parts: readonly unknown[], around: unknown): Result;
};

const AROUND = { date: "2026-11-22", commit: "abc", node: "v20", machine: "2 cores", seed: "1" };
const PLAN = [
  {
    title: "Nothing is lost",
    says: "Really.",
    rows: [
      { id: "T-AAA-01", what: "one" },
      { id: "T-AAA-02", what: "two" },
      { id: "T-AAA-03", what: "three" },
      { id: "T-AAA-04", what: "four", notApplicable: "there is no four" },
    ],
  },
];
const GOAL = {
  what: "bytes lost",
  of: ["T-AAA-01"],
  figure: /^bytes lost/,
  take: "sum",
  goal: "0",
  met: (value: number) => value === 0,
} as const;

function reportOf(tests: readonly (readonly [fullName: string, status: string])[]): unknown {
  return { testResults: [{ assertionResults: tests.map(([fullName, status]) => ({ fullName, status })) }] };
}

function pageOf(lost: number): string {
  const figures = figuresOf(
    `{"id":"T-AAA-01","what":"bytes lost","value":${lost},"unit":"bytes"}\n{"id":"T-AAA-01","what":"p99","value":3.5,"unit":"ms"}\n{"id":"T-AAA-01","what":"p99","value":7,"unit":"ms"}\n`,
  );
  const tests = testsOf(
    reportOf([
      ["T-AAA-01: one > a", "passed"],
      ["T-AAA-01: one > b", "passed"],
      ["T-AAA-02: two", "failed"],
      ["T-AAA-02, T-AAA-01: both", "skipped"],
    ]),
  );
  return trustPage(
    PLAN,
    [GOAL],
    resultOf([{ command: "npm run x", passed: 2, failed: 1, seconds: 90, tests, figures }], AROUND),
  );
}

describe("the page", () => {
  it("names each row of the plan once, and none that the plan lacks", () => {
    const page = trustPage(PROMISES, GOALS, result);
    const named = [...page.matchAll(/^\| (T-[A-Z]{3}-\d{2}) \|/gm)].map(([, id]) => id ?? "");
    expect(named.toSorted()).toEqual(ROWS.map(({ id }) => id).toSorted());
  });

  it("counts the tests of a row, and says which failed and which were not run", () => {
    const page = pageOf(0);
    expect(page).toContain("| T-AAA-01 | one | 2 passed, 1 skipped |");
    expect(page).toContain("| T-AAA-02 | two | 0 passed, **1 failed**, 1 skipped |");
    expect(page).toContain("| T-AAA-03 | three | **not run** |");
    expect(page).toContain("Of 3 rows 1 passed, 1 failed (T-AAA-02), and 1 were not run (T-AAA-03).");
    expect(page).toContain("| T-AAA-04 | four | there is no four |");
    expect(page).toContain("| `npm run x` | 2 ids | 2 passed, 1 failed | 2 min |");
  });

  it("says of a figure whether its goal is met, missed or not measured", () => {
    expect(pageOf(0)).toContain("| bytes lost | 0 bytes | 0 | met | T-AAA-01 |");
    expect(pageOf(5)).toContain("| bytes lost | 5 bytes | 0 | **missed** | T-AAA-01 |");
    const empty = trustPage(PLAN, [GOAL], resultOf([], AROUND));
    expect(empty).toContain("| bytes lost | not measured | 0 |  | T-AAA-01 |");
    expect(empty).toContain("and 3 were not run (T-AAA-01, T-AAA-02, T-AAA-03)");
  });

  it("fails a row whose tests pass and whose figure misses its goal", () => {
    const page = pageOf(5);
    expect(page).toContain("Of 3 rows 0 passed, 2 failed (T-AAA-01 missed its goal, T-AAA-02), and 1 were not run");
    expect(page).toContain("| T-AAA-01 | one | 2 passed, 1 skipped, **goal missed** |");
  });

  it("blames those rows alone whose own figures miss a goal that several share", () => {
    const share = {
      ...GOAL,
      of: ["T-AAA-01", "T-AAA-03"],
      figure: /^p99/,
      take: "greatest",
      met: (ms: number) => ms < 5,
    } as const;
    const figures = [
      { id: "T-AAA-01", what: "p99", value: 7, unit: "ms" },
      { id: "T-AAA-03", what: "p99", value: 3, unit: "ms" },
    ];
    const found = missedGoals(
      [share],
      resultOf([{ command: "x", passed: 1, failed: 0, seconds: 1, tests: new Map(), figures }], AROUND),
    );
    expect(found).toEqual([{ what: "bytes lost", measured: "7 ms", goal: "0", by: ["T-AAA-01"] }]);
  });

  it("adds up what was counted, and shows from where to where what was measured", () => {
    expect(pageOf(4)).toContain("bytes lost: 4; p99: 3.50 to 7 ms |");
  });
});

describe("other pages", () => {
  it("README.md and docs/coverage.md name the run, its commit and date, and each goal that it missed", () => {
    const [readme = "", coverage = ""] = ["README.md", "docs/coverage.md"].map((page) =>
      readFileSync(join(ROOT, page), "utf8"),
    );
    expect(readme.split("<!-- limits -->")[1]?.split("<!-- end -->")[0]).toContain(
      missedWords(GOALS, result, "docs/trust.md", false),
    );
    for (const { what, measured, goal, by } of missedGoals(GOALS, result)) {
      expect(coverage).toContain(`- ${what}: ${measured}; goal: ${goal}`);
      for (const id of by) expect(readme).toContain(id);
    }
    for (const page of [readme, coverage]) expect(page).toContain(`${result.date} (commit ${result.commit})`);
    expect(missedWords([], result, "docs/trust.md", true)).toBe(
      `The full test run of ${result.date} (commit ${result.commit}) met 0 of 0 goals ([trust](docs/trust.md)).`,
    );
  });

  it("README.md and docs/coverage.md say how many targets bench/RESULTS.md has as missed", () => {
    const results = readFileSync(join(ROOT, "bench/RESULTS.md"), "utf8");
    const runs = [...results.matchAll(/^## Node v(\S+)\n([\s\S]*?)(?=^## )/gm)];
    expect(runs.length).toBeGreaterThan(0);
    const pages = ["README.md", "docs/coverage.md"].map((page) => readFileSync(join(ROOT, page), "utf8"));
    for (const [, node, table = ""] of runs) {
      const verdicts = [...table.matchAll(/\| (yes|no) \|$/gm)].map(([, verdict]) => verdict);
      const missed = verdicts.filter((verdict) => verdict === "no").length;
      for (const page of pages) expect(page).toContain(`${missed} of ${verdicts.length} targets on Node ${node}`);
    }
  });

  it("shows a figure of the bench as the bench recorded it, and fails its row when that misses the goal", () => {
    const row = {
      node: "v20.1.0",
      rows: {
        "busy-pass": {
          what: "get",
          against: "idle",
          asked: "≤ 3×",
          text: "6.4 (1 to 9)×",
          reached: "no",
          commit: "abc",
          date: "2026-01-02",
        },
      },
    };
    const merged = withRecorded({ ...result, node: "v20.1.0" }, { "20": row });
    const figures = merged.figures.filter(({ id }) => id === "T-LOD-06");
    expect(figures).toMatchObject([{ what: expect.stringContaining("2026-01-02, commit abc"), greatest: 6.4 }]);
  });

  it.each(["docs/security.md", "SECURITY.md"])("%s names ids of the plan only", (page) => {
    const known = new Set(ROWS.map(({ id }) => id));
    const named = readFileSync(join(ROOT, page), "utf8").match(/T-[A-Z]{3}-\d{2}/g) ?? [];
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });
});

describe("what is gathered", () => {
  it("takes figures line by line, and nothing that is none", () => {
    expect(figuresOf("")).toEqual([]);
    expect(() => figuresOf('{"id":"T-AAA-01","what":"slope","value":null,"unit":"MB"}\n')).toThrow("no figure");
  });

  it("takes what a file gave when it was run again, instead of what it gave before", () => {
    const of = (name: string, ...all: (readonly [fullName: string, status: string])[]) => ({
      name,
      assertionResults: all.map(([fullName, status]) => ({ fullName, status })),
    });
    const first = [of("a.ts", ["T-AAA-01: x", "passed"]), of("b.ts", ["T-AAA-02: y", "failed"], ["z", "passed"])];
    const again = [of("b.ts", ["T-AAA-02: y", "passed"], ["z", "passed"])];
    const report = mended(
      { testResults: first, numPassedTests: 2, numFailedTests: 1 },
      { testResults: again, numPassedTests: 2, numFailedTests: 0 },
    );
    expect([report.numPassedTests, report.numFailedTests]).toEqual([3, 0]);
    expect([...testsOf(report)].map(([id, { passed, failed }]) => [id, passed, failed])).toEqual([
      ["T-AAA-01", 1, 0],
      ["T-AAA-02", 1, 0],
    ]);
    const line = (what: string, value: number) => ({ id: "T-AAA-02", what, unit: "bytes", value });
    expect(replaced([line("lost", 3), line("lost", 4), line("sent", 5)], [line("lost", 0)])).toEqual([
      line("sent", 5),
      line("lost", 0),
    ]);
  });

  it("takes rows that were run by themselves into an older result, with their own date and commit", () => {
    const part = (command: string, id: string, status: string, value: number, at: string) => ({
      ...{ command, passed: 1, failed: 0, seconds: 60, at },
      tests: testsOf(
        reportOf([
          [`${id}: x`, status],
          ["T-AAA-02: y", status],
        ]),
      ),
      figures: [{ id, what: "bytes lost", unit: "bytes", value }],
    });
    const old = resultOf([part("npm run x", "T-AAA-01", "passed", 0, "old")], AROUND);
    const news = [part("npm run y", "T-AAA-01", "failed", 7, "new")];
    const page = trustPage(PLAN, [GOAL], mergedInto(old, "T-AAA-01", news, { date: "2026-12-01" }));
    expect(page).toContain(
      "| T-AAA-01 | one | 0 passed, **1 failed** (2026-12-01, commit new), **goal missed** | bytes lost: 7 |",
    );
    expect(page).toContain("| T-AAA-02 | two | 1 passed |");
    expect(page).toContain("| `npm run x` | 1 id | 1 passed, 0 failed | 1 min |");
    expect(page).toContain("| `npm run y` | 1 id | 1 passed, 0 failed (2026-12-01, commit new) | 1 min |");
  });

  it("sums figures that are called the same, each with its unit", () => {
    const one = { id: "T-AAA-01", what: "x", unit: "bytes" };
    expect(
      summed([
        { ...one, value: 1 },
        { ...one, value: 3 },
        { ...one, unit: "ms", value: 1 },
      ]),
    ).toEqual([
      { ...one, times: 2, sum: 4, least: 1, greatest: 3 },
      { ...one, unit: "ms", times: 1, sum: 1, least: 1, greatest: 1 },
    ]);
  });

  it("counts a program as one try of each id that it gave figures of", () => {
    const figures = [{ id: "T-AAA-01", what: "x", unit: "", value: 1 }];
    expect([...triedBy(figures, false)]).toEqual([["T-AAA-01", { passed: 0, failed: 1, skipped: 0 }]]);
    expect([...triedBy(figures, true)]).toEqual([["T-AAA-01", { passed: 1, failed: 0, skipped: 0 }]]);
  });
});
