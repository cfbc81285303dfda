/** Does a rule step back on what translation does wrong, never on what the platform does, and move on when it may? (Design section 7.) */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { ApiResponse, SendLayer } from "../../src/model/message.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, platform, until, v2Says } from "./rig.ts";

takeDownAfterEach();

const ROLES = "/iam/v1/roles?name=viewer";
const rules = (stepBack: string, more = "shadow: { sample: 0 }") => `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
    ${more}
    stepBack: { ${stepBack} }
`;
const FAILURES = "failures: 0.2, minRequests: 10, minClients: 2";

const answer = (status: number, text: string, headers: ApiResponse["headers"] = []): ApiResponse => ({
  status,
  headers: [["content-type", "application/json"], ...headers],
  body: Buffer.from(text),
});
/** A platform whose v2 answers so while `is.on`. */
const v2Answers =
  (is: { on: boolean }, given: ApiResponse): SendLayer =>
  (next) =>
  async (request, options) =>
    is.on && request.target.includes("/v2beta1/") ? given : next(request, options);

const ask = (rig: CutoverRig, at: number, token = "admin") =>
  rig.ask("GET", ROLES, { as: `${token}#${at % 4}`, headers: { "user-agent": `client-${at % 4}/1.0` } });

/** Requests until the rule no longer translates; `most` when it never stops. */
async function requestsUntilBack(rig: CutoverRig, most: number, token?: string): Promise<number> {
  for (let at = 0; at < most; at++) {
    if ((await ask(rig, at, token)).field("carryover-mode") !== "translate") return at;
  }
  return most;
}

const ruleOf = async (rig: CutoverRig) => (await rig.view("/rules")).rules[0];

describe("failures caused by translation", () => {
  const GARBAGE: readonly (readonly [string, ApiResponse])[] = [
    ["an answer that is no JSON", answer(200, "<html>")],
    ["a list under another name", answer(200, '{"records":[],"totalCount":0}')],
    ["a record of another shape", answer(200, '{"roles":[7],"totalCount":1}')],
  ];

  it.each(GARBAGE)("%s: the rule steps back at its minimum, says so, and native answers", async (_, given) => {
    const rig = await cutover({
      rules: rules(FAILURES),
      sandbox: { organisation: false, faults: v2Answers({ on: true }, given) },
    });
    expect(await requestsUntilBack(rig, 50)).toBe(10);
    for (let at = 0; at < 10; at++) {
      const { status, field } = await ask(rig, at);
      expect([status, field("carryover-mode")]).toEqual([200, "native"]);
    }
    expect(await ruleOf(rig)).toMatchObject({ state: "back", effective: "native", stepBacks: 1, failures: 10 });
    expect(await rig.metric("carryover_rule_step_backs", { rule: "forward" })).toBe(1);
    expect(await rig.metric("carryover_rule_mode", { rule: "forward", mode: "native" })).toBe(1);
    const told = rig.lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
    expect(told.map(({ rule, reason }) => [rule, /failed because of translation/.test(reason)])).toContainEqual([
      "forward",
      true,
    ]);
  });

  it("of one client alone are not enough where the rule wants two", async () => {
    const rig = await cutover({
      rules: rules(FAILURES),
      sandbox: { organisation: false, faults: v2Answers({ on: true }, answer(200, "<html>")) },
    });
    for (let at = 0; at < 40; at++) {
      expect((await rig.ask("GET", ROLES, { headers: { "user-agent": "lonely/1" } })).status).toBe(502);
    }
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", effective: "translate" });
    await rig.ask("GET", ROLES, { as: "admin#second", headers: { "user-agent": "second/1" } });
    expect(await ruleOf(rig)).toMatchObject({ state: "back" });
  });

  it("of few requests are not enough, nor of a smaller share", async () => {
    const is = { on: true };
    const rig = await cutover({
      rules: rules("failures: 0.2, minRequests: 30, minClients: 2"),
      sandbox: { organisation: false, faults: v2Answers(is, answer(200, "<html>")) },
    });
    for (let at = 0; at < 5; at++) await ask(rig, at);
    is.on = false;
    for (let at = 0; at < 60; at++) expect((await ask(rig, at)).field("carryover-mode")).toBe("translate");
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 5, requests: 65 });
  });

  it("of callers whom the platform does not let in count for nothing", async () => {
    const rig = await cutover({ rules: rules(FAILURES), sandbox: { organisation: false } });
    for (let at = 0; at < 30; at++) {
      const headers = { "user-agent": `scanner-${at % 5}/1`, authorization: "Bearer nobody-issued-this" };
      expect((await rig.ask("GET", ROLES, { as: null, headers })).status).toBe(401);
    }
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 0 });
  });
});

describe("the platform's own outages", () => {
  const OUTAGES: readonly (readonly [string, ApiResponse])[] = [
    ["503", answer(503, '{"code":14,"message":"later","details":[]}')],
    ["500", answer(500, '{"code":13,"message":"no","details":[]}')],
    ["429", answer(429, '{"code":8,"message":"slowly","details":[]}')],
    ["502 of a gateway, in HTML", answer(502, "<html>bad gateway</html>", [])],
    ["504", answer(504, "")],
    ["403", answer(403, '{"code":7,"message":"no","details":[]}')],
  ];

  it.each(OUTAGES)("%s never steps a rule back, and is counted all the same", async (_, given) => {
    const rig = await cutover({
      rules: rules(FAILURES),
      sandbox: { organisation: false, faults: v2Answers({ on: true }, given) },
    });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(rig, at)));
    expect(new Set(answers.map(({ field }) => field("carryover-mode")))).toEqual(new Set(["translate"]));
    expect((await ask(rig, 0)).field("carryover-mode")).toBe("translate");
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 0 });
    expect(await rig.metric("carryover_requests_total", { mode: "translate" })).toBe(41);
    expect(
      await rig.metric("carryover_upstream_requests_total", { upstream: "v2", code: String(given.status) }),
    ).toBeGreaterThan(0);
  });

  it("timeouts, resets and refused connections never do", async () => {
    const hanging = await platform(() => {});
    const resetting = await platform((request) => request.socket.resetAndDestroy());
    for (const v2Url of [hanging.url, resetting.url, "http://127.0.0.1:9"]) {
      const rig = await cutover({
        rules: rules(FAILURES),
        v2Url,
        sandbox: { organisation: false },
        flags: { upstreamV2TimeoutsHeadersSeconds: "0.1" },
      });
      const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(rig, at)));
      expect(answers.every(({ status }) => status === 502 || status === 504)).toBe(true);
      expect(await ruleOf(rig)).toMatchObject({ state: "forward", failures: 0 });
      await rig.close();
    }
  });

  it("do not hide what translation does wrong meanwhile", async () => {
    const faults: SendLayer = (next) => async (request, options) => {
      if (!request.target.includes("/v2beta1/")) return next(request, options);
      return request.target.includes("viewer") ? answer(200, "<html>") : answer(500, '{"code":13,"message":"x"}');
    };
    const rig = await cutover({ rules: rules(FAILURES), sandbox: { organisation: false, faults } });
    for (let at = 0; at < 10; at++) {
      for (const name of ["owner", "viewer"]) {
        const { field } = await rig.ask("GET", `/iam/v1/roles?name=${name}`, {
          as: `admin#${at % 4}`,
          headers: { "user-agent": `client-${at % 4}/1.0` },
        });
        expect(field("carryover-mode")).toBe("translate");
      }
    }
    expect((await ask(rig, 0)).field("carryover-mode")).toBe("native");
  });

  it("while differences are looked at, what could not be compared is neither a difference nor equal", async () => {
    const down = (response: ServerResponse) => response.writeHead(503).end();
    const { url } = await platform((_, response) => down(response));
    const rig = await cutover({
      rules: rules("differences: 0.1, minRequests: 5, minClients: 1", "shadow: { sample: 1, control: 0 }"),
      v1Url: url,
      sandbox: { organisation: false },
    });
    expect(await requestsUntilBack(rig, 30)).toBe(30);
    await rig.idle();
    expect(await ruleOf(rig)).toMatchObject({ state: "forward", comparisons: 0, differences: 0 });
  });
});

describe("a rule that stepped back", () => {
  it("does not flap: it stays back for good where no returnAfter is said", async () => {
    const is = { on: true };
    const rig = await cutover({
      rules: rules(`${FAILURES}, window: 1s`),
      sandbox: { organisation: false, faults: v2Answers(is, answer(200, "<html>")) },
    });
    await requestsUntilBack(rig, 50);
    is.on = false;
    const began = Date.now();
    const modes = new Set<string | undefined>();
    while (Date.now() - began < 2_000) modes.add((await ask(rig, 1)).field("carryover-mode"));
    expect(modes).toEqual(new Set(["native"]));
    const { transitions } = await rig.view("/rules");
    expect(transitions.map(({ kind }: { kind: string }) => kind)).toEqual(["stepped-back", "rules"]);
  });

  it("is held back by comparisons that still differ, however long its returnAfter is over", async () => {
    const rig = await cutover({
      rules: rules(
        "differences: 0.1, minRequests: 5, minClients: 1, window: 1s, returnAfter: 1s",
        "shadow: { sample: 1, control: 0 }",
      ),
      sandbox: { organisation: false, faults: v2Says((text) => text.replaceAll('"viewer"', '"viewed"')) },
    });
    const modes: (string | undefined)[] = [];
    const began = Date.now();
    while (Date.now() - began < 4_000) {
      modes.push((await ask(rig, modes.length)).field("carryover-mode"));
      await rig.idle();
    }
    expect(modes.slice(0, 5)).toEqual(Array(5).fill("translate"));
    expect(new Set(modes.slice(5))).toEqual(new Set(["shadow"]));
    expect((await ruleOf(rig)).stepBacks).toBe(1);
  });
});

describe("promoteWhen", () => {
  const promote = (automatic: boolean) => `version: carryover/v1
rules:
  - name: look
    match: {}
    mode: shadow
    shadow: { sample: 1, control: 0 }
    promoteWhen: { differencesBelow: 0.1, minClients: 2, automatic: ${automatic} }
`;

  it("by default says that it could, and moves nobody; the bound is shown per operation and client", async () => {
    const rig = await cutover({
      rules: promote(false).replace(", automatic: false", ""),
      sandbox: { organisation: false },
    });
    for (let at = 0; at < 40; at++) {
      expect((await ask(rig, at)).field("carryover-mode")).toBe("shadow");
      await rig.compared(at + 1);
    }
    expect((await ask(rig, 0)).field("carryover-mode")).toBe("shadow");
    expect(await ruleOf(rig)).toMatchObject({ couldMove: true, promoted: false, effective: "shadow" });
    expect(await rig.metric("carryover_rule_could_move", { rule: "look" })).toBe(1);
    expect(rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /could/.test(msg))).toHaveLength(1);
    await rig.compared(41);
    const { bounds, rules: said } = await rig.view("/progress");
    expect(said[0]).toMatchObject({ name: "look", state: "could-move", doing: "shadow" });
    const whole = bounds.find(({ client }: { client?: string }) => client === undefined);
    expect(whole).toMatchObject({ resource: "role", operation: "list", comparisons: 41, differences: 0 });
    expect(whole.upper).toBeLessThanOrEqual(3 / 41);
    expect(whole.upper).toBeGreaterThan(1 - 0.05 ** (1 / 42));
    const clients = bounds.flatMap(({ client, comparisons }: { client?: string; comparisons: number }) =>
      client === undefined ? [] : [[client, comparisons]],
    );
    expect(new Map(clients)).toEqual(
      new Map([
        ["client-0", 11],
        ["client-1", 10],
        ["client-2", 10],
        ["client-3", 10],
      ]),
    );
  });

  it("with `automatic: true` translates once the bound is low enough, not before, and says so", async () => {
    const rig = await cutover({ rules: promote(true), sandbox: { organisation: false } });
    let requests = 0;
    for (; requests < 100; requests++) {
      if ((await ask(rig, requests)).field("carryover-mode") === "translate") break;
      await rig.compared(requests + 1);
    }
    // No difference in n: at most 3/n differ.
    expect([29, 30, 31]).toContain(requests);
    expect(await ruleOf(rig)).toMatchObject({ promoted: true, effective: "translate", mode: "shadow" });
    const progress = await rig.view("/progress");
    expect(progress.rules[0]).toMatchObject({ mode: "shadow", doing: "translate", state: "promoted" });
    expect(await rig.metric("carryover_rule_mode", { rule: "look", mode: "translate" })).toBe(1);
  });

  it.each([
    ["one client alone", (rig: CutoverRig) => rig.ask("GET", ROLES, { headers: { "user-agent": "one/1" } }), undefined],
    [
      "a difference in each",
      (rig: CutoverRig, at: number) => ask(rig, at),
      v2Says((text) => text.replaceAll('"viewer"', '"v"')),
    ],
  ])("never moves with %s", async (_, one, faults) => {
    const rig = await cutover({
      rules: promote(true),
      sandbox: { organisation: false, ...(faults === undefined ? {} : { faults }) },
    });
    for (let at = 0; at < 60; at++) {
      expect((await one(rig, at)).field("carryover-mode")).toBe("shadow");
      await rig.compared(at + 1);
    }
    expect(await ruleOf(rig)).toMatchObject({ promoted: false, couldMove: false });
    await until(
      () => rig.metric("carryover_comparisons_total"),
      (count) => count === 60,
    );
  });
});
