import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ApiRequest, HeaderList, Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import { createSend } from "../../src/upstream/client.ts";
import { createPool, type PoolOptions } from "../../src/upstream/pool.ts";
import { sendContract } from "../contract/send.contract.ts";
import { LOCALHOST } from "../server/support/certificates.ts";
import { createDouble, type Double, ok, type Script } from "../server/support/double.ts";
import { later, POOL, takeDownAfterEach } from "../server/support/rig.ts";

takeDownAfterEach();

sendContract("the upstream client", async () => {
  const double = await createDouble(({ line }, socket) => {
    if (line.includes("/found")) socket.write(ok('{"a":1.0}', "X-A: 1\r\nConnection: X-A\r\n"));
    else socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\n{"code":5}');
  });
  const pool = createPool({ url: double.url, ...POOL });
  return {
    send: createSend(pool, { maxResponseBytes: 1_000 }),
    found: { method: "GET", target: "/found", headers: [["authorization", "Bearer t"]] },
    refused: { request: { method: "GET", target: "/missing", headers: [] }, status: 404 },
    close: async () => {
      await pool.close();
      await double.close();
    },
  };
});

interface Subject {
  readonly double: Double;
  readonly send: Send;
  call(request?: Partial<ApiRequest>): ReturnType<Send>;
}

async function subject(
  script: Script,
  choices: Partial<PoolOptions> = {},
  maxResponseBytes = 10_000,
): Promise<Subject> {
  const double = await createDouble(script);
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL, ...choices });
  later(pool.close);
  const send = createSend(pool, { maxResponseBytes });
  const call = (request: Partial<ApiRequest> = {}) =>
    send({ method: "GET", target: "/x", headers: [], ...request }, { signal: new AbortController().signal });
  return { double, send, call };
}

function problemOf(call: Promise<unknown>): Promise<Problem> {
  return call.then(
    () => {
      throw new Error("it was answered");
    },
    (error) => {
      expect(error).toBeInstanceOf(Problem);
      return error;
    },
  );
}

describe("a call", () => {
  it("puts target, fields and body on the wire as they are, and asks for identity", async () => {
    const { double, call } = await subject(ok());
    const headers: HeaderList = [
      ["x-b", "1"],
      ["x-a", "\xe9"],
      ["x-b", "2"],
      ["accept-encoding", "br"],
      ["host", "evil.example"],
      ["connection", "x-b"],
      ["te", "trailers"],
      ["expect", "100-continue"],
      ["content-length", "99"],
    ];
    await call({ method: "PATCH", target: "/a%2Fb?c='|", headers, body: Buffer.from("--{}--").subarray(2, 4) });
    const { line, fields, body } = double.requests[0]!;
    expect(line).toBe("PATCH /a%2Fb?c='| HTTP/1.1");
    expect(body.toString()).toBe("{}");
    expect(fields).toEqual([
      ["host", `127.0.0.1:${double.port}`],
      ["connection", "keep-alive"],
      ["accept-encoding", "identity"],
      ["x-b", "1"],
      ["x-a", "\xe9"],
      ["x-b", "2"],
      ["content-length", "2"],
    ]);
  });

  it("goes below the base path of the upstream", async () => {
    const double = await createDouble(ok());
    later(double.close);
    const pool = createPool({ url: `${double.url}/base/`, ...POOL });
    later(pool.close);
    await createSend(pool, { maxResponseBytes: 10 })(
      { method: "GET", target: "/x", headers: [] },
      { signal: new AbortController().signal },
    );
    expect(double.requests[0]!.line).toBe("GET /base/x HTTP/1.1");
  });

  it("keeps the order of the answer's fields, and repeats", async () => {
    const { call } = await subject(
      "HTTP/1.1 200 OK\r\nX-B: 1\r\nA: 2\r\nx-b: 3\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n",
    );
    expect((await call()).headers).toEqual([
      ["x-b", "1"],
      ["a", "2"],
      ["x-b", "3"],
      ["content-length", "0"],
    ]);
  });

  it("does not follow a redirect, and hides the upstream's address in it", async () => {
    const { double, call } = await subject((_, socket) => {
      socket.write(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${double.port}/y?z\r\nContent-Length: 0\r\n\r\n`);
    });
    const answer = await call();
    expect([answer.status, answer.headers[0]]).toEqual([302, ["location", "/y?z"]]);
    expect(double.requests).toHaveLength(1);
  });

  it.each([
    ["304 with a length", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304],
    ["204", "DELETE", "HTTP/1.1 204 No Content\r\n\r\n", 204],
    ["HEAD with a length", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n", 200],
    ["200 without anything", "DELETE", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200],
  ])("T-FLT-11: answered %s has no body", async (_, method, script, status) => {
    const { call } = await subject(script);
    const answer = await call({ method });
    expect([answer.status, answer.body.length]).toEqual([status, 0]);
  });

  it("T-FLT-11: answered in chunks, or until the end of the connection, is whole", async () => {
    const chunks = await subject(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX: 1\r\n\r\n",
    );
    expect(Buffer.from((await chunks.call()).body).toString()).toBe("abc");
    const closing = await subject((_, socket) => socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"));
    expect(Buffer.from((await closing.call()).body).toString()).toBe("abc");
  });
});

describe("a compressed answer", () => {
  const INVALID = "the platform sent an answer that is not valid HTTP";
  const body = JSON.stringify({ items: "ab".repeat(2_000) });
  const answer = (encoding: string, bytes: Buffer) => (_: unknown, socket: { write(bytes: Buffer): void }) =>
    socket.write(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}\r\n\r\n`),
        bytes,
      ]),
    );

  it.each([
    ["gzip", gzipSync(body)],
    ["X-GZIP", gzipSync(body)],
    ["deflate", deflateSync(body)],
    ["br", brotliCompressSync(body)],
    ["identity", Buffer.from(body)],
  ])("in %s is read", async (encoding, bytes) => {
    const { call } = await subject(answer(encoding, bytes));
    const { headers, body: got } = await call();
    expect(Buffer.from(got).toString()).toBe(body);
    if (encoding !== "identity") expect(headers).toEqual([]);
  });

  it.each<[string, string, Buffer, number, string?]>([
    ["in an unknown encoding", "compress", Buffer.from(body), 1_000_000],
    ["in two encodings", "gzip, gzip", gzipSync(gzipSync(body)), 1_000_000],
    ["that is none", "gzip", Buffer.from(body), 1_000_000],
    ["that was cut", "gzip", gzipSync(body).subarray(0, 20), 1_000_000],
    ["longer than the limit", "gzip", gzipSync(body), 3_000, "the platform's response is longer than 3000 bytes"],
    ["that is a bomb", "gzip", gzipSync(Buffer.alloc(20_000_000)), 100_000_000],
  ])("T-FLT-15: %s is UPSTREAM_INVALID", async (_, encoding, bytes, limit, message = INVALID) => {
    const { call } = await subject(answer(encoding, bytes), {}, limit);
    const problem = await problemOf(call());
    expect([problem.reason, problem.message, problem.metadata]).toEqual(["UPSTREAM_INVALID", message, {}]);
  });
});

describe("a body over the limit", () => {
  it.each([
    ["that says its length", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"],
    ["in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n"],
  ])("%s is UPSTREAM_INVALID without waiting for its end", async (_, script) => {
    const { call, double } = await subject(script, {}, 10);
    expect(await problemOf(call())).toMatchObject({
      reason: "UPSTREAM_INVALID",
      message: "the platform's response is longer than 10 bytes",
    });
    await double.until(() => double.gone() === 1);
  });

  it("says its size in MiB, and of a write that its state is unknown", async () => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 23 + 1}\r\n\r\n`;
    const { call } = await subject(head, {}, 2 ** 23);
    expect(await problemOf(call({ method: "PATCH", body: Buffer.from("{}") }))).toMatchObject({
      message: "the platform's response is longer than 8 MiB",
      metadata: { state: "unknown" },
    });
  });
});

describe("a call without an answer", () => {
  it.each([
    ["refused", undefined, "UPSTREAM_UNREACHABLE", 502],
    ["reset", (_: unknown, socket: { destroy(): void }) => socket.destroy(), "UPSTREAM_UNREACHABLE", 502],
    [
      "cut in the middle",
      (_: unknown, socket: { end(bytes: string): void }) =>
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
      "UPSTREAM_UNREACHABLE",
      502,
    ],
    [
      "cut in a chunk",
      (_: unknown, socket: { end(bytes: string): void }) =>
        socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"),
      "UPSTREAM_UNREACHABLE",
      502,
    ],
    ["junk", "HELLO\r\n\r\n", "UPSTREAM_INVALID", 502],
    ["a status out of range", "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "UPSTREAM_INVALID", 502],
    ["silence", () => {}, "UPSTREAM_TIMEOUT", 504],
    ["half a response", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "UPSTREAM_TIMEOUT", 504],
  ] as [string, Script | undefined, string, number][])(
    "(%s) is a Problem that tells no address",
    async (_, script, reason, http) => {
      const { call, double } = await subject(script ?? "", {
        timeouts: reason === "UPSTREAM_TIMEOUT" ? { connectMs: 5_000, headersMs: 30, bodyMs: 30 } : POOL.timeouts,
      });
      if (script === undefined) await double.close();
      const methods = ["GET", "PATCH"];
      const problems = methods.map((method) => problemOf(call({ method, body: Buffer.from("{}") })));
      for (const [index, method] of methods.entries()) {
        const problem = (await problems[index])!;
        expect([problem.reason, problem.http]).toEqual([reason, http]);
        expect(problem.message).not.toMatch(/127|local|ECONN|UND_/);
        expect(problem.cause).toBeInstanceOf(Error);
        const unknown = method === "PATCH" && script !== undefined;
        expect(problem.metadata).toEqual(unknown ? { state: "unknown" } : {});
      }
    },
  );

  it("does not keep what it could not read for the log", async () => {
    const { call } = await subject("HTTP/1.1 200 OK\r\nX: \x01 Bearer SECRET\r\n\r\n");
    const { cause } = await problemOf(call());
    expect(
      Object.entries(cause as object)
        .flat()
        .join(),
    ).not.toContain("SECRET");
    expect(String((cause as Error).stack)).not.toContain("SECRET");
  });

  it("to a name that does not exist, or over TLS that cannot be trusted, never left", async () => {
    const double = await createDouble(ok(), LOCALHOST);
    later(double.close);
    for (const url of ["http://nowhere.invalid", double.url]) {
      const pool = createPool({ url, ...POOL });
      later(pool.close);
      const send = createSend(pool, { maxResponseBytes: 10 });
      const request = {
        method: "POST",
        target: "/x",
        headers: [["authorization", "Bearer SECRET"]] as HeaderList,
        body: Buffer.from("{}"),
      };
      const problem = await problemOf(send(request, { signal: new AbortController().signal }));
      expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_UNREACHABLE", {}]);
    }
    expect(double.received()).toBe("");
  });

  it("because our own code made no request of it is INTERNAL", async () => {
    const { call, double } = await subject(ok());
    expect((await problemOf(call({ target: "/a b" }))).reason).toBe("INTERNAL");
    expect((await problemOf(call({ headers: [["x", "a\r\nb: c"]] }))).reason).toBe("INTERNAL");
    expect(double.received()).toBe("");
  });
});

describe("a caller who gives up", () => {
  it("while the upstream is silent cuts the connection", async () => {
    const { send, double } = await subject(() => {});
    const controller = new AbortController();
    const call = send({ method: "GET", target: "/x", headers: [] }, { signal: controller.signal });
    await double.until(() => double.requests.length === 1);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await double.until(() => double.gone() === 1);
  });

  it("while waiting for a connection is never sent, and holds up nobody", async () => {
    const waiting: (() => void)[] = [];
    const { send, double } = await subject((_, socket) => waiting.push(() => socket.write(ok())), { connections: 1 });
    const options = { signal: new AbortController().signal };
    const first = send({ method: "GET", target: "/first", headers: [] }, options);
    await double.until(() => double.requests.length === 1);
    const controller = new AbortController();
    const second = send({ method: "GET", target: "/second", headers: [] }, { signal: controller.signal });
    const third = send({ method: "GET", target: "/third", headers: [] }, options);
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    waiting.shift()?.();
    expect((await first).status).toBe(200);
    await double.until(() => double.requests.length === 2);
    waiting.shift()?.();
    expect((await third).status).toBe(200);
    expect(double.requests.map(({ line }) => line)).toEqual(["GET /first HTTP/1.1", "GET /third HTTP/1.1"]);
  });
});
