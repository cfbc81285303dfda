import { describe, expect, it } from "vitest";
import type { CommandOptions } from "../../../scripts/command.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { check, judged, platform } from "./support.ts";

takeDownAfterEach();

const RIGHT = `version: carryover/v1
rules:
  - name: ci-reads
    match: { operation: reads, resource: [groups, repos], client: ci-bot, header: { x-canary: always }, percent: 10 }
    mode: translate
    expires: 2199-03-01
    stepBack: { failures: 0.02, differences: 0.001, minRequests: 200, minClients: 1, window: 5m }
  - name: everything-else
    match: {}
    mode: shadow
    shadow: { sample: 0.1 }
`;
const WRONG = `version: carryover/v1
rules:
  - name: one
    match: { percent: 101 }
    mode: translat
  - name: one
    match: {}
    mode: native
`;

function only(argv: readonly string[], files: Record<string, string>, around: CommandOptions = {}) {
  return check(["--rules-only", ...argv], { files, ...around });
}

describe("--rules-only", () => {
  it("needs no platform, no token and no configuration: a right file is shown as a table, and ends with 0", async () => {
    const { code, out, err } = await only(["--rules", "rules.yaml"], { "rules.yaml": RIGHT });
    expect([code, err]).toEqual([0, ""]);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe("carryover check of rules.yaml");
    expect(lines[2]).toMatch(/^ok +rules +2 rules, digest [0-9a-f]{12}$/);
    const table = lines.slice(lines.indexOf("The first that matches decides:") + 1, -2);
    expect(table[0]).toMatch(
      /^ {2}1 {2}ci-reads +translate, .*reads of group or repo, client ci-bot, header x-canary: always +10 % of those, each whole or not at all +expires in \d+ days$/,
    );
    expect(table[1]).toMatch(
      /^ +steps back at 2 % failures in at least 200 requests or 0\.1 % differences in at least 20 comparisons within 5m/,
    );
    expect(table[2]).toMatch(/^ +steps back when v2 fails clients .*\(guard: stepBack\)$/);
    expect(table[3]).toMatch(/^ {2}2 {2}everything-else +shadow, 10 % compared +everything +all clients$/);
    expect(table.slice(4)).toEqual(["everyone else: not known without cutover.mode"]);
    expect(lines.at(-1)).toBe("right");
  });

  it("shows what a brownout does, and its next windows in UTC and its zone", async () => {
    const text = `version: carryover/v1
rules:
  - name: b
    match: { percent: 20, time: { from: 2199-03-20 } }
    mode: brownout
    schedule: { cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m }
    brownout: { contact: a, exempt: billing }
    headers: { sunset: 2199-06-01 }
`;
    const { code, out } = await only(["--rules", "rules.yaml"], { "rules.yaml": text });
    expect(code).toBe(0);
    const lines = out.split("\n");
    const at = lines.findIndex((line) => line.startsWith("  1  b "));
    expect(lines.slice(at, at + 4).map((line) => line.trim())).toEqual([
      "1  b  brownout  from 2199-03-20  20 % of clients",
      "refuses v1 with 400 in its windows, but not billing; stops above 50 % refused of at least 100 v1 requests",
      "next: 2199-03-26 08:00 to 08:10 UTC (Tue 2199-03-26 09:00 Europe/Vienna)",
      "next: 2199-04-02 07:00 to 07:10 UTC (Tue 2199-04-02 09:00 Europe/Vienna)",
    ]);
  });

  it("tells each fault with its line and what to do about it, and ends with 1", async () => {
    const { code, out } = await only(["--rules", "rules.yaml"], { "rules.yaml": WRONG });
    expect(code).toBe(1);
    const fails = out.split("\n").filter((line) => line.startsWith("fail"));
    for (const line of [4, 5, 6]) {
      expect(fails).toContainEqual(expect.stringMatching(new RegExp(`^fail +rules +rules\\.yaml:${line}:\\d+`)));
    }
    expect(out).not.toContain("The first that matches decides:");
    expect(out.trimEnd().split("\n").at(-1)).toMatch(/^NOT RIGHT: \d failures$/);
  });

  it("gives programs the same", async () => {
    const right = await judged(["--rules-only", "--rules", "rules.yaml"], { files: { "rules.yaml": RIGHT } });
    expect([right.code, right.verdict]).toEqual([0, "ok"]);
    const { rules, upstream } = JSON.parse(right.out);
    expect(upstream).toBeUndefined();
    expect(rules).toMatchObject({ file: "rules.yaml", digest: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect(rules.rules.map(({ name, line }: { name: string; line: number }) => [name, line])).toEqual([
      ["ci-reads", 3],
      ["everything-else", 8],
    ]);
    const wrong = await judged(["--rules-only", "--rules", "rules.yaml"], { files: { "rules.yaml": WRONG } });
    expect([wrong.code, wrong.verdict]).toEqual([1, "fail"]);
    for (const { level, probe, remedy } of wrong.findings) {
      expect([level, probe]).toEqual(["fail", "rules"]);
      expect(remedy).not.toBe("");
    }
    expect(JSON.parse(wrong.out).rules).toEqual({ file: "rules.yaml", digest: null, rules: [], default: null });
  });

  it.each([
    [RIGHT, ["--cutover-mode", "native"], ["everyone else: native (cutover.mode)"]],
    ["version: carryover/v1\nrules: []\n", ["--cutover-mode", "shadow"], ["everyone: shadow (cutover.mode)"]],
    [
      RIGHT.replace("rules:", "force: native\nrules:"),
      ["--cutover-mode", "translate"],
      ["everyone, whatever follows: native (force)", "everyone else: translate (cutover.mode), watched by no guard"],
    ],
  ])("says under the rules what serves everybody else, %#", async (text, flags, says) => {
    const { out } = await only(["--rules", "r", ...flags], { r: text });
    expect(out.split("\n").filter((line) => line.startsWith("everyone"))).toEqual(says);
  });

  describe("a percentage in front of cutover.mode: translate", () => {
    const canary = (more: string) =>
      `version: carryover/v1\nrules:\n  - { name: canary, match: { percent: 10, resource: group }, mode: translate }\n${more}`;
    const warned = async (text: string, ...flags: readonly string[]) =>
      (await only(["--rules", "r", ...flags], { r: text })).out.split("\n").filter((line) => line.startsWith("warn"));
    const TRANSLATE = ["--cutover-mode", "translate"];

    it("is warned of: it moves everybody", async () => {
      expect(await warned(canary(""), ...TRANSLATE)).toEqual([
        expect.stringMatching(
          /^warn +rules +canary \(10 %\): the other clients are translated too, by cutover\.mode: trans/,
        ),
      ]);
      const { out } = await only(["--rules", "r", "--upstream-v2-url", "http://a.test"], { r: canary("") });
      expect(out).toMatch(/^ +remove the percentage: without upstream\.v1\.url everybody is translated$/m);
    });

    it.each([
      ["under another mode", canary(""), ["--cutover-mode", "native"]],
      ["where the mode is not known", canary(""), []],
      [
        "where later rules take the others",
        canary("  - { name: rest, match: { resource: [group, repo] }, mode: native }\n"),
        TRANSLATE,
      ],
      ["that keeps some clients native", canary("").replace("mode: translate", "mode: native"), TRANSLATE],
    ])("is not warned of %s", async (_when, text, flags) => {
      expect(await warned(text, ...flags)).toEqual([]);
    });
  });

  it("warns of a client that clients.names almost has", async () => {
    const { code, out } = await only(["--rules", "r", "--clients-names", "cibot=ci@example.com"], { r: RIGHT });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^warn +rules +r:4:\d+ rules\.1\.match\.client: clients\.names has no "ci-bot".*did you mean cibot\?$/m,
    );
  });

  it("takes the file that the configuration names; --rules goes before it", async () => {
    const files = { "c.yaml": "cutover: { rulesFile: mine.yaml }\n", "mine.yaml": RIGHT, "other.yaml": WRONG };
    expect((await only(["--config", "c.yaml"], files)).out).toMatch(/^carryover check of mine\.yaml$/m);
    expect((await only(["--config", "c.yaml", "--rules", "other.yaml"], files)).code).toBe(1);
  });

  it("says what force and fallback at the top override", async () => {
    const top = RIGHT.replace("rules:", "force: native\nfallback: refuse\nrules:");
    const { code, out } = await only(["--rules", "r"], { r: top });
    expect(code).toBe(0);
    expect(out).toMatch(/^note +rules +force: native overrides every rule below/m);
    expect(out).toMatch(/^note +rules +fallback: refuse overrides/m);
    expect(out).toMatch(/^warn +rules +r:2:8 force: native leaves what v2 lacks refused with 501/m);
  });

  it("says what native v1 keeps because it is only guessed, where native v1 serves what v2 lacks", async () => {
    const kept = /^note +rules +tag summarise: guessed .*native v1 serves it unless a rule names it/m;
    expect((await only(["--rules", "r"], { r: RIGHT })).out).toMatch(kept);
    expect((await only(["--rules", "r"], { r: RIGHT.replace("rules:", "fallback: refuse\nrules:") })).out).not.toMatch(
      kept,
    );
  });

  it("warns of force: native where the configuration refuses what v2 lacks", async () => {
    const forced = { r: "version: carryover/v1\nforce: native\nrules: []\n" };
    const both = ["--upstream-v2-url", "http://127.0.0.1:9", "--upstream-v1-url", "http://127.0.0.1:9"];
    const refusing = await only(["--rules", "r", ...both, "--fallback", "refuse"], forced);
    expect(refusing.out).toMatch(/^warn +rules +r:2:8 force: native leaves/m);
    for (const flags of [both, []]) expect((await only(["--rules", "r", ...flags], forced)).out).not.toMatch(/^warn/m);
  });

  it("refuses a mode without its upstream where the configuration is known", async () => {
    const v2 = ["--upstream-v2-url", "http://127.0.0.1:9"];
    expect((await only(["--rules", "r", ...v2], { r: RIGHT })).code).toBe(1);
    expect((await only(["--rules", "r", ...v2, "--upstream-v1-url", "http://127.0.0.1:9"], { r: RIGHT })).code).toBe(0);
  });

  it("refuses an expiry in the past: whoever changes rules is to see it", async () => {
    const old = RIGHT.replace("2199-03-01", "2020-03-01");
    const { code, out } = await only(["--rules", "r"], { r: old });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail +rules +r:6:\d+/m);
  });

  it.each([
    [["--rules-only"], /--rules-only: there is no rules file; name it with --rules/],
    [["--rules-only", "--rules", "r", "--write-under", "a"], /--write-under: with --rules-only no platform is asked/],
    [["--rules-only", "--rules", "r", "--write-config", "x"], /--write-config: with --rules-only no platform is asked/],
  ])("%j is a wrong command line", async (argv, told) => {
    const { code, out, err } = await check(argv, { files: { r: RIGHT } });
    expect([code, out]).toEqual([64, ""]);
    expect(err).toMatch(told);
  });

  it.each([
    ["missing", {}, /^fail +rules +--rules: gone cannot be read/m],
    ["full of control characters", { gone: "\u001b[2J: 1\n" }, /^fail +rules/m],
    ["for a version that nobody knows", { gone: RIGHT }, /^fail +rules +there is no catalogue for "v2zeta9"/m],
  ])("a file that is %s is a failure, and does nothing to a terminal", async (name, files, told) => {
    const version = name.startsWith("for") ? ["--upstream-v2-version", "v2zeta9"] : [];
    const { code, out } = await only(["--rules", "gone", ...version], files);
    expect(code).toBe(1);
    expect(out).toMatch(told);
    expect(out).not.toContain("\u001b");
  });
});

describe("--rules beside a platform", () => {
  it("judges both: the verdict is that of the worse", async () => {
    const { judge, url } = await platform();
    const argv = ["--upstream-v1-url", url, "--cutover-mode", "native"];
    const right = await judge([...argv, "--rules", "r"], "admin", { files: { r: RIGHT } });
    expect([right.code, right.told("rules").length > 0, right.told("lists").length > 0]).toEqual([0, true, true]);
    expect(JSON.parse(right.out).upstream).toBe(url);
    const wrong = await judge([...argv, "--rules", "r"], "admin", { files: { r: WRONG } });
    expect([wrong.code, wrong.verdict]).toEqual([1, "fail"]);
    expect(wrong.told("lists")).toEqual(right.told("lists"));
  });

  it("rules that are right speak for no platform: without a token that is not judged", async () => {
    const { url } = await platform();
    const { verdict, code } = await judged(
      ["--upstream-v2-url", url, "--upstream-v1-url", url, "--cutover-mode", "native", "--rules", "r"],
      {
        files: { r: RIGHT },
      },
    );
    expect([verdict, code]).toEqual(["unjudged", 1]);
  });
});
