/** `carryover report` about running instances (docs/report.md; its forms and exit codes are in test/commands/report). */
import { describe, expect, it } from "vitest";
import type { Progress } from "../../../src/telemetry/progress.ts";
import { report } from "../../commands/report/support.ts";
import { carryover } from "../app/process.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, LACKING, serveLacking } from "./rig.ts";

takeDownAfterEach();

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

/** An instance that four clients called. */
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

describe("carryover report", () => {
  it("tells what clients of a running instance did, as the built command does", async () => {
    const { adminUrl } = await busy();
    const json = await report([adminUrl, "--json"]);
    expect([json.code, json.err]).toEqual([0, ""]);
    const facts = JSON.parse(json.out);
    expect(facts).toMatchObject({ version: 1, complete: true, requests: { v1: 10, v2: 1 }, v1Left: "yes" });
    const clients: [string, number, number, string, boolean][] = facts.clients.map(
      (one: { name: string; v1: number; v2: number; difficulty: string; onV1: boolean }) => [
        one.name,
        one.v1,
        one.v2,
        one.difficulty,
        one.onV1,
      ],
    );
    expect(clients.toSorted()).toEqual([
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
    const built = carryover(["report", adminUrl, "--fail-if-v1"]);
    expect([(await built.ended).code, built.err()]).toEqual([1, ""]);
    expect(built.out()).toContain("v1 is still in use: 3 clients");
  });

  it("asks for a window, of which every instance tells its requests, and refuses a time that is none", async () => {
    const { adminUrl } = await busy();
    const rows = async (query: string) => {
      const { window } = (await (await fetch(`${adminUrl}/progress${query}`)).json()) as Progress;
      return window?.rows.map(({ mode }) => mode).toSorted();
    };
    expect(await rows("")).toBeUndefined();
    expect(await rows("?from=-3600000")).toEqual(await rows("?from=0"));
    expect(await rows("?from=0")).toContain("translate");
    expect(await rows("?to=1")).toEqual([]);
    expect((await fetch(`${adminUrl}/progress?from=yesterday`)).status).toBe(400);
  });
});
