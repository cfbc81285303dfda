import { expect, test } from "vitest";
import { readRules } from "../../../src/config/rules.ts";
import { utcMinute } from "../../../src/ledger/clients-view.ts";
import type { ClientEntry } from "../../../src/ledger/entry.ts";
import { client, DAY, NOW, progress } from "../report/support.ts";
import { instances, run } from "../status/support.ts";

const BUILD = { owner: "Build team", contact: "#build" };
const OLD = { since: NOW - 8 * DAY, requests: { v1: 400, v2: 0 } };
const told = (instance: string, comparisons: number, ...clients: readonly ClientEntry[]) =>
  progress({
    instance,
    ledger: { ...OLD, instances: [instance], clients },
    bounds: [{ resource: "group", operation: "list", client: "ci-bot", comparisons, differences: 0, upper: 0.1 }],
  });
const bot = (requests: number) =>
  client("ci-bot", {
    ...BUILD,
    requests: { v1: requests, v2: 0 },
    operations: [{ resource: "group", operation: "list", requests, lastSeen: NOW - 1_000 }],
  });
const web = client("web|`", {
  operations: [{ resource: "group", operation: "sbom", requests: 10, lastSeen: NOW - 1_000 }],
  needs: { lacking: [{ resource: "group", operation: "sbom" }] },
});
const fetch = instances(told("one", 120, bot(200), web), told("two", 130, bot(200)));

test("several instances are judged together: what two of them compared is enough, what one of them is not", async () => {
  const both = await run(["exam", "ci-bot", "a:1", "b:1"], { fetch });
  expect([both.code, both.out.split("\n", 1)[0]]).toEqual([0, "# Exam of `ci-bot`: passed"]);
  expect(both.out).toContain("It rests on 250 responses of the translation, 0 of them wrong;");
  const one = await run(["exam", "ci-bot", "a:1"], { fetch });
  expect([one.code, one.out.split("\n", 1)[0]]).toEqual([2, "# Exam of `ci-bot`: NOT KNOWN yet"]);
});

test("a silent instance makes a pass unknown, and leaves a failure", async () => {
  const passed = await run(["exam", "ci-bot", "a:1", "b:1", "c:1"], { fetch });
  expect([passed.code, passed.out, passed.err]).toEqual([
    2,
    expect.stringContaining("- not every instance responded"),
    expect.stringContaining("http://c:1"),
  ]);
  expect((await run(["exam", "web|`", "a:1", "c:1"], { fetch })).code).toBe(1);
});

test("--all is a table by owner, those without one last", async () => {
  const { code, out } = await run(["exam", "--all", "a:1", "b:1"], { fetch });
  expect(code).toBe(1);
  expect(out.match(/^## .*$/gm)).toEqual(["## `Build team`", "## Nobody named"]);
  expect(out).toContain("| `web\\|'` | FAILED | 10 | 0 | group sbom: v2 lacks it");
  const json = await run(["exam", "--all", "--json", "a:1", "b:1"], { fetch });
  const { exams } = JSON.parse(json.out) as { readonly exams: readonly { readonly verdict: string }[] };
  expect(exams.map(({ verdict }) => verdict)).toEqual(["pass", "fail"]);
});

test("--rehearse says how many calls will be refused, and prints a rule that is taken without a warning", async () => {
  const { code, out } = await run(["exam", "web|`", "a:1", "--rehearse", "3h", "--stop-above", "0.1"], { fetch });
  expect(code).toBe(1);
  expect(out).toMatch(
    /a rehearsal of 3 h refuses about (\d) of \1 calls \(100 %\), and stops above 10 %: it would soon/,
  );
  expect(out).toContain(`It ends at ${utcMinute(NOW + 3 * 3_600_000)}, 3 h from now (${utcMinute(NOW)}), whenever`);
  const [, rule = ""] = /```yaml\n([\s\S]*?)```/.exec(out) ?? [];
  const text = `version: carryover/v1\nrules:\n${rule}  - { name: rest, match: {}, mode: native }\n`;
  const read = readRules(new TextEncoder().encode(text), {
    ...{ name: "rules.yaml", resources: [], native: true, now: NOW, expired: "refuse" },
  });
  expect(read.warnings).toEqual([]);
  expect(read.rules.rules[0]).toMatchObject({ expires: NOW + 3 * 3_600_000, stepBack: { failures: 0.1 } });
});

test("--html escapes names of clients", async () => {
  const name = "<script>alert(1)</script>";
  const { out } = await run(["exam", name, "a:1", "--html"], { fetch: instances(told("one", 1, client(name))) });
  expect(out).toMatch(/^<!doctype html>/);
  expect(out).not.toContain("<script");
});

const replay = (rest: object = {}) =>
  JSON.stringify({
    verdict: "different",
    clients: [{ client: "ci-bot", compared: 5, differing: 1 }],
    operations: [{ resource: "group", operation: "list", compared: 5, differing: 1 }],
    differences: [{ resource: "group", operation: "list", class: "value", path: "items[].name", requests: 1 }],
    ...rest,
  });

test("--replay adds what a replay of the client found", async () => {
  const { code, out } = await run(["exam", "ci-bot", "a:1", "b:1", "--replay", "r.json"], {
    fetch,
    files: { "r.json": replay() },
  });
  expect([code, out]).toEqual([1, expect.stringContaining("- group list: 1 of 5 replayed requests differ")]);
  expect(out).toContain("| `group list` | value | `items[].name` | 1 |");
});

test.each([
  ["is not JSON", "{", "has no results of a replay"],
  ["is other JSON", "{}", "has no results of a replay"],
  ["has others' requests", replay({ clients: [{ client: "ci-bot" }, { client: "web" }] }), 'requests of "web" too'],
  ["has no request", replay({ clients: [] }), 'has no request of "ci-bot"'],
  ["stopped", replay({ stopped: "Ctrl-C" }), "is of a replay that stopped (Ctrl-C)"],
])("a replay that %s is refused", async (_, text, says) => {
  const { code, err } = await run(["exam", "ci-bot", "a:1", "--replay", "r.json"], {
    fetch,
    files: { "r.json": text },
  });
  expect([code, err]).toEqual([64, expect.stringContaining(says)]);
});

test("a client that none knows, and options that contradict each other, are errors", async () => {
  const unknown = await run(["exam", "ci-bt", "a:1"], { fetch });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("did you mean ci-bot?")]);
  const raw = await run(["exam", "ci-bot", "a:1"], { fetch: instances(told("one", 1, client("raw:ci-bot"))) });
  expect(raw.err).toContain("did you mean raw:ci-bot?");
  for (const argv of [["exam"], ["exam", "--all", "--replay", "r.json"], ["exam", "x", "--json", "--html"]])
    expect((await run(argv, { fetch })).code).toBe(64);
});
