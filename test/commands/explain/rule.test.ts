import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { Rule, Rules } from "../../../src/rules/rule.ts";
import { createExplain } from "../../../src/runtime/explain/explain.ts";
import type { Explanation } from "../../../src/runtime/explain/explanation.ts";
import { readRequest } from "../../../src/runtime/explain/request.ts";
import { cutoverFromConfig } from "../../../src/runtime/explain/rule.ts";
import { makeRule } from "../../rollout/make-rule.ts";
import { EXAMPLES } from "../../support/examples.ts";

const catalogue = await loadCatalogue("v2beta1");
const AT = Date.UTC(2026, 10, 21, 12);
const SHADOW = { sample: 0.25, control: 0 };

interface Given {
  readonly text: string;
  readonly data?: string;
  readonly headers?: readonly string[];
  readonly client?: string;
  readonly flags?: Readonly<Record<string, string>>;
}

function rulesOf(rules: readonly Rule[], rest: Partial<Rules> = {}): Rules {
  return { force: "none", fallback: undefined, digest: "0123456789ab", rules, ...rest };
}

/** `request` under these rules, with native v1 configured. */
async function told(rules: Rules | undefined, request: string | Given): Promise<Explanation> {
  const { text, headers = [], client, flags = {}, data } = typeof request === "string" ? { text: request } : request;
  const { config } = loadConfig({
    flags: {
      upstreamV2Url: "http://v2.test",
      upstreamV1Url: "http://v1.test",
      cutoverMode: "translate",
      ...flags,
    },
    env: {},
    readFile: () => new Uint8Array(),
  });
  const explain = createExplain(config, catalogue, EXAMPLES, cutoverFromConfig(config, rules, AT));
  const asked = readRequest({ text, headers, ...(data === undefined ? {} : { data }) }, () => new Uint8Array());
  return explain(asked, client);
}

const GROUPS = "GET /iam/v1/groups";

describe("which rule takes a request", () => {
  const rules = rulesOf([
    makeRule("roles", { resources: new Set(["role"]) }, { line: 4 }),
    makeRule("ci", { clients: new Set(["ci-bot"]) }, { line: 7, mode: "native" }),
    makeRule("canary", { header: { name: "x-canary", value: "always" } }, { line: 10, mode: "shadow", shadow: SHADOW }),
    makeRule("rest", {}, { line: 13 }),
    makeRule("never-reached", {}, { line: 16 }),
  ]);

  test("is told with the line of each, and why those before it did not", async () => {
    const { cutover, summary, mode } = await told(rules, { text: GROUPS, client: "somebody" });
    expect(cutover?.rules).toEqual([
      { name: "roles", line: 4, mode: "translate", matched: false, why: "resource is group, not role" },
      { name: "ci", line: 7, mode: "native", matched: false, why: "client is somebody, not ci-bot" },
      { name: "canary", line: 10, mode: "shadow", matched: false, why: expect.stringContaining("x-canary") },
      { name: "rest", line: 13, mode: "translate", matched: true, why: "everything it asks for holds" },
    ]);
    expect(cutover).toMatchObject({
      client: "somebody",
      at: "2026-11-21T12:00:00.000Z",
      mode: "translate",
      why: "rule",
      rule: "rest",
      digest: "0123456789ab",
    });
    expect([mode, summary]).toEqual(["translate", "list of group: translated, 1 call to v2 (translate: rule rest)"]);
  });

  test("follows from who sends it: by its header fields, or as one is told", async () => {
    const text = GROUPS;
    const flags = { clientsNames: "ci-bot=ci@example.com", clientsIdentify: "header:x-user" };
    const known = await told(rules, { text, flags, headers: ["X-User: ci@example.com"] });
    expect([known.cutover?.client, known.cutover?.rule]).toEqual(["ci-bot", "ci"]);
    const other = await told(rules, { text, flags, headers: ["X-User: ci@example.com"], client: "nobody" });
    expect([other.cutover?.client, other.cutover?.rule]).toEqual(["nobody", "rest"]);
    const unknown = await told(rules, { text, flags });
    expect([unknown.cutover?.client, unknown.cutover?.rule]).toEqual(["unknown", "rest"]);
  });
});

describe("what decides beside rules", () => {
  test("force overrides all of them, and which one would take it is told as well", async () => {
    const forced = rulesOf([makeRule("all", {})], { force: "native" });
    const { cutover, mode, summary } = await told(forced, GROUPS);
    expect([cutover?.why, cutover?.rule, mode]).toEqual(["forced", null, "native"]);
    expect(cutover?.rules.map(({ name, matched }) => [name, matched])).toEqual([["all", true]]);
    expect(summary).toMatch(
      /\(native: force, at the top of the rules file or by `carryover force`, overrides every rule\)$/,
    );
  });

  test("cutover.mode takes what no rule takes, also without a rules file", async () => {
    const none = rulesOf([makeRule("roles", { resources: new Set(["role"]) })]);
    const flags = { cutoverMode: "native" };
    for (const rules of [none, undefined]) {
      const { cutover, mode } = await told(rules, { text: GROUPS, flags });
      expect([cutover?.why, cutover?.rule, mode]).toEqual(["default", null, "native"]);
    }
  });

  test("without rules, where everything is translated, nothing of it is told", async () => {
    const { cutover, summary } = await told(undefined, GROUPS);
    expect([cutover, summary]).toEqual([null, "list of group: translated, 1 call to v2"]);
  });

  test.each([
    "GET /iam/v1/terms/a",
    "GET /iam/v2beta1/groups",
    "OPTIONS /iam/v1/groups",
    "GET /iam/v1/groups/",
    "GET /x",
  ])("no rule decides about %s", async (text) => {
    expect((await told(rulesOf([makeRule("all", {}, { mode: "native" })]), text)).cutover).toBeNull();
  });

  test("the file's fallback counts before the option, for what only native v1 has", async () => {
    const text = "GET /iam/v1/terms/a";
    expect((await told(rulesOf([]), text)).mode).toBe("native");
    const refused = await told(rulesOf([], { fallback: "refuse" }), text);
    expect([refused.mode, refused.refusal?.reason]).toEqual(["refused", "NOT_TRANSLATABLE"]);
  });
});

describe("what native v1 serves", () => {
  const PUT = { text: "PUT /iam/v1/groups/a", data: '{"name":"x","verified":true}' };

  test.each(["native", "shadow"] as const)(
    "in %s goes there as it is; the translation is shown beside it",
    async (mode) => {
      const rules = rulesOf([makeRule("all", {}, { mode, shadow: SHADOW })]);
      const elsewhere = await told(rules, PUT);
      const translated = await told(undefined, PUT);
      expect(elsewhere.mode).toBe(mode);
      expect(elsewhere.calls.map(({ upstream, method, target, body }) => [upstream, method, target, body])).toEqual([
        ["v1", "PUT", "/iam/v1/groups/a", PUT.data],
      ]);
      expect(elsewhere.translated).toEqual(translated.calls);
      expect(translated.translated).toEqual([]);
      expect(elsewhere.fields).toEqual(translated.fields);
      expect(elsewhere.answer).toEqual(translated.answer);
    },
  );

  test("is not refused by carryover for what only a translation would refuse, and that is told", async () => {
    const rules = rulesOf([makeRule("all", {}, { mode: "native" })]);
    const wrong = { text: "PUT /iam/v1/groups/a", data: "{" };
    expect((await told(undefined, wrong)).refusal?.reason).toBe("INVALID_BODY");
    const { refusal, mode, notes } = await told(rules, wrong);
    expect([refusal, mode]).toEqual([null, "native"]);
    expect(notes).toContainEqual(
      expect.stringMatching(/^if it were translated, carryover would refuse it: 400 INVALID_BODY: /),
    );
  });

  test("is refused where a rule switches native v1 off for the client, and the rule is named", async () => {
    const rules = rulesOf([makeRule("rehearsal", { clients: new Set(["ci-bot"]) }, { fallback: "refuse" })]);
    const text = "GET /registry/v1/tags/any/history";
    const flags = { fallback: "native" };
    const { mode, refusal, notes } = await told(rules, { text, flags, client: "ci-bot" });
    expect([mode, refusal?.reason, notes]).toEqual(["refused", "NOT_TRANSLATABLE", []]);
    expect(refusal?.message).toContain("rule rehearsal switches native v1 off for this client");
    expect((await told(rules, { text, flags, client: "other" })).mode).toBe("native");
    const guessed = { text: "GET /registry/v1/repotagssummary/any", flags };
    expect((await told(rules, { ...guessed, client: "ci-bot" })).mode).toBe("translate");
    expect((await told(rules, { ...guessed, client: "other" })).mode).toBe("native");
  });

  test("is refused all the same where carryover lets nothing in", async () => {
    const rules = rulesOf([makeRule("all", {}, { mode: "native" })]);
    const { refusal, cutover } = await told(rules, { text: GROUPS, headers: ["Content-Type: application/grpc"] });
    expect([refusal?.status, cutover]).toEqual([415, null]);
  });

  test("says how much of it is compared", async () => {
    const says = async (mode: Rule["mode"], text: string) =>
      (await told(rulesOf([makeRule("all", {}, { mode, shadow: SHADOW })]), text)).cutover?.says;
    expect(await says("shadow", GROUPS)).toMatch(/25 % of such requests are also translated in the background/);
    expect(await says("shadow", "DELETE /iam/v1/groups/a")).toMatch(/25 % .* nothing is sent twice/);
    expect(await says("translate", GROUPS)).toMatch(/25 % of such requests are also sent to native v1/);
    expect(await says("translate", "DELETE /iam/v1/groups/a")).toBe("carryover answers from v2");
    expect(await says("native", GROUPS)).toBe("native v1 answers, and nothing is compared");
  });
});
