/** A rule steps back on what translation does wrong, never on what the platform does, and moves on when it may. */
import { describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { send, takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, v2Says } from "./rig.ts";

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

  it("of one credential alone are not enough where the rule wants two, whatever names it goes by", async () => {
    const rig = await cutover({
      rules: rules(FAILURES),
      sandbox: { organisation: false, faults: v2Says(() => "<html>") },
    });
    for (let at = 0; at < 20; at++) await rig.ask("GET", ROLES, { headers: { "user-agent": `name-${at}/1` } });
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 20 });
    await ask(rig, 1);
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
    const rig = await cutover({
      catalogue,
      rules: rules("differences: 0.1, minComparisons: 5, minClients: 2", COMPARED),
    });
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
    const view = await rig.view("/rules");
    expect(view.rules[0]).toMatchObject({ state: "back", mode: "translate", effective: "shadow", stepBacks: 1 });
    expect(view.transitions[0]).toMatchObject({ kind: "stepped-back", rule: "forward", id: told[0].event });
    expect((await rig.view("/progress")).rules[0]).toMatchObject({
      name: "forward",
      mode: "translate",
      doing: "shadow",
      state: "stepped-back",
    });
  });
});
