import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { type AdminOptions, type AdminServer, createAdminServer } from "../../src/admin/server.ts";
import { Problem } from "../../src/model/problem.ts";

const TOKEN = "0123456789-token";
const open: AdminServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((admin) => admin.close()));
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function start(options: Partial<AdminOptions> = {}): Promise<string> {
  const admin = createAdminServer({
    host: "127.0.0.1",
    port: 0,
    metrics: { contentType: "text/plain; version=0.0.4; charset=utf-8", text: async () => "up 1\n" },
    ready: () => true,
    views: new Map<string, () => unknown>([["unknown-fields", () => [{ resource: "group" }]]]),
    ...options,
  });
  open.push(admin);
  return (await admin.listen()).url;
}

function ask(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body = "",
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString("utf8"),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const reasonOf = ({ body }: Answer): unknown => JSON.parse(body).details?.[0]?.reason;

describe("texts", () => {
  const texts = new Map([
    ["clients.txt", (query: URLSearchParams) => `clients of ${query.get("v1") ?? "all"}\n`],
    ["way-out.md", () => "# Way out\n"],
  ]);

  test("are served by the type that their name ends in, with what the query says", async () => {
    const url = await start({ texts });
    const plain = await ask(url, "/clients.txt?v1=only");
    expect([plain.status, plain.body]).toEqual([200, "clients of only\n"]);
    expect(plain.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect((await ask(url, "/clients.txt")).body).toBe("clients of all\n");
    expect((await ask(url, "/way-out.md")).headers["content-type"]).toBe("text/markdown; charset=utf-8");
  });

  test("need the token as views do, and are named where there is nothing", async () => {
    const url = await start({ token: TOKEN, texts });
    expect((await ask(url, "/clients.txt")).status).toBe(401);
    expect((await ask(url, "/nothing")).body).toContain("/way-out.md");
  });
});

describe("what is open", () => {
  test("health, readiness and metrics need no token", async () => {
    const url = await start({ token: TOKEN });
    expect(await ask(url, "/healthz")).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await ask(url, "/readyz")).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    const metrics = await ask(url, "/metrics");
    expect(metrics).toMatchObject({ status: 200, body: "up 1\n" });
    expect(metrics.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  test("what is not ready says so and stays healthy", async () => {
    const state = { ready: false };
    const url = await start({ ready: () => state.ready });
    expect((await ask(url, "/readyz")).status).toBe(503);
    expect((await ask(url, "/healthz")).status).toBe(200);
    state.ready = true;
    expect((await ask(url, "/readyz")).status).toBe(200);
  });

  test("metrics that fail are a clean error, and their cause stays inside", async () => {
    const heard: unknown[] = [];
    const url = await start({
      metrics: { contentType: "text/plain", text: () => Promise.reject(new Error("hunter2")) },
      log: (message, cause) => heard.push([message, cause]),
    });
    const answer = await ask(url, "/metrics");
    expect(answer.status).toBe(500);
    expect(reasonOf(answer)).toBe("INTERNAL");
    expect(answer.body).not.toContain("hunter2");
    expect(heard).toEqual([["a response to an operator failed", new Error("hunter2")]]);
  });
});

describe("views with a token", () => {
  test("the token opens them, whatever Host was asked for", async () => {
    const url = await start({ token: TOKEN });
    const answer = await ask(url, "/unknown-fields", { authorization: `Bearer ${TOKEN}`, host: "ops.example" });
    expect(answer).toMatchObject({ status: 200, body: '[{"resource":"group"}]' });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer ${TOKEN} x`,
  ])("authorization %j does not", async (authorization) => {
    const url = await start({ token: TOKEN });
    const answer = await ask(url, "/unknown-fields", authorization === undefined ? {} : { authorization });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 16,
      details: [{ reason: "UNAUTHENTICATED", domain: "carryover" }],
    });
    expect(answer.body).not.toContain(TOKEN);
  });

  test("an empty token opens nothing", async () => {
    const url = await start({ token: "" });
    expect((await ask(url, "/unknown-fields", { authorization: "Bearer " })).status).toBe(401);
  });
});

test("without a token views are open to this machine alone", async () => {
  const url = await start();
  expect((await ask(url, "/unknown-fields")).status).toBe(200);
  const answer = await ask(url, "/unknown-fields", { host: "evil.example" });
  expect([answer.status, reasonOf(answer)]).toEqual([401, "UNAUTHENTICATED"]);
});

describe("errors", () => {
  test("what is not there lists what is", async () => {
    const answer = await ask(await start(), "/nothing");
    expect(answer.status).toBe(404);
    expect(reasonOf(answer)).toBe("UNKNOWN_PATH");
    for (const path of ["/healthz", "/readyz", "/metrics", "/unknown-fields"]) expect(answer.body).toContain(path);
  });

  test("a view that fails is a clean error", async () => {
    const views = new Map<string, () => unknown>([
      ["broken", () => BigInt(1)],
      [
        "refused",
        () => {
          throw new Problem("OVERLOADED", "later");
        },
      ],
    ]);
    const url = await start({ views });
    expect(await ask(url, "/broken")).toMatchObject({ status: 500 });
    expect(reasonOf(await ask(url, "/refused"))).toBe("OVERLOADED");
  });

  test("a path that cannot be read is an error in the same shape", async () => {
    const answer = await ask(await start(), "/%zz");
    expect(answer.status).toBe(400);
    expect(reasonOf(answer)).toBe("INVALID_PATH");
  });
});

test("closing frees the port", async () => {
  const url = await start();
  await open.pop()?.close();
  await expect(ask(url, "/healthz")).rejects.toThrow(/ECONNREFUSED/);
});

describe("POST /force", () => {
  const JSON_BODY = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const NATIVE = '{"force":"native"}';

  async function forcing(options: Partial<AdminOptions> = { token: TOKEN }) {
    const said: string[] = [];
    const url = await start({
      ...options,
      force: (command, note) => {
        said.push([command, ...Object.values(note)].join(" "));
        return { effective: command };
      },
    });
    const post = (body: string, headers: Record<string, string> = JSON_BODY) =>
      ask(url, "/force", headers, "POST", body);
    return { url, said, post };
  }

  test("carries out what it is told with the token, and returns what is in force", async () => {
    const { said, post } = await forcing();
    expect(await post(NATIVE)).toMatchObject({ status: 200, body: '{"effective":"native"}' });
    expect(await post('{"force":"none"}')).toMatchObject({ status: 200, body: '{"effective":"none"}' });
    expect(await post('{"force":"native","by":"anna","reason":"v2 is down, see //a:hunter2@b"}')).toMatchObject({
      status: 200,
    });
    expect(said).toEqual(["native", "none", "native v2 is down, see //…@b anna"]);
  });

  test("is never open: without a configured token this machine is refused, too", async () => {
    const { said, post } = await forcing({});
    const answer = await post(NATIVE);
    expect([answer.status, reasonOf(answer), said]).toEqual([401, "UNAUTHENTICATED", []]);
    expect(answer.body).toContain("admin.tokenFile");
  });

  test.each([
    ["is not written", undefined, "change-token in state.dir, which cannot be written"],
    ["is another one", "t", "with the token of the file change-token in state.dir"],
  ])("where the token of a state.dir %s, the refusal says so", async (_, changeToken, text) => {
    const { post } = await forcing({ changeToken: () => changeToken });
    const refused = await post(NATIVE);
    expect([refused.status, refused.body]).toEqual([401, expect.stringContaining(text)]);
  });

  test.each([
    ["another token", { ...JSON_BODY, authorization: "Bearer x" }, 401],
    ["no token", { "content-type": "application/json" }, 401],
    ["what a form of a page can send", { ...JSON_BODY, "content-type": "text/plain" }, 400],
    ["a form", { ...JSON_BODY, "content-type": "application/x-www-form-urlencoded" }, 400],
    ["no type", { authorization: `Bearer ${TOKEN}` }, 400],
  ])("with %s changes nothing", async (_, headers, status) => {
    const { said, post } = await forcing();
    const answer = await post(NATIVE, headers as Record<string, string>);
    expect([answer.status, said]).toEqual([status, []]);
    if (status === 400) expect(answer.body).not.toContain("option");
  });

  test.each([
    ["", 400],
    ["native", 400],
    ['"native"', 400],
    ['{"force":"translate"}', 400],
    ['{"force":["native"]}', 400],
    ['{"force":"native","for":"1h"}', 400],
    ['{"force":"native","by":7}', 400],
    ['{"force":"native","by":""}', 400],
    ['{"force":"native","reason":"a\\nb"}', 400],
    [`{"force":"native","reason":"${"a".repeat(501)}"}`, 400],
    [`{"force":"native"}${" ".repeat(9000)}`, 413],
  ])("a body of %j changes nothing", async (body, status) => {
    const { said, post } = await forcing();
    const answer = await post(body);
    expect([answer.status, said]).toEqual([status, []]);
    // No option of carryover changes it.
    expect(answer.body).not.toContain("option");
  });

  test("POST /confirm takes the name of a rule, with the token alone", async () => {
    const said: string[] = [];
    const url = await start({
      token: TOKEN,
      confirm: (rule) => {
        said.push(rule);
        return { rule };
      },
    });
    const post = async (body: string, headers: Record<string, string> = JSON_BODY) =>
      (await ask(url, "/confirm", headers, "POST", body)).status;
    expect(await post('{"rule":"reads"}', { "content-type": "application/json" })).toBe(401);
    expect(await Promise.all(['{"rule":1}', '{"rule":"a","b":1}', "[]"].map((body) => post(body)))).toEqual([
      400, 400, 400,
    ]);
    expect(said).toEqual([]);
    expect([await post('{"rule":"reads"}'), said]).toEqual([200, ["reads"]]);
  });

  test("POST /forget takes the name of a client, with the token alone", async () => {
    const said: string[] = [];
    const url = await start({ token: TOKEN, forget: (client) => said.push(client) });
    const post = async (body: unknown, headers: Record<string, string> = JSON_BODY) =>
      (await ask(url, "/forget", headers, "POST", JSON.stringify(body))).status;
    expect(await post({ client: "ci-bot" }, { "content-type": "application/json" })).toBe(401);
    expect(await Promise.all(["", " a", "a\nb", "a".repeat(129), 1].map((client) => post({ client })))).toEqual([
      400, 400, 400, 400, 400,
    ]);
    expect([await post({ client: "raw:日本" }), said]).toEqual([200, ["raw:日本"]]);
  });

  test("a page of another origin is not told that it may ask", async () => {
    const { url } = await forcing();
    const preflight = await ask(url, "/force", { origin: "https://evil.example" }, "OPTIONS");
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });
});
