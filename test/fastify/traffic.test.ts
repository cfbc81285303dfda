import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { describe, expect, it, vi } from "vitest";
import { parse, sending } from "../server/support/client.ts";
import { createDouble } from "../server/support/double.ts";
import { fastifyRig, later, listening, reasonOf, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

/** Sends `text` as it is; resolves with everything that comes until the connection ends, or after `ms`. */
async function talk(url: string, text: string, ms = 2_000): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  socket.write(text, "latin1");
  await Promise.race([once(socket, "close"), setTimeout(ms)]);
  socket.destroy();
  return received;
}

/** A platform that responds as `script` says, and an app in front of it. */
async function inFrontOf(script: Parameters<typeof createDouble>[0], choices: Parameters<typeof fastifyRig>[0] = {}) {
  const double = await createDouble(script);
  later(double.close);
  return { double, ...(await fastifyRig({ v2Url: double.url, ...choices })) };
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("a request through the plugin", () => {
  it.each([
    ["encoded slashes", "/iam/v2beta1/groups/a%2Fb%2fc"],
    ["verbs", "/iam/v2beta1/groups:lookup"],
    ["double slashes", "/iam/v2beta1//groups"],
    ["bytes of the query", "/iam/v2beta1/groups?a=%zz&b=1+2&b=%20&&c?=[]{}|\\^`'\"<>"],
    ["a long segment", `/iam/v2beta1/groups/${"a".repeat(300)}`],
    ["a slash at its end", "/iam/v2beta1/groups/"],
    ["an empty query", "/iam/v2beta1/groups?"],
    ["dots and slashes of the query", "/iam/v2beta1/groups?x=/../..//y&a=1&a=2&&=&b"],
    ["escapes of escapes", "/iam/v2beta1/groups/%252e%252e/x"],
    ["colons, semicolons and equals signs", "/iam/v2beta1/groups/a:b;c=d/"],
    ["characters that a URL escapes", '/iam/v2beta1/groups/{a}|"b"`^'],
  ])("keeps %s", async (_, target) => {
    const { url, double } = await inFrontOf(OK);
    await talk(url, `GET ${target} HTTP/1.1\r\nHost: v1.example.com\r\nConnection: close\r\n\r\n`);
    expect(double.received().split("\r\n")[0]).toBe(`GET ${target} HTTP/1.1`);
  });

  it("keeps fields in their order and spelling, repeated ones too", async () => {
    const { url, double } = await inFrontOf(OK);
    const fields = ["X-Same: 1", "AuthoriZation: Bearer t", "x-same: 2", "Cookie: a=1", "Cookie: b=2", "Accept: */*"];
    await talk(
      url,
      `GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields.join("\r\n")}\r\n\r\n`,
    );
    const lines = double.received().split("\r\n");
    expect(lines.filter((line) => fields.includes(line))).toEqual(fields);
  });

  it("does not let the app's first of two tokens hide the second", async () => {
    const { url, double } = await inFrontOf(OK);
    const two = "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n";
    const received = await talk(url, `GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${two}\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 40[01] /);
    expect(double.received()).toBe("");
  });

  it.each([
    ["invalid JSON", "application/json", "{"],
    ["a form", "application/x-www-form-urlencoded", "a=1&a=2"],
    ["an invalid media type", "json", '{"a": 1}'],
    ["an empty media type", "", "text"],
    ["several parts", "multipart/form-data; boundary=x", "--x--"],
  ])("has its body unread: %s", async (_, type, body) => {
    const { url, double } = await inFrontOf(OK, {
      before: (app: FastifyInstance) =>
        app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
          done(new Error("the app's own parser")),
        ),
    });
    const head = `POST /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: ${type}\r\n`;
    const received = await talk(url, `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(double.received()).toContain(`\r\nContent-Type: ${type}\r\n`);
    expect(double.received().endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  it("has its address, host and protocol from the app, and none that its client claims", async () => {
    const { url, double } = await inFrontOf(OK);
    const claims =
      "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Port: 1\r\nX-Forwarded-Host: evil\r\nX-Real-IP: 192.0.2.8\r\n";
    await talk(url, `GET /iam/v2beta1/groups HTTP/1.1\r\nHost: v1.example.com\r\nConnection: close\r\n${claims}\r\n`);
    const received = double.received().toLowerCase();
    expect(received.match(/^x-(?:forwarded-.*|real-ip.*)(?=\r)/gm)?.sort()).toEqual([
      "x-forwarded-for: 127.0.0.1",
      "x-forwarded-host: v1.example.com",
      "x-forwarded-proto: http",
    ]);
  });

  it("has what a proxy says that the app trusts", async () => {
    const { url, double } = await inFrontOf(OK, { app: { trustProxy: "127.0.0.1" } });
    const claims =
      "X-Forwarded-For: 198.51.100.1, 192.0.2.7\r\nX-Forwarded-Proto: http, https\r\nX-Forwarded-Host: evil, v1.example.com\r\n";
    await talk(url, `GET /iam/v2beta1/groups HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n${claims}\r\n`);
    const received = double.received().toLowerCase();
    expect(received.match(/^x-forwarded-.*(?=\r)/gm)?.sort()).toEqual([
      "x-forwarded-for: 192.0.2.7, 127.0.0.1",
      "x-forwarded-host: v1.example.com",
      "x-forwarded-proto: https",
    ]);
  });

  it.each([[true], [false]])("is served as HEAD with exposeHeadRoutes %s", async (exposeHeadRoutes) => {
    const { ask } = await inFrontOf("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", { app: { exposeHeadRoutes } });
    const head = await ask("HEAD", "/iam/v2beta1/groups");
    expect([head.status, head.field("content-length"), head.text]).toEqual([200, "1234", ""]);
  });

  it("has the body that the app's hooks have left", async () => {
    const { ask, double } = await inFrontOf(OK, {
      before: (app: FastifyInstance) =>
        app.addHook("preParsing", async (_request, _reply, payload) =>
          payload.pipe(new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) })),
        ),
    });
    expect((await ask("POST", "/iam/v2beta1/groups", { body: "text" })).status).toBe(200);
    expect(double.requests[0]?.body.toString()).toBe("TEXT");
  });

  it("is not repeated for a 503 with Retry-After", async () => {
    const { ask, double } = await inFrontOf("HTTP/1.1 503 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
    expect((await ask("POST", "/iam/v2beta1/groups")).status).toBe(503);
    const calls = double.requests.length;
    expect(calls).toBe(1);
    expect((await ask("GET", "/iam/v2beta1/groups")).field("retry-after")).toBe("1");
    await setTimeout(200);
    expect(double.requests.length).toBeLessThanOrEqual(calls + 2);
  });
});

describe("a response through the plugin", () => {
  it("has fields of the app's connection, and none of the connection behind it", async () => {
    const { url } = await inFrontOf(OK, { app: { keepAliveTimeout: 5_000 } });
    const received = await talk(url, "GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\n\r\n", 300);
    expect(received.match(/^(?:connection|keep-alive): .*(?=\r)/gim)).toEqual([
      "Connection: keep-alive",
      "Keep-Alive: timeout=5",
    ]);
  });

  it.each([
    ["GET", undefined],
    ["DELETE", "unknown"],
  ])("of carryover's own form says that carryover does not respond, to %s", async (method, state) => {
    const folder = mkdtempSync(join(tmpdir(), "carryover-"));
    later(async () => rmSync(folder, { recursive: true }));
    const socket = join(folder, "own.sock");
    const { ask } = await inFrontOf(OK, {
      config: { upstream: { v2: { url: "http://127.0.0.1:9" } }, listen: { socket } },
    });
    rmSync(socket);
    const response = await ask(method, "/iam/v2beta1/groups/x");
    expect([response.status, reasonOf(response)]).toEqual([502, "UPSTREAM_UNREACHABLE"]);
    expect(response.json.details[0].metadata.state).toBe(state);
  });

  it("keeps repeated fields, cookies and the request id", async () => {
    const fields = ["Set-Cookie: a=1", "Set-Cookie: b=2", "X-Same: 1", "X-Same: 2", "Location: /iam/v2beta1/x"];
    const { ask } = await inFrontOf(`HTTP/1.1 201 Created\r\nContent-Length: 0\r\n${fields.join("\r\n")}\r\n\r\n`, {
      plugin: { prefix: "/gateway" },
    });
    const { headers, status } = await ask("GET", "/gateway/iam/v2beta1/groups", {
      headers: { "x-request-id": "mine" },
    });
    const named = (name: string) => headers.flatMap(([key, value]) => (key === name ? [value] : []));
    expect([status, named("set-cookie"), named("x-same")]).toEqual([201, ["a=1", "b=2"], ["1", "2"]]);
    expect([named("location"), named("x-request-id")]).toEqual([["/gateway/iam/v2beta1/x"], ["mine"]]);
  });

  it("breaks off where the platform's broke off", async () => {
    const { url } = await inFrontOf((_request, socket) => {
      socket.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n",
      );
      globalThis.setTimeout(() => socket.destroy(), 100);
    });
    const received = await talk(url, "GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(received).toContain("[1,2,");
    expect(received).not.toContain("\r\n0\r\n");
  });

  it("of a list is never a short list: the connection breaks where the platform's pages end too early", async () => {
    const record = (i: number) => ({ uid: `${"a".repeat(40)}/${i.toString(16).padStart(16, "0")}`, name: `team-${i}` });
    const platform = createServer((req, res) => {
      const from = Number(/page_token=k(\d+)/.exec(req.url ?? "")?.[1] ?? 0);
      if (from >= 600) return void req.socket.destroy();
      const groups = Array.from({ length: 200 }, (_, i) => record(from + i));
      res.end(JSON.stringify({ groups, nextPageToken: `k${from + 200}` }));
    });
    const port = await listening(platform);
    const { url } = await fastifyRig({
      v2Url: `http://127.0.0.1:${port}`,
      config: { lists: { bufferBytes: "1KiB", readers: 1 }, upstream: { v2: { url: `http://127.0.0.1:${port}` } } },
    });
    const response = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: "Bearer t" } });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });
});

describe("a client that leaves", () => {
  it.each([
    ["before the response", ""],
    ["during the response", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"],
  ])("is noticed by the platform within a second, %s", async (_, begun) => {
    const closed: number[] = [];
    const { url, double } = await inFrontOf((_request, socket) => {
      if (begun !== "") socket.write(begun);
      socket.on("close", () => closed.push(performance.now()));
      socket.on("error", () => {});
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\n\r\n");
    if (begun === "") await vi.waitFor(() => expect(double.requests).toHaveLength(1));
    else await once(socket, "data");
    const left = performance.now();
    socket.destroy();
    await vi.waitFor(() => expect(closed).toHaveLength(1), { timeout: 3_000 });
    expect((closed[0] ?? 0) - left).toBeLessThan(1_000);
  });
});

describe("long bodies", () => {
  it("refused early, have a response that a client sees which reads nothing before it has written all", async () => {
    const { url } = await fastifyRig();
    const size = 16 * 2 ** 20;
    const client = await sending(
      Number(new URL(url).port),
      `POST /iam/v1/groups HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
    );
    client.socket.pause();
    const piece = Buffer.alloc(64 * 1024, 97);
    const write = (left: number): void => {
      if (left <= 0) return void client.socket.resume();
      if (!client.socket.destroyed) client.socket.write(piece, () => setImmediate(write, left - piece.length));
    };
    write(size);
    expect(parse(await client.closed()).status).toBe(413);
  });

  it("takes one of 1 MiB", async () => {
    const { url, double } = await inFrontOf(OK);
    const body = "a".repeat(2 ** 20);
    const response = await fetch(`${url}/iam/v2beta1/groups`, { method: "POST", body });
    expect([response.status, double.received().length > body.length]).toEqual([200, true]);
  });

  it("refuses a longer one in chunks early", async () => {
    const { url } = await fastifyRig();
    const head =
      "POST /iam/v1/groups HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    const client = await sending(Number(new URL(url).port), head);
    const chunk = "a".repeat(64 * 1024);
    let received = "";
    client.socket.on("data", (data) => {
      received += String(data);
    });
    let sent = 0;
    for (; received === "" && sent < 100; sent++) {
      client.socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      await setTimeout(5);
    }
    client.leave();
    expect(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE/);
    expect(sent).toBeLessThan(100);
  });
});
