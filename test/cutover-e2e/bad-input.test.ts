/** Is a bad rules file refused as a whole, with line and remedy, while the last good one stays in force? (docs/rules.md.) */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { carryover } from "../app/process.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, folder, until } from "./rig.ts";

takeDownAfterEach();

const GOOD = `version: carryover/v1
rules:
  - name: good
    match: {}
    mode: native
`;
const top = (text: string) => `version: carryover/v1\n${text}`;
const one = (rule: string) => top(`rules:\n  - name: one\n${rule}`);
const LONG = `rules:\n${Array.from({ length: 501 }, (_, at) => `  - { name: r${at}, match: { client: c${at} }, mode: native }\n`).join("")}`;

/** `[what, the file, the line of the first fault or 0 where none is one, what must be said of it]`. */
const BAD: readonly (readonly [string, string, number, RegExp])[] = [
  ["an unknown key", top("forse: native\nrules: []\n"), 2, /forse.*force|force/s],
  ["an unknown key of a rule", one("    match: {}\n    mode: native\n    modus: x\n"), 6, /modus/],
  ["an unknown key of a match", one("    match: { clients: ci }\n    mode: native\n"), 4, /client/],
  ["an unknown mode", one("    match: {}\n    mode: translat\n"), 5, /translate/],
  ["no name", top("rules:\n  - match: {}\n    mode: native\n"), 3, /name/],
  ["a name that is none", top('rules:\n  - name: "No Spaces"\n    match: {}\n    mode: native\n'), 3, /name|a-z/],
  ["another version", "version: carryover/v2\nrules: []\n", 1, /carryover\/v1/],
  ["no version", "rules: []\n", 0, /version/],
  [
    "two rules of one name",
    top(
      "rules:\n  - name: a\n    match: { client: x }\n    mode: native\n  - name: a\n    match: {}\n    mode: native\n",
    ),
    6,
    /name|two|twice/,
  ],
  ["a percentage above 100", one("    match: { percent: 101 }\n    mode: native\n"), 4, /100/],
  ["a percentage below 0", one("    match: { percent: -1 }\n    mode: native\n"), 4, /0/],
  ["a percentage that is no number", one('    match: { percent: "ten" }\n    mode: native\n'), 4, /percent|number/],
  ["an expiry in the past", one("    match: {}\n    mode: native\n    expires: 2020-01-01\n"), 6, /past|over|expire/],
  ["a date that is none", one("    match: {}\n    mode: native\n    expires: 2027-02-30\n"), 6, /date|day|2027/],
  [
    "a rule behind one that takes all",
    top(
      "rules:\n  - name: a\n    match: {}\n    mode: native\n  - name: b\n    match: { client: x }\n    mode: translate\n",
    ),
    6,
    /never|first|before|earlier/,
  ],
  ["a resource that is not there", one("    match: { resource: gruops }\n    mode: native\n"), 4, /group/],
  ["an operation that is not there", one("    match: { operation: reed }\n    mode: native\n"), 4, /read/],
  ["an empty list of clients", one("    match: { client: [] }\n    mode: native\n"), 4, /client/],
  [
    "a window that is over",
    one("    match: { time: { until: 2020-01-01 } }\n    mode: native\n"),
    4,
    /over|past|until/,
  ],
  [
    "a window that ends before it begins",
    one("    match: { time: { from: 2098-01-02, until: 2098-01-01 } }\n    mode: native\n"),
    4,
    /empty|before|after|until/,
  ],
  ["hours that are none", one("    match: { time: { hours: 25:00-26:00 } }\n    mode: native\n"), 4, /HH:MM|hours/],
  [
    "sunset before deprecation",
    one("    match: {}\n    mode: native\n    headers: { deprecation: 2098-01-02, sunset: 2098-01-01 }\n"),
    6,
    /sunset/,
  ],
  [
    "documentation that is no address",
    one('    match: {}\n    mode: native\n    headers: { documentation: "javascript:alert(1)" }\n'),
    6,
    /http/,
  ],
  [
    "a step back of a rule that never translates",
    one("    match: {}\n    mode: native\n    stepBack: { failures: 0.1 }\n"),
    6,
    /stepBack|translate/,
  ],
  [
    "a promotion of a rule that is no shadow",
    one("    match: {}\n    mode: translate\n    promoteWhen: { differencesBelow: 0.1 }\n"),
    6,
    /promoteWhen|shadow/,
  ],
  ["a share above 1", one("    match: {}\n    mode: shadow\n    shadow: { sample: 10 }\n"), 6, /1/],
  [
    "a key twice",
    one("    match: {}\n    match: { client: x }\n    mode: native\n"),
    5,
    /match|twice|duplicate|unique/i,
  ],
  ["no YAML", top("rules: [\n"), 0, /./],
  ["a list", "- a\n- b\n", 1, /./],
  ["nothing", "", 0, /./],
  ["bytes that are no text", "\u0000\u0001\u0002", 0, /./],
  ["cut off in the middle of a rule", GOOD.slice(0, GOOD.indexOf("mode")), 0, /mode/],
  [
    "cut off between two rules, with endMark",
    top("endMark: true\nrules:\n  - name: a\n    match: {}\n    mode: translate\n"),
    0,
    /\.\.\.|cut|end/,
  ],
  ["more rules than there may be", top(LONG), 0, /500/],
  ["an anchor that grows without end", top(`rules: []\nx: &a [1]\ny: [*a, *a]\n`), 0, /./],
];

interface Fault {
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

const failing = async (rig: CutoverRig) =>
  (
    await until(
      () => rig.view("/rules"),
      ({ rulesFile }) => rulesFile.failing !== undefined,
    )
  ).rulesFile as { digest: string; reloads: number; failing: { faults: readonly Fault[] } };

const put = (rig: CutoverRig, text: string) => {
  writeFileSync(`${rig.rulesPath}.new`, text);
  renameSync(`${rig.rulesPath}.new`, rig.rulesPath);
};

describe("a rules file", () => {
  it("that is bad in any way is refused as a whole, with where, what and remedy; the last good one stays in force", async () => {
    const rig = await cutover({ rules: GOOD, sandbox: { organisation: false } });
    const { digest } = (await rig.view("/rules")).rulesFile;
    const seen: unknown[] = [];
    const expected: unknown[] = [];
    for (const [what, text, line, says] of BAD) {
      put(rig, text);
      const state = await failing(rig);
      const [fault] = state.failing.faults;
      const at = /rules\.yaml:(\d+)/.exec(fault?.where ?? "")?.[1];
      const told = `${fault?.where} ${fault?.what} ${fault?.remedy}`;
      seen.push([
        what,
        line === 0 ? 0 : Number(at),
        says.test(told) || told,
        state.digest,
        (fault?.remedy ?? "") !== "",
      ]);
      expected.push([what, line, true, digest, true]);
      const answer = await rig.ask("GET", "/iam/v1/roles", as("ui"));
      expect([answer.status, answer.field("carryover-mode")]).toEqual([200, "native"]);
      expect(await rig.metric("carryover_config_last_reload_successful")).toBe(0);
      put(rig, GOOD);
      await until(
        () => rig.view("/rules"),
        ({ rulesFile }) => rulesFile.failing === undefined,
      );
    }
    expect(seen).toEqual(expected);
    expect(await rig.metric("carryover_config_last_reload_successful")).toBe(1);
  });

  it("has everything that is wrong with it told at once", async () => {
    const rig = await cutover({ rules: GOOD, sandbox: { organisation: false } });
    put(
      rig,
      top(
        "rules:\n  - name: a\n    match: { percent: 200, resource: gruops }\n    mode: natives\n    expires: 2020-01-01\n",
      ),
    );
    const { faults } = (await failing(rig)).failing;
    const lines = faults.map(({ where }) => Number(/:(\d+):/.exec(where)?.[1]));
    expect([...new Set(lines)].toSorted()).toEqual(expect.arrayContaining([4, 5]));
    expect(faults.length).toBeGreaterThanOrEqual(3);
  });

  it("that names a mode without its upstream is refused, at start and later", async () => {
    for (const mode of ["native", "shadow"]) {
      const rig = await cutover({
        rules: one("    match: {}\n    mode: translate\n"),
        v1Url: "",
        sandbox: { organisation: false },
      });
      put(rig, one(`    match: {}\n    mode: ${mode}\n`));
      expect(JSON.stringify((await failing(rig)).failing)).toMatch(/upstream\.v1\.url/);
      expect((await rig.ask("GET", "/iam/v1/roles")).field("carryover-mode")).toBe("translate");
      await expect(
        cutover({ rules: one(`    match: {}\n    mode: ${mode}\n`), v1Url: "", sandbox: { organisation: false } }),
      ).rejects.toThrow(/upstream\.v1\.url/);
    }
  });

  it("that is gone leaves its rules in force, and one that comes back is taken", async () => {
    const rig = await cutover({ rules: GOOD, sandbox: { organisation: false } });
    rmSync(rig.rulesPath);
    await failing(rig);
    expect((await rig.ask("GET", "/iam/v1/roles")).field("carryover-mode")).toBe("native");
    put(rig, GOOD.replace("native", "translate"));
    await until(
      () => rig.view("/rules"),
      ({ rulesFile }) => rulesFile.failing === undefined && rulesFile.reloads === 1,
    );
    expect((await rig.ask("GET", "/iam/v1/roles")).field("carryover-mode")).toBe("translate");
  });

  it("that is bad at start stops the process with line and remedy", async () => {
    const path = `${await folder()}/rules.yaml`;
    writeFileSync(path, one("    match: { percent: 101 }\n    mode: translate\n"));
    const run = carryover([
      ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
      ...["--upstream-v2-url", "http://127.0.0.1:9", "--cutover-rules-file", path],
    ]);
    const { code } = await run.ended;
    expect(code).not.toBe(0);
    expect(run.err() + run.out()).toMatch(/rules\.yaml:4/);
    expect(run.err() + run.out()).toMatch(/100/);
    expect(run.err() + run.out()).not.toMatch(/^\s+at /m);
  });
});
