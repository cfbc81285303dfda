/** A rule steps back on what translation does wrong, never on what the platform does, and moves on when it may. */
import { describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { send, takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, platform, v2Says } from "./rig.ts";

takeDownAfterEach();

const ROLES = "/iam/v1/roles?name=viewer";
const NOW = Date.UTC(2026, 10, 21, 12);
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

describe("the platform's own outages", () => {
  it("never step a rule back, and are counted all the same", async () => {
    const v2 = { status: 0 };
    const { url } = await platform((request, response) => {
      if (v2.status === 0) request.socket.resetAndDestroy();
      else if (v2.status > 0) response.writeHead(v2.status, { "content-type": "application/json" }).end("{}");
    });
    const rig = await cutover({
      rules: rules(FAILURES),
      v2Url: url,
      sandbox: { organisation: false },
      flags: { upstreamV2TimeoutsHeadersSeconds: "0.05", upstreamV2Breaker: "false" },
    });
    // A reset, and no answer in time.
    for (const status of [503, 500, 429, 502, 504, 403, 0, -1]) {
      v2.status = status;
      const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(rig, at)));
      expect(new Set(answers.map(({ field }) => field("carryover-mode")))).toEqual(new Set(["translate"]));
      expect([status, await ruleOf(rig)]).toMatchObject([status, { state: "forward", failures: 0 }]);
      if (status <= 0) continue;
      expect(
        await rig.metric("carryover_upstream_requests_total", { upstream: "v2", code: String(status) }),
      ).toBeGreaterThan(0);
    }
    expect(await rig.metric("carryover_requests_total", { mode: "translate" })).toBe(8 * 12);
  });

  it("do not count, nor do callers whom the platform does not let in", async () => {
    const rig = await cutover({ rules: rules(FAILURES), sandbox: { organisation: false } });
    for (let at = 0; at < 12; at++) {
      const headers = { "user-agent": `scanner-${at % 5}/1`, authorization: `Bearer nobody-issued-${at}` };
      expect((await rig.ask("GET", ROLES, { as: null, headers })).status).toBe(401);
    }
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 0, requests: 0 });
  });
});

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
    expect(view.transitions[0]).toMatchObject({ kind: "stepped-back", rule: "forward" });
    expect((await rig.view("/progress")).rules[0]).toMatchObject({
      name: "forward",
      mode: "translate",
      doing: "shadow",
      state: "stepped-back",
    });
  });

  it("lets its rule return when it was fixed, to more and more clients, none of whom goes back", async () => {
    const [clock, v2] = [{ now: NOW }, { wrong: true }];
    const rig = await cutover({
      rules: rules("differences: 0.1, minComparisons: 5, minClients: 1, window: 10s, returnAfter: 3s", COMPARED),
      sandbox: {
        organisation: false,
        faults: v2Says((text) => (v2.wrong ? text.replaceAll('"viewer"', '"viewed"') : text)),
      },
      flags: { clientsIdentify: "header:x-client" },
      wall: () => clock.now,
    });
    let compared = 0;
    const mode = async (name: string) => {
      const answer = await rig.ask("GET", ROLES, { headers: { "x-client": name } });
      await rig.compared(++compared);
      return answer.field("carryover-mode");
    };
    for (let at = 0; (await mode(`c${at}`)) === "translate"; at++);
    // What still differs holds it back, however long its time is over.
    for (let at = 0; at < 4; at++) {
      clock.now += 2_000;
      expect(await mode("c1")).toBe("shadow");
    }
    v2.wrong = false;
    const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
    const shares: number[] = [];
    let forward = new Set<string>();
    while ((await ruleOf(rig)).state !== "forward") {
      clock.now += 3_000;
      // The first request after a step's time begins the next one.
      await mode("first");
      const now = new Set<string>();
      for (const name of names) if ((await mode(name)) === "translate") now.add(name);
      expect([...forward].filter((name) => !now.has(name))).toEqual([]);
      forward = now;
      shares.push(now.size);
      if (shares.length > 20) throw new Error(`it does not return: ${shares}`);
    }
    expect(shares.at(-1)).toBe(20);
    expect(shares.filter((share) => share > 0 && share < 20).length).toBeGreaterThan(0);
    const kinds = (await rig.view("/rules")).transitions.map(({ kind }: { kind: string }) => kind).toReversed();
    expect(kinds).toEqual(["rules", "stepped-back", "returning", "returning", "returning", "returned"]);
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
    // 35 comparisons without a difference prove less than 10 %.
    expect([34, 35, 36]).toContain(await moved("/iam/v1/groups"));
    const [says, moves] = (await rig.view("/rules")).rules;
    expect(says).toMatchObject({ couldMove: true, promoted: false, effective: "shadow" });
    expect(moves).toMatchObject({ promoted: true, effective: "translate", mode: "shadow" });
    expect(await rig.metric("carryover_rule_could_move", { rule: "says" })).toBe(1);
    expect(await rig.metric("carryover_rule_mode", { rule: "moves", mode: "translate" })).toBe(1);
    expect(rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /could/.test(msg))).toHaveLength(1);
    const { bounds, rules: said } = await rig.view("/progress");
    expect(said).toMatchObject([
      { name: "says", state: "could-move", doing: "shadow" },
      { name: "moves", state: "promoted", doing: "translate", mode: "shadow" },
    ]);
    const ofRoles = bounds.filter(({ resource }: { resource: string }) => resource === "role");
    expect(ofRoles.map(({ client, comparisons }: never) => [client, comparisons])).toEqual([
      [undefined, 40],
      ["client-0", 10],
      ["client-1", 10],
      ["client-2", 10],
      ["client-3", 10],
    ]);
    expect(ofRoles[0]).toMatchObject({ operation: "list", differences: 0 });
    expect(ofRoles[0].upper).toBeLessThanOrEqual(3.7 / 40);
  });
});
