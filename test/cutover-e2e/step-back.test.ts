/** A rule steps back on what translation does wrong, never on what the platform does, and moves on when it may (design section 7). */
import { describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, send, v2Says } from "./rig.ts";

takeDownAfterEach();

const ROLES = "/iam/v1/roles?name=viewer";
const rules = (stepBack: string, shadow = "sample: 0") => `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
    shadow: { ${shadow} }
    stepBack: { ${stepBack} }
`;
const FAILURES = "failures: 0.2, minRequests: 10, minClients: 2";
const COMPARED = "sample: 1, control: 0";

/** The `at`th request, of one of four clients, each with a credential of its own. */
const ask = (rig: CutoverRig, at: number, method = "GET", path = ROLES, body?: object) =>
  rig.ask(method, path, {
    as: `admin#${at % 4}`,
    headers: { "user-agent": `client-${at % 4}/1.0` },
    ...(body === undefined ? {} : { body }),
  });
const ruleOf = async (rig: CutoverRig) => (await rig.view("/rules")).rules[0];

describe("failures caused by translation", () => {
  it("step a rule back at its minimum, which log, metrics and views say, and native answers", async () => {
    const rig = await cutover({
      rules: rules(FAILURES),
      sandbox: { organisation: false, faults: v2Says(() => "<html>") },
    });
    let requests = 0;
    while ((await ask(rig, requests)).field("carryover-mode") === "translate") requests++;
    expect(requests).toBe(10);
    const { status, field } = await ask(rig, 0);
    expect([status, field("carryover-mode")]).toEqual([200, "native"]);
    expect(await ruleOf(rig)).toMatchObject({ state: "back", effective: "native", stepBacks: 1, failures: 10 });
    expect(await rig.metric("carryover_rule_step_backs", { rule: "forward" })).toBe(1);
    expect(await rig.metric("carryover_rule_state", { rule: "forward", state: "back" })).toBe(1);
    expect(await rig.metric("carryover_rule_mode", { rule: "forward", mode: "native" })).toBe(1);
    const told = rig.lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
    expect(told).toContainEqual(
      expect.objectContaining({ rule: "forward", reason: expect.stringMatching(/failed because of translation/) }),
    );
  });

  it("are writes that v2 refuses because of a wrong row", async () => {
    const catalogue = await wrong("group", "update", "body", (rows) =>
      rows.map((row) => (row.v1 === "description" ? { ...row, v2: "describe" } : row)),
    );
    const rig = await cutover({ catalogue, rules: rules(FAILURES.replace("10", "5")) });
    const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
    const statuses: number[] = [];
    for (let at = 0; at < 8; at++) {
      statuses.push((await ask(rig, at, "PUT", path, { name: "x", description: "y" })).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 200, 200, 200]);
    expect(await ruleOf(rig)).toMatchObject({ state: "back" });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a copy that is changed on purpose.
type Rows = any[];

/** A copy of the catalogue in which the rows of one message of one operation are other ones. */
async function wrong(resource: string, operation: string, side: "answer" | "body", change: (rows: Rows) => Rows) {
  const copy = structuredClone(await loadCatalogue("v2beta1")) as Catalogue;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const found: any = copy.resources
    .find(({ name }) => name === resource)
    ?.operations.find(({ name }) => name === operation);
  found[side] = { ...found[side], rows: change(structuredClone(found[side].rows)) };
  return copy;
}

describe("a wrong row that reads use", () => {
  it("is found by the first comparison, and steps its rule back at its minimum: clients get native's answer", async () => {
    const catalogue = await wrong("group", "list", "answer", (rows) => {
      const [name, description] = ["name", "description"].map((v1) => rows.find((row) => row.v1 === v1));
      [name.v2, description.v2] = [description.v2, name.v2];
      return rows;
    });
    const rig = await cutover({ catalogue, rules: rules("differences: 0.1, minRequests: 5, minClients: 2", COMPARED) });
    const target = `/iam/v1/groups?uidp.children_of=${rig.sandbox.wellKnown.rootGroup}`;
    let requests = 0;
    for (;;) {
      if ((await ask(rig, requests, "GET", target)).field("carryover-mode") !== "translate") break;
      await rig.compared(++requests);
      expect((await rig.view("/samples")).samples[0]).toMatchObject({ resource: "group", operation: "list" });
    }
    expect(requests).toBe(5);
    const [answer, native] = [
      await ask(rig, 0, "GET", target),
      await send(rig.sandboxUrl, rig.sandbox, "GET", target, {}),
    ];
    expect([answer.text, answer.field("carryover-mode")]).toEqual([native.text, "shadow"]);
    const told = rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /step/.test(msg));
    expect(told).toMatchObject([{ level: "warn", rule: "forward", reason: expect.stringMatching(/differ/) }]);
    expect((await rig.view("/progress")).rules[0]).toMatchObject({ doing: "shadow", state: "stepped-back" });
  });
});

describe("promoteWhen", () => {
  const rule = (name: string, resource: string, more: string) =>
    `  - name: ${name}
    match: { resource: ${resource} }
    mode: shadow
    shadow: { ${COMPARED} }
    promoteWhen: { differencesBelow: 0.1, minClients: 2${more} }
`;

  it("says by default that a rule could move, and moves nobody; `automatic: true` moves it, not before it may", async () => {
    const rig = await cutover({
      rules: `version: carryover/v1\nrules:\n${rule("says", "roles", "")}${rule("moves", "groups", ", automatic: true")}`,
      sandbox: { organisation: false },
    });
    let compared = 0;
    const moved = async (path: string) => {
      for (let requests = 0; requests < 40; requests++) {
        if ((await ask(rig, requests, "GET", path)).field("carryover-mode") === "translate") return requests;
        await rig.compared(++compared);
      }
      return Number.POSITIVE_INFINITY;
    };
    expect(await moved(ROLES)).toBe(Number.POSITIVE_INFINITY);
    // No difference in n: at most 3/n differ.
    expect([29, 30, 31]).toContain(await moved("/iam/v1/groups"));
    const [says, moves] = (await rig.view("/rules")).rules;
    expect(says).toMatchObject({ couldMove: true, promoted: false, effective: "shadow" });
    expect(moves).toMatchObject({ promoted: true, effective: "translate", mode: "shadow" });
    expect(await rig.metric("carryover_rule_could_move", { rule: "says" })).toBe(1);
    expect(await rig.metric("carryover_rule_mode", { rule: "moves", mode: "translate" })).toBe(1);
    expect(rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /could/.test(msg))).toHaveLength(1);
    const { rules: said } = await rig.view("/progress");
    expect(said).toMatchObject([
      { name: "says", state: "could-move", doing: "shadow" },
      { name: "moves", state: "promoted", doing: "translate", mode: "shadow" },
    ]);
  });
});
