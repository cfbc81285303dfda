/** The cost of reading a file is bounded. (Counted, not timed.) */
import { describe, expect, test } from "vitest";
import { createExplainer, firstFaults, MAX_FAULTS } from "../../../src/config/rules.ts";
import { boundExceeded, treeTooLarge } from "../../../src/config/yaml-file.ts";
import { faults, file, read } from "./context.ts";

const HEAD = "version: carryover/v1\nrules:\n";
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

const rich = (at: number) => `{ name: canary-${at}, mode: translate, expires: 2099-03-01,
      match: { resource: [groups, repos], operation: [reads, create], client: [team-${at}-ci, team-${at}-batch], percent: ${at % 99},
        header: { x-canary-${at}: always }, cookie: { canary-${at}: always },
        time: { until: 2099-01-01T18:00:00Z, days: [mon, tue, wed], hours: 08:00-17:00 } },
      stepBack: { failures: 0.02, differences: 0.001, minRequests: 200, window: 5m } }`;

test("500 rules that use most of what there is are read", () => {
  const text = file(...Array.from({ length: 500 }, (_, at) => rich(at)));
  expect(read(text).rules.rules.length).toBe(500);
});

describe("only the first 20 faults are told, and the others counted", () => {
  const cases: readonly (readonly [what: string, text: string, more: string])[] = [
    ["unknown keys", `${HEAD}  []\n${lines(10_020, (at) => `k${at}: 1\n`)}`, "10,000"],
    [
      "unknown keys of a rule",
      file(`{ name: a, mode: native, match: {}, ${lines(120, (at) => `k${at}: 1, `)} }`),
      "100",
    ],
    [
      "unknown names",
      file(`{ name: a, mode: native, match: { resource: [${lines(5000, (at) => `x${at}, `)}] } }`),
      "4,980",
    ],
    [
      "unknown operations",
      file(`{ name: a, mode: native, match: { operation: [${lines(90, (at) => `x${at}, `)}] } }`),
      "70",
    ],
    ["wrong rules", HEAD + lines(500, (at) => `  - { name: r${at}, mode: native, match: 1 }\n`), "480"],
    ["hidden rules", HEAD + lines(500, (at) => `  - { name: r${at}, mode: native, match: {} }\n`), "479"],
    ["rules of one name", HEAD + lines(31, (at) => `  - { name: r, mode: native, match: { client: c${at} } }\n`), "10"],
    ["keys that are there twice", HEAD + lines(1000, () => "  x: 1\n"), "979"],
  ];
  test.each(cases)("%s", (_what, text, more) => {
    const told = faults(text);
    expect(told.length).toBe(MAX_FAULTS + 1);
    expect(told.at(-1)).toBe(`r.yaml:1:1: and ${more} more; correct these first`);
  });

  test("what is not told is never put into words", () => {
    let worded = 0;
    const fault = () => {
      worded += 1;
      return { where: "r.yaml:1:1", what: "x", remedy: "y" };
    };
    firstFaults(
      Array.from({ length: 60_000 }, () => fault),
      "r.yaml",
    );
    expect(worded).toBe(MAX_FAULTS);
  });

  test("the schema's keys are looked at only for what is told", () => {
    let asked = 0;
    const place = () => {
      asked += 1;
      return undefined;
    };
    const untouched = { tree: {}, faults: [], at: () => undefined, locationOf: place };
    const keys = Array.from({ length: 60_000 }, (_, at) => `k${at}`);
    const issue = { code: "unrecognized_keys", keys, path: [], message: "", input: undefined } as const;
    const untold = createExplainer(untouched, "r.yaml")(issue as never, []);
    expect([untold.length, asked]).toEqual([60_000, 0]);
    firstFaults(untold, "r.yaml");
    // The key, and what it should be in.
    expect(asked).toBe(2 * MAX_FAULTS);
  });
});

test("a misspelt operation is told together with what else is wrong with its rule", () => {
  expect(faults(file("{ name: a, mode: native, match: { operation: read, percent: 110 } }"))).toEqual([
    "r.yaml:3:65 rules.1.match.percent: got 110; expected a percentage from 0 to 100",
    'r.yaml:3:50 rules.1.match.operation: these resources have no operation "read"; did you mean reads?',
  ]);
});

describe("what no rules file has is refused before it is parsed, with its place:", () => {
  const deep = (at: number) => `${"[".repeat(at)}${"]".repeat(at)}`;
  const cases: readonly (readonly [what: string, text: string, where: string, said: RegExp])[] = [
    ["brackets", `version: carryover/v1\nrules: ${"[".repeat(200_000)}`, "2:24", /more than 16 deep/],
    ["braces", `a: ${"{a: ".repeat(50_000)}`, "1:68", /more than 16 deep/],
    ["dashes", "- ".repeat(100_000), "1:17", /more than 8 levels/],
    ["question marks", "? ".repeat(100_000), "1:17", /more than 8 levels/],
    ["colons", "a: ".repeat(50_000), "1:26", /more than 8 levels/],
    ["indents", lines(300, (at) => `${" ".repeat(at)}a:\n`), "130:1", /indented by more than 128/],
    ["anchors and aliases", `a: &a x\n${lines(5000, (at) => `b${at}: *a\n`)}`, "1001:7", /more than 1000 anchors/],
    ["words", `[${"x,".repeat(100_000)}]`, "1:73334", /more than 110000 words/],
    ["escapes", `a: "${"\\q".repeat(100_000)}"`, "1:4", /more than 5000 escapes/],
  ];
  test.each(cases)("%s", (_what, text, where, said) => {
    expect(faults(text)).toEqual([expect.stringMatching(said)]);
    expect(faults(text)[0]).toContain(`r.yaml:${where}: `);
  });

  test("and what stands in a text or a comment is nothing of the kind", () => {
    const texts = [
      `"${"[".repeat(99)}"`,
      `'${"- ".repeat(99)}'`,
      `|\n  ${"? ".repeat(99)}\n  [[[[[[[[[[[[[[[[[[[[`,
      `1 # ${deep(30)}[[[[`,
    ];
    for (const text of texts) expect(boundExceeded(`a: ${text}\n`), text).toBeUndefined();
    expect(boundExceeded(`a: ${deep(16)}`)).toBeUndefined();
    expect(boundExceeded(`a: ${deep(17)}`)).toMatchObject({ line: 1, column: 20 });
    expect(boundExceeded(lines(1000, () => `- ${deep(9)}\n`))).toBeUndefined();
  });
});

test("an alias counts again wherever it stands, and may not stand within itself", () => {
  const list = Array.from({ length: 1000 }, () => 1);
  expect(treeTooLarge(Array.from({ length: 50 }, () => list))).toBeUndefined();
  expect(treeTooLarge(Array.from({ length: 60 }, () => list))).toMatch(/more than 60000 values/);
  expect(faults("version: &a [*a]\nrules: []\n")).toEqual([expect.stringContaining("aliases")]);
});
