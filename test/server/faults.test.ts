import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createPool } from "../../src/upstream/pool.ts";
import { createRetryBudget } from "../../src/upstream/retry.ts";
import { createStream } from "../../src/upstream/stream.ts";
import { LOCALHOST } from "./support/certificates.ts";
import { ask, dial, parse, request, sending, talk } from "./support/client.ts";
import { createDouble, ok } from "./support/double.ts";
import { LIMITS, later, listening, POOL, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

/** So many bytes of a body take a connection to the upstream. */
const BEGUN = 64 * 1024;
/** So that the call for such a body begins before all of it is here. */
const BEGINNING = { ...LIMITS, heldBytes: BEGUN };

const silent = () => {};

describe("an upstream that is down", () => {
  it("T-FLT-01: is 502 for everyone at a time, without its address", async () => {
    const { port, double, seen } = await rig({ limits: { ...LIMITS, inFlight: 200 } });
    await double.close();
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(port, "GET /x")));
    for (const answer of answers) {
      expect(answer.status).toBe(502);
      expect(answer.json()).toMatchObject({ code: 14, details: [{ reason: "UPSTREAM_UNREACHABLE", metadata: {} }] });
      expect(answer.body).not.toMatch(/127\.0\.0\.1|ECONN|localhost/);
    }
    expect(seen.map(({ reason }) => reason)).toEqual(Array(200).fill("UPSTREAM_UNREACHABLE"));
    expect(seen[0]!.cause).toBeInstanceOf(Error);
  });
});

describe("T-FLT-17: an upstream with a certificate that does not hold", () => {
  it("is served when the operator trusts it", async () => {
    const double = await createDouble(ok('{"a":1}'), LOCALHOST);
    later(double.close);
    const pool = createPool({ url: double.url, ...POOL, tls: { caFile: Buffer.from(LOCALHOST.cert) } });
    later(pool.close);
    const { port } = await rig({ upstreams: { v2: createStream(pool, createRetryBudget()) } });
    expect((await ask(port, "GET /x")).body).toBe('{"a":1}');
  });
});

describe("an upstream that is slow", () => {
  it("T-FLT-02, T-TMO-04: to begin is 504, and its connection goes", async () => {
    const { port, double } = await rig({ script: silent, pool: { timeouts: { ...POOL.timeouts, headersMs: 300 } } });
    const answer = await ask(port, "PATCH /x", "Content-Length: 2\r\n", "{}");
    expect(answer.status).toBe(504);
    expect(answer.json()).toMatchObject({
      code: 4,
      message: "the platform did not answer in time",
      details: [{ reason: "UPSTREAM_TIMEOUT", metadata: { state: "unknown" } }],
    });
    await double.until(() => double.gone() === 1);
  });

  it("T-FLT-12, T-TMO-05: in the middle of its answer cuts the answer off, and its connection goes", async () => {
    const { port, ended, double } = await rig({
      script: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
      pool: { timeouts: { ...POOL.timeouts, bodyMs: 300 } },
    });
    const text = await talk(port, request("GET /x"));
    expect(text).toContain("half");
    expect(text).not.toContain("\r\n0\r\n");
    const cause = { code: "UND_ERR_BODY_TIMEOUT" };
    expect(await ended(1)).toMatchObject({ status: 200, reason: "UPSTREAM_TIMEOUT", cause, aborted: false });
    await double.until(() => double.gone() === 1);
  });

  it("T-FLT-13, T-TMO-06: in the middle of its answer, though never silent, is cut off when the request's life is over", async () => {
    const { port, double, ended } = await rig({
      limits: { ...LIMITS, requestSeconds: 0.3 },
      script: (_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        const timer = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(timer));
      },
    });
    const text = await talk(port, request("GET /x"));
    expect(text).toContain("\r\n\r\nx");
    expect(text.length).toBeLessThan(10_000);
    expect(await ended(1)).toMatchObject({ status: 200, reason: "UPSTREAM_TIMEOUT" });
    await double.until(() => double.gone() === 1);
  });

  it("T-FLT-13, T-TMO-06: beyond the life of a request is 504, however often it sends a byte", async () => {
    const { port, double } = await rig({
      limits: { ...LIMITS, requestSeconds: 0.3 },
      script: (_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nX: ");
        const timer = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(timer));
      },
    });
    const answer = await ask(port, "GET /x");
    expect(answer.status).toBe(504);
    await double.until(() => double.gone() === 1);
  });

  it("beyond the client's own deadline is 504", async () => {
    const { port, double } = await rig({ script: silent });
    const answer = await ask(port, "GET /x", "Grpc-Timeout: 200m\r\n");
    expect(answer.json()).toMatchObject({ code: 4, details: [{ reason: "UPSTREAM_TIMEOUT" }] });
    await double.until(() => double.gone() === 1);
  });
});

describe("an upstream that breaks off", () => {
  it.each([
    ["a stated length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "HTTP/1.1"],
    ["chunks, for HTTP/1.0", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "HTTP/1.0"],
  ])("T-FLT-09: within %s never makes a whole answer", async (_, bytes, version) => {
    const { port, ended } = await rig({
      script: (_request, socket) => {
        socket.write(bytes);
        setTimeout(() => socket.end(), 30);
      },
    });
    const client = await dial(port);
    let reset = false;
    client.socket.on("error", () => {
      reset = true;
    });
    client.send(`GET /x ${version}\r\nHost: a\r\n\r\n`);
    const text = await client.closed();
    expect(text).not.toContain("\r\n0\r\n");
    expect(text.endsWith("half") || text.endsWith("half\r\n")).toBe(true);
    if (version === "HTTP/1.0") expect(reset).toBe(true);
    expect((await ended(1)).reason).toMatch(/UPSTREAM_(UNREACHABLE|INVALID)/);
  });

  it("T-FLT-04: before a byte came back is asked once more by a GET, never by a write", async () => {
    const { port, double } = await rig({ script: (_, socket) => socket.destroy() });
    expect((await ask(port, "GET /x")).status).toBe(502);
    expect(double.requests).toHaveLength(2);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const before = double.requests.length;
      const answer = await ask(port, `${method} /x`, "Content-Length: 2\r\n", "{}");
      expect(answer.json()).toMatchObject({
        details: [{ reason: "UPSTREAM_UNREACHABLE", metadata: { state: "unknown" } }],
      });
      expect(double.requests).toHaveLength(before + 1);
    }
  });

  it("T-FLT-05: on a connection kept alive is not noticed by a GET", async () => {
    const { port, double } = await rig({
      script: (_, socket, index) => {
        if (index === 1) socket.destroy();
        else socket.write(ok());
      },
    });
    expect((await ask(port, "GET /a")).status).toBe(200);
    expect((await ask(port, "GET /b")).status).toBe(200);
    expect(double.requests).toHaveLength(3);
  });
});

describe("an upstream that says 503", () => {
  it("T-FLT-07: is asked once, and its answer with Retry-After goes to the client", async () => {
    const { port, double } = await rig({
      script: "HTTP/1.1 503 No\r\nRetry-After: 5\r\nContent-Length: 4\r\n\r\nbusy",
    });
    const answer = await ask(port, "GET /x");
    expect([answer.status, answer.field("retry-after"), answer.body]).toEqual([503, "5", "busy"]);
    expect(double.requests).toHaveLength(1);
  });
});

describe("an upstream that does not speak HTTP", () => {
  it.each([
    ["junk", "\x00\x01\x02 nothing\r\n\r\n"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
    ["a status out of range", "HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\nok"],
    ["an upgrade nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
    ["a head that is too long", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}\r\nContent-Length: 2\r\n\r\nok`],
    ["a control byte in a field", "HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 2\r\n\r\nok"],
    ["a field without a name", "HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 2\r\n\r\nok"],
  ])("T-FLT-10: but %s is 502", async (_, script) => {
    const { port } = await rig({ script });
    const answer = await ask(port, "GET /x");
    expect(answer.status).toBe(502);
    expect(answer.json().details[0]).toMatchObject({ reason: "UPSTREAM_INVALID" });
  });

  it("T-FLT-14: and answers twice cannot reach the next client", async () => {
    const poison = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nPOISONED";
    const { port } = await rig({
      pool: { connections: 1 },
      script: ({ line }, socket) => {
        socket.write(ok(line));
        if (line.includes("same")) socket.write(poison);
        if (line.includes("later")) setTimeout(() => socket.write(poison), 20);
      },
    });
    for (const path of ["/same", "/a", "/later", "/b", "/c"]) {
      const answer = await ask(port, `GET ${path}`);
      expect(answer.body === `GET ${path} HTTP/1.1` || answer.status === 502).toBe(true);
      expect(answer.body).not.toContain("POISON");
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
});

describe("T-SMG-26: an answer that comes before the request has been sent", () => {
  it("arrives, and neither connection is used again", async () => {
    let connections = 0;
    const early = createServer((socket) => {
      connections++;
      socket.on("error", () => {});
      socket.once("data", () => socket.write("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\n\r\nbig"));
    });
    const { port } = await rig({ limits: BEGINNING, pool: { url: `http://127.0.0.1:${await listening(early)}` } });
    const client = await sending(
      port,
      `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${"b".repeat(100_000)}`,
    );
    await client.until((text) => text.includes("big"));
    client.send("b".repeat(100_000));
    const answer = parse(await client.closed());
    expect([answer.status, answer.body, answer.field("connection")]).toEqual([413, "big", "close"]);
    await ask(port, "POST /x", "Content-Length: 2\r\n", "{}");
    expect(connections).toBe(2);
  });
});

describe("a body that turns out to be malformed midway", () => {
  it("is 400, and the upstream never sees a whole request", async () => {
    const { port, double, ended } = await rig({ limits: BEGINNING, script: silent });
    const client = await sending(port, "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(`${BEGUN.toString(16)}\r\n${"b".repeat(BEGUN)}\r\n4\r\nhalf\r\n`);
    await double.until(() => double.received().includes("half"));
    client.send("zz\r\n");
    expect(parse(await client.closed()).json()).toMatchObject({ details: [{ reason: "INVALID_REQUEST" }] });
    await double.until(() => double.gone() === 1);
    expect(double.requests).toHaveLength(0);
    expect(await ended(1)).toMatchObject({ status: 400, aborted: false });
  });
});

describe("a client that leaves", () => {
  it("before the answer began stops the call to the upstream", async () => {
    const { port, double, listener, ended } = await rig({ script: silent });
    const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await double.until(() => double.requests.length === 1);
    client.leave();
    await double.until(() => double.gone() === 1);
    expect(await ended(1)).toMatchObject({ aborted: true, status: 499 });
    expect(listener.inFlight()).toBe(0);
  });

  it("in the middle of its own body is no request to the upstream's next", async () => {
    const { port, double, ended } = await rig({ limits: BEGINNING, script: silent });
    const client = await sending(
      port,
      `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * BEGUN}\r\n\r\n${"b".repeat(BEGUN)}half`,
    );
    await double.until(() => double.received().includes("half"));
    client.leave();
    await double.until(() => double.gone() === 1);
    expect((await ended(1)).aborted).toBe(true);
    expect(double.requests).toHaveLength(0);
  });

  it("in the middle of its own body, while the call waits for a connection, harms nobody", async () => {
    let answerFirst = () => {};
    const { port, double, listener, ended } = await rig({
      limits: BEGINNING,
      pool: { connections: 1 },
      script: (recorded, socket) => {
        const answer = () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        if (recorded.line.includes("/first")) answerFirst = answer;
        else answer();
      },
    });
    const first = ask(port, "GET /first");
    await double.until(() => double.requests.length === 1);
    const client = await sending(
      port,
      `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * BEGUN}\r\n\r\n${"b".repeat(BEGUN)}half`,
    );
    while (listener.inFlight() < 2) await new Promise((resolve) => setImmediate(resolve));
    client.leave();
    expect((await ended(1)).aborted).toBe(true);
    answerFirst();
    expect((await first).status).toBe(200);
    expect((await ask(port, "GET /next")).status).toBe(200);
    expect(double.received()).not.toContain("half");
  });

  it("does not hold back what waits behind it in its own line", async () => {
    const { port, listener, double, ended } = await rig({ script: silent });
    const client = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    await double.until(() => double.requests.length === 2);
    client.leave();
    await ended(2);
    await double.until(() => double.gone() === 2);
    expect(listener.inFlight()).toBe(0);
  });

  it("without reading does not make the listener read on", async () => {
    let sent = 0;
    const { port, double } = await rig({
      script: (_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n");
        const chunk = Buffer.alloc(64 * 1024);
        const pump = () => {
          while (!socket.destroyed && sent < 200_000_000) {
            sent += chunk.length;
            if (!socket.write(chunk)) break;
          }
        };
        socket.on("drain", pump);
        pump();
      },
    });
    const client = await dial(port);
    client.socket.pause();
    client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    expect(sent).toBeLessThan(50_000_000);
    client.leave();
    await double.until(() => double.gone() === 1);
  });
});
