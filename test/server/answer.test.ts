import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ApiResponse, HeaderList } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Decide } from "../../src/model/request.ts";
import { ask, dial, parse, request, sending, talk } from "./support/client.ts";
import { LIMITS, pass, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const JSON_TYPE: HeaderList = [["content-type", "application/json"]];

function answering(respond: (body: Uint8Array, signal: AbortSignal) => Promise<ApiResponse>): Decide {
  return () => ({ kind: "answer", respond });
}

function fixed(body: string, headers: HeaderList = JSON_TYPE, status = 200): Decide {
  return answering(async () => ({ status, headers, body: Buffer.from(body) }));
}

/** Resolves when the signal that a plan was given aborts; gives its reason. */
function waiting(): { decide: Decide; begun: Promise<void>; stopped: Promise<unknown> } {
  let began = () => {};
  let stop: (reason: unknown) => void = () => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const stopped = new Promise<unknown>((resolve) => {
    stop = resolve;
  });
  const decide = answering((_, signal) => {
    began();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        stop(signal.reason);
        reject(signal.reason);
      });
    });
  });
  return { decide, begun, stopped };
}

describe("an answer of carryover's own", () => {
  it("DIFF-75: goes out as it was made, with its length, and is for one credential only", async () => {
    const headers: HeaderList = [
      ...JSON_TYPE,
      ["x-a", "1"],
      ["x-a", "2"],
      ["content-length", "99"],
      ["connection", "x"],
    ];
    const { port, ended } = await rig({ decide: fixed('{"a":1.0}', headers, 201) });
    const answer = await ask(port, "GET /x", "X-Request-Id: mine\r\n");
    expect(answer.status).toBe(201);
    expect(answer.body).toBe('{"a":1.0}');
    expect(answer.fields.filter(([name]) => name !== "Date")).toEqual([
      ["content-type", "application/json"],
      ["x-a", "1"],
      ["x-a", "2"],
      ["cache-control", "private, no-store"],
      ["vary", "Authorization"],
      ["x-request-id", "mine"],
      ["content-length", "9"],
      ["Connection", "close"],
    ]);
    expect(await ended(1)).toMatchObject({
      requestId: "mine",
      status: 201,
      responseBytes: 9,
      aborted: false,
      reason: undefined,
    });
  });

  it.each([
    ["public, max-age=60", "private, no-store"],
    ["no-store", "no-store"],
    ["private, no-store, no-transform", "private, no-store, no-transform"],
  ])("DIFF-75: whose upstream said %s says %s", async (given, sent) => {
    const { port } = await rig({ decide: fixed("{}", [...JSON_TYPE, ["cache-control", given]]) });
    const answer = await ask(port, "GET /x");
    expect(answer.fields.filter(([name]) => name === "cache-control")).toEqual([["cache-control", sent]]);
  });

  it.each([
    ["Origin", ["Origin", "Authorization"]],
    ["*", ["*"]],
    ["Origin, authorization", ["Origin, authorization"]],
  ])("that varies with %s keeps that, and varies with its credential", async (given, vary) => {
    const { port } = await rig({ decide: fixed("{}", [["vary", given]]) });
    const { fields } = await ask(port, "GET /x");
    expect(fields.filter(([name]) => name === "vary").map(([, value]) => value)).toEqual(vary);
  });

  it("to HEAD and with 204 has no body", async () => {
    const { port } = await rig({
      decide: ({ target }) => fixed("{}", JSON_TYPE, target === "/none" ? 204 : 200)({} as never),
    });
    const head = await ask(port, "HEAD /x");
    expect([head.body, head.field("content-length")]).toEqual(["", "2"]);
    const none = await ask(port, "GET /none");
    expect([none.status, none.body, none.field("content-length")]).toEqual([204, "", undefined]);
  });
});

describe("DIFF-78: compression", () => {
  const long = JSON.stringify({ items: "ab".repeat(5_000) });

  it.each([
    ["gzip, deflate", "gzip"],
    ["gzip, br", "br"],
  ])("is %s when the client asks for %s", async (asked, got) => {
    const { port, ended } = await rig({ decide: fixed(long) });
    const text = await talk(port, request("GET /x", `Accept-Encoding: ${asked}\r\n`));
    const answer = parse(text);
    expect(answer.field("content-encoding")).toBe(got);
    const bytes = Buffer.from(answer.body, "latin1");
    expect(answer.field("content-length")).toBe(String(bytes.length));
    expect((got === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString()).toBe(long);
    expect(answer.fields.filter(([name]) => name === "vary").map(([, value]) => value)).toContain("Accept-Encoding");
    expect((await ended(1)).notes).toEqual([got]);
  });
});

describe("the body of a request", () => {
  const echo = answering(async (body) => ({ status: 200, headers: [], body }));

  it.each([
    ["with a length", "Content-Length: 5\r\n", "hello", "hello"],
    ["in chunks", "Transfer-Encoding: chunked\r\n", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"],
    ["that is absent", "", "", ""],
    ["of no length", "Content-Length: 0\r\n", "", ""],
  ])("%s is handed over whole", async (_, fields, sent, got) => {
    const { port, ended } = await rig({ decide: echo });
    expect((await ask(port, "POST /x", fields, sent)).body).toBe(got);
    expect((await ended(1)).requestBytes).toBe(got.length);
  });

  it("DIFF-66: over the limit is 413 at once when it says its length, and as soon as it is too long otherwise", async () => {
    const { port, listener } = await rig({ decide: echo, limits: { ...LIMITS, bodyBytes: 10 } });
    const stated = await sending(
      port,
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n",
    );
    const refused = parse(await stated.closed());
    expect(refused.line).toContain("413");
    expect(refused.json()).toMatchObject({
      code: 3,
      details: [{ reason: "BODY_TOO_LARGE", metadata: { limit: "10" } }],
    });
    const chunked = await sending(
      port,
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n",
    );
    expect(parse(await chunked.closed()).status).toBe(413);
    expect(listener.inFlight()).toBe(0);
  });

  it("that is refused may still be sent to its end: the answer is not lost in a reset", async () => {
    const { port } = await rig({ decide: echo, limits: { ...LIMITS, bodyBytes: 10 } });
    const client = await dial(port);
    const errors: unknown[] = [];
    client.socket.on("error", (error) => errors.push(error));
    client.send(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n${"b".repeat(100)}`);
    await client.until((text) => text.includes("}]}"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.socket.writable).toBe(true);
    client.send("b".repeat(100));
    expect(parse(await client.closed()).status).toBe(413);
    expect(errors).toEqual([]);
  });
});

describe("what goes wrong", () => {
  it.each([
    [
      new Problem("INVALID_FILTER", "no such filter: x", { fieldViolations: [{ field: "x", description: "unknown" }] }),
      400,
    ],
    [new Problem("OVERLOADED", "later", { retryAfter: 1.2 }), 503],
    [new Problem("UNAUTHENTICATED", "who?"), 401],
    [new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed"), 501],
  ])("as %s is that status, whether it is decided or found out", async (problem, status) => {
    for (const decide of [
      () => {
        throw problem;
      },
      answering(() => Promise.reject(problem)),
    ] satisfies Decide[]) {
      const { port, seen, ended } = await rig({ decide });
      const answer = await ask(port, "GET /x");
      expect(answer.status).toBe(status);
      expect(answer.json()).toMatchObject({ code: problem.code, message: problem.message });
      expect(answer.field("retry-after")).toBe(status === 503 ? "2" : undefined);
      expect(answer.field("www-authenticate")).toBe(status === 401 ? "Bearer" : undefined);
      expect((await ended(1)).reason).toBe(problem.reason);
      expect(seen).toHaveLength(1);
    }
  });

  it("by surprise is 500 with a fixed text, its cause for the log only", async () => {
    const { port, ended } = await rig({ decide: answering(() => Promise.reject(new TypeError("secret at 10.0.0.1"))) });
    const answer = await ask(port, "GET /x");
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret");
    expect((await ended(1)).cause).toBeInstanceOf(TypeError);
  });

  it("in an observer harms nobody", async () => {
    const told: unknown[] = [];
    const { port } = await rig({
      observe: () => {
        throw new Error("observer");
      },
      log: (message, cause) => told.push([message, String(cause)]),
    });
    expect((await ask(port, "GET /x")).status).toBe(200);
    expect((await ask(port, "GET /x")).status).toBe(200);
    expect(told[0]).toEqual(["an observer failed", "Error: observer"]);
  });
});

describe("the signal of an answer", () => {
  it("aborts when the client leaves", async () => {
    const { decide, begun, stopped } = waiting();
    const { port, ended } = await rig({ decide });
    const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await begun;
    client.leave();
    expect(String(await stopped)).toContain("the client left");
    expect(await ended(1)).toMatchObject({ aborted: true, status: 499, reason: undefined });
  });

  it.each([
    ["requestSeconds", "", 0.2],
    ["the client's Grpc-Timeout", "Grpc-Timeout: 200000u\r\n", 10],
  ])("aborts when %s is over, and the client gets 504", async (_, fields, requestSeconds) => {
    const { decide, stopped } = waiting();
    const { port } = await rig({ decide, limits: { ...LIMITS, requestSeconds } });
    const answer = await ask(port, "GET /x", fields);
    expect(answer.status).toBe(504);
    expect(answer.json()).toMatchObject({ code: 4, details: [{ reason: "UPSTREAM_TIMEOUT", metadata: {} }] });
    expect(await stopped).toBeInstanceOf(Problem);
  });

  it("that was over in the middle of a write leaves its state unknown", async () => {
    const { decide } = waiting();
    const { port } = await rig({ decide, limits: { ...LIMITS, requestSeconds: 0.1 } });
    const answer = await ask(port, "PUT /x", "Content-Length: 2\r\n", "{}");
    expect(answer.json().details[0]).toMatchObject({ metadata: { state: "unknown" } });
  });
});

describe("what a plan is decided from", () => {
  it("is the raw target, and the fields as they would go on", async () => {
    const heads: unknown[] = [];
    const { port } = await rig({
      basePath: "/front",
      decide: (request) => {
        heads.push([
          request.method,
          request.target,
          request.headers.find(([name]) => name === "x-b"),
          request.exchange.path,
        ]);
        expect(request.headers.map(([name]) => name)).not.toContain("te");
        return pass(request.target);
      },
    });
    await ask(port, "DELETE /front/a%2Fb?c='", "X-B: 1\r\nTE: trailers\r\n");
    expect(heads).toEqual([["DELETE", "/a%2Fb?c='", ["x-b", "1", "X-B"], "/front/a%2Fb"]]);
  });
});
