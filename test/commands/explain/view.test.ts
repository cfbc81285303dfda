import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { later, type Rig, rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { explainWith } from "./support.ts";

takeDownAfterEach();

interface Answer {
  readonly status: number;
  readonly type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: explanations and errors.
  readonly body: any;
}

async function ask(
  url: string,
  query: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/explain?${new URLSearchParams(query)}`, { headers });
  return { status: response.status, type: response.headers.get("content-type"), body: await response.json() };
}

describe("GET /explain of the admin port", () => {
  let usual: Rig;
  beforeAll(async () => {
    usual = await rig();
  });
  afterAll(() => usual.close());

  test("says what the command says, for the configuration of the process", async () => {
    const { adminUrl, sandbox } = await rigForTest({ flags: { unknownFieldsRequest: "refuse" } });
    const before = sandbox.requests.length;
    const data = '{"name":"x","verified":true}';
    const { status, type, body } = await ask(adminUrl, { request: "PUT /iam/v1/groups/a?x=1", data });
    expect([status, type]).toEqual([200, "application/json; charset=utf-8"]);
    const words = ["PUT /iam/v1/groups/a?x=1", "-d", data, "--unknown-fields-request", "refuse", "--json"];
    expect(body).toEqual(JSON.parse((await explainWith(words)).out));
    const unknown = await ask(adminUrl, { request: "PUT /iam/v1/groups/a", data: '{"colour":1}' });
    expect([unknown.status, unknown.body.refusal.reason]).toEqual([200, "INVALID_BODY"]);
    const native = await ask(adminUrl, { request: "GET /iam/v1/terms/a" });
    expect(native.body.mode).toBe("native");
    expect(sandbox.requests.length).toBe(before);
  });

  test("says which of the rules in force takes it, for whom it is asked: as requests are served", async () => {
    const dir = mkdtempSync(join(tmpdir(), "explain-"));
    later(async () => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, "rules.yaml");
    const rule = (name: string, client: string) =>
      `  - { name: ${name}, match: { client: ${client} }, mode: native }\n`;
    writeFileSync(path, `version: carryover/v1\nrules:\n${rule("one", "ci-bot")}${rule("two", "x")}`);
    const flags = { cutoverRulesFile: path, clientsIdentify: "header:x-user" };
    const { adminUrl, ask: send } = await rigForTest({ flags });
    const request = "GET /iam/v1/groups";
    const { body } = await ask(adminUrl, { request, client: "x" });
    expect([body.mode, body.cutover.rule, body.cutover.client]).toEqual(["native", "two", "x"]);
    expect(body.cutover.rules.map(({ name }: { name: string }) => name)).toEqual(["one", "two"]);
    const sent = await ask(adminUrl, { request, header: "x-user: ci-bot" });
    expect([sent.body.mode, sent.body.cutover.rule]).toEqual(["native", "one"]);
    const nobody = await ask(adminUrl, { request });
    expect([nobody.body.mode, nobody.body.cutover.rule]).toEqual(["translate", null]);
    for (const [user, mode] of [
      ["ci-bot", "native"],
      ["nobody", "translate"],
    ] as const) {
      const answer = await send("GET", "/iam/v1/groups", { headers: { "x-user": user } });
      expect(answer.field("carryover-mode")).toBe(mode);
    }
  });

  test("takes header fields and a method", async () => {
    const { adminUrl } = usual;
    const { body } = await ask(adminUrl, [
      ["request", "/iam/v1/groups/a"],
      ["method", "put"],
      ["data", '{"verified":true}'],
      ["header", "If-Match: x"],
      ["header", "If-None-Match: y"],
    ]);
    expect(body.refusal.reason).toBe("CONDITION_UNSUPPORTED");
  });

  test("reads no files, whatever it is asked", async () => {
    const { adminUrl } = usual;
    for (const query of [
      { request: "PUT /iam/v1/groups/a", data: "@package.json" },
      { request: "PUT /iam/v1/groups/a", data: "@-" },
    ]) {
      const { status, body } = await ask(adminUrl, query);
      expect([status, body.message]).toEqual([400, "files are not read here: put the body itself into the query"]);
    }
  });

  test("without a request, or with one that is none, is 400 and says what is expected", async () => {
    const { adminUrl } = usual;
    for (const query of [{}, { request: "" }, { request: "GET /a /b" }, { request: "curl /a" }]) {
      const { status, body } = await ask(adminUrl, query as Record<string, string>);
      expect([status, body.code, body.details[0].reason]).toEqual([400, 3, "INVALID_REQUEST"]);
    }
  });

  test("is shown to whom other views are shown, and changes nothing", async () => {
    const { adminUrl } = usual;
    const request = { request: "GET /iam/v1/groups" };
    expect((await ask(adminUrl, request, { "x-forwarded-for": "10.0.0.1" })).status).toBe(401);
    const posted = await fetch(`${adminUrl}/explain?request=GET+/iam/v1/groups`, { method: "POST" });
    expect(posted.status).toBe(405);
    const huge = await fetch(`${adminUrl}/explain?request=${"a".repeat(100_000)}`);
    expect(huge.status).toBeGreaterThanOrEqual(400);
  });
});
