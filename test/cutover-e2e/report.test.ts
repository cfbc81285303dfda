/** Does `carryover report`, as people run it, tell of running instances who is left? (docs/report.md; the built process.) */
import { describe, expect, it } from "vitest";
import { carryover } from "../app/process.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, LACKING, platform, serveLacking } from "./rig.ts";

takeDownAfterEach();

async function report(...argv: readonly string[]) {
  const run = carryover(["report", ...argv]);
  const { code } = await run.ended;
  return { code, out: run.out(), err: run.err() };
}

const RULES = `version: carryover/v1
rules:
  - name: look
    match: { resource: role }
    mode: shadow
    shadow: { sample: 1, control: 0 }
    promoteWhen: { differencesBelow: 0.5, minClients: 1 }
  - name: rest
    match: {}
    mode: translate
    shadow: { sample: 0 }
`;

/** An instance whom three clients called. */
async function busy(): Promise<CutoverRig> {
  const rig = await cutover({ rules: RULES, sandbox: { faults: serveLacking } });
  const { emptyGroup } = rig.sandbox.wellKnown;
  for (let at = 0; at < 7; at++) {
    await rig.ask("GET", "/iam/v1/roles?name=viewer", as("ci-bot"));
    await rig.compared(at + 1);
  }
  await rig.ask("GET", "/iam/v1/groups", as("terraform"));
  await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, { ...as("terraform"), body: { name: "x" } });
  await rig.ask("GET", LACKING, as("legacy, inc"));
  await rig.ask("GET", "/iam/v2beta1/roles", as("modern"));
  return rig;
}

/** Lines of a CSV text as records of their first line's names (RFC 4180). */
function records(csv: string): Record<string, string>[] {
  const rows = csv
    .trimEnd()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) =>
        (cell ?? "").replace(/^"|"$/g, "").replaceAll('""', '"'),
      ),
    );
  const [names = [], ...rest] = rows;
  return rest.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])));
}

describe("carryover report", () => {
  it("of one instance: as a table, as Markdown, as CSV and as JSON, with the same facts", async () => {
    const rig = await busy();
    const [table, markdown, csv, json] = await Promise.all([
      report(rig.adminUrl),
      report(rig.adminUrl, "--markdown"),
      report(rig.adminUrl, "--csv"),
      report(rig.adminUrl, "--json"),
    ]);
    expect([table, markdown, csv, json].map(({ code, err }) => [code, err])).toEqual(Array(4).fill([0, ""]));
    const facts = JSON.parse(json.out);
    expect(facts).toMatchObject({ version: 1, complete: true, requests: { v1: 10, v2: 1 }, v1Left: "yes" });
    const clients = new Map<string, { v1: number; v2: number; difficulty: string; onV1: boolean }>(
      facts.clients.map((one: { name: string }) => [one.name, one]),
    );
    expect(
      [...clients].map(([name, { v1, v2, difficulty, onV1 }]) => [name, v1, v2, difficulty, onV1]).toSorted(),
    ).toEqual([
      ["ci-bot", 7, 0, "renames", true],
      ["legacy", 1, 0, "lacking", true],
      ["modern", 0, 1, "none", false],
      ["terraform", 2, 0, "full-replace", true],
    ]);
    const bound = facts.bounds.find((one: { client: string | null }) => one.client === null);
    expect(bound).toMatchObject({ resource: "role", operation: "list", comparisons: 7, differences: 0 });
    expect(facts.rules).toMatchObject([{ name: "look", state: "could-move" }, { name: "rest" }]);
    expect(facts.breaks.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(["lacking", "native", "full-replace", "long-list", "operation"]),
    );
    const rows = records(csv.out);
    expect(
      rows.map(({ client, v1_requests, hardest_need }) => [client, Number(v1_requests), hardest_need]).toSorted(),
    ).toEqual([...clients].map(([name, { v1, difficulty }]) => [name, v1, difficulty]).toSorted());
    for (const text of [table.out, markdown.out]) {
      for (const word of ["ci-bot", "terraform", "legacy", "full-replace", "lacking", "90.9 %", "0 differences in 7"]) {
        expect(text).toContain(word);
      }
      expect(text.trimEnd().split("\n").at(-1)).toMatch(/^(\*\*)?v1 is still in use: 3 clients/);
    }
    expect(markdown.out).toMatch(/^\| client .*\|$/m);
    expect(markdown.out).toMatch(/^\| -+ /m);
  });

  it("of two instances adds them up; one that is given twice counts once", async () => {
    const [one, other] = [await busy(), await busy()];
    const both = JSON.parse((await report(one.adminUrl, other.adminUrl, "--json")).out);
    expect(both).toMatchObject({ complete: true, requests: { v1: 20, v2: 2 } });
    expect(both.clients.find(({ name }: { name: string }) => name === "ci-bot").v1).toBe(14);
    expect(both.bounds.find((bound: { client: string | null }) => bound.client === null).comparisons).toBe(14);
    expect(both.instances).toHaveLength(2);
    const twice = JSON.parse((await report(one.adminUrl, one.adminUrl.replace("http://", ""), "--json")).out);
    expect(twice.requests).toEqual(expect.objectContaining({ v1: 10, v2: 1 }));
    const table = await report(one.adminUrl, other.adminUrl);
    expect(table.out).toContain("2 instances");
  });

  it("ends with 0, 1, 2 or 64 as it says, with --fail-if-v1 and without", async () => {
    const used = await busy();
    const quiet = await cutover({ sandbox: { organisation: false } });
    await quiet.ask("GET", "/iam/v2beta1/roles", as("modern"));
    const gone = "http://127.0.0.1:9";
    const html = (await platform((_, response) => response.end("<html>"))).url;
    const runs: readonly (readonly [number, readonly string[]])[] = [
      [0, [used.adminUrl]],
      [0, [quiet.adminUrl, "--fail-if-v1"]],
      [1, [used.adminUrl, "--fail-if-v1"]],
      [1, [used.adminUrl, gone, "--fail-if-v1"]],
      [2, [quiet.adminUrl, gone, "--fail-if-v1"]],
      [2, [quiet.adminUrl, "--fail-if-v1", "--since", "7d"]],
      [2, [used.adminUrl, html]],
      [64, [used.adminUrl, "--since", "yesterday"]],
    ];
    const codes: (number | null)[] = [];
    // Two at a time: each is a process.
    for (let at = 0; at < runs.length; at += 2) {
      const some = await Promise.all(runs.slice(at, at + 2).map(([, argv]) => report(...argv)));
      codes.push(...some.map(({ code }) => code));
    }
    expect(runs.map(([, argv], at) => [argv, codes[at]])).toEqual(runs.map(([code, argv]) => [argv, code]));
  });

  it("says INCOMPLETE where an address was not heard, and what the others say all the same", async () => {
    const rig = await busy();
    const { code, out, err } = await report(rig.adminUrl, "http://127.0.0.1:9");
    expect([code, out.split("\n")[0]?.startsWith("INCOMPLETE")]).toEqual([2, true]);
    expect(err).toContain("http://127.0.0.1:9");
    expect(out).toContain("terraform");
  });
});
