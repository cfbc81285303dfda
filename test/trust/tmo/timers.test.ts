import { createServer } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { createPool } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { ask, parse, talk } from "../../server/support/client.ts";
import { ok } from "../../server/support/double.ts";
import { LIMITS, later, listening, POOL, type Rig, rig, takeDownAfterAll } from "../../server/support/rig.ts";

takeDownAfterAll();

const silent = (): void => {};
const timeouts = { headersMs: 250, requestMs: 500, keepAliveMs: 5_000, checkMs: 50 };
/** Nothing of a request is left: it is not in flight, and no connection to the platform that carried one is still open. */
async function nothingLeft({ listener, double, ended }: Rig, requests = 1): Promise<void> {
  await ended(requests);
  expect(listener.inFlight()).toBe(0);
  await double.until(() => double.gone() >= new Set(double.requests.map(({ connection }) => connection)).size);
}

describe.concurrent("a client that takes too long (to send: slo/slow.test.ts)", () => {
  it("T-TMO-02: is not one that has sent all: its answer may take longer than that", async () => {
    const here = await rig({ timeouts, script: (_, socket) => setTimeout(() => socket.write(ok()), 900) });
    expect((await ask(here.port, "GET /x")).status).toBe(200);
  });
});

describe.concurrent("a platform that takes too long", () => {
  it("T-TMO-03, T-FLT-03: to accept a connection is 504, nothing was sent, and no socket is left", async () => {
    // TCP is accepted, TLS never answered: connecting is both.
    const sockets = new Set<object>();
    let tried = 0;
    const hole = createServer((socket) => {
      tried++;
      sockets.add(socket);
      socket.on("error", silent).on("close", () => sockets.delete(socket));
      socket.resume();
    });
    const url = `https://127.0.0.1:${await listening(hole)}`;
    const pool = createPool({ ...POOL, url, timeouts: { ...POOL.timeouts, connectMs: 250 } });
    later(pool.close);
    const { port, listener } = await rig({ upstreams: { v2: createStream(pool, createRetryBudget()) } });
    const both = [ask(port, "GET /x"), ask(port, "POST /x", "Content-Length: 2\r\n", "{}")];
    for (const answer of await Promise.all(both)) {
      expect(answer.status).toBe(504);
      expect(answer.json()).toMatchObject({ code: 4, details: [{ reason: "UPSTREAM_TIMEOUT", metadata: {} }] });
    }
    expect(tried).toBeGreaterThan(1);
    expect(listener.inFlight()).toBe(0);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });

  it.each([
    ["GET", "", "", {}],
    ["PATCH", "Content-Length: 2\r\n", "{}", { state: "unknown" }],
  ])("T-TMO-04: to begin its answer to a %s is 504, and the call is cut", async (method, fields, body, metadata) => {
    const here = await rig({ script: silent, pool: { timeouts: { ...POOL.timeouts, headersMs: 250 } } });
    const answer = await ask(here.port, `${method} /x`, fields, body);
    expect(answer.status).toBe(504);
    const message = "the platform did not answer in time";
    expect(answer.json()).toMatchObject({ code: 4, message, details: [{ reason: "UPSTREAM_TIMEOUT", metadata }] });
    expect((await here.ended(1)).cause).toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
    await nothingLeft(here);
    expect(here.double.requests).toHaveLength(1);
  });

  /** In chunks: test/server/faults.test.ts T-FLT-12. */
  it("T-TMO-05: to go on with an answer of a stated length cuts it off, and nobody can take it for whole", async () => {
    const here = await rig({
      script: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
      pool: { timeouts: { ...POOL.timeouts, bodyMs: 250 } },
    });
    const text = await talk(here.port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(text).toMatch(/half$/);
    const cause = { code: "UND_ERR_BODY_TIMEOUT" };
    expect(await here.ended(1)).toMatchObject({ status: 200, reason: "UPSTREAM_TIMEOUT", cause, aborted: false });
    await nothingLeft(here);
  });

  it.each([
    ["its head", "HTTP/1.1 200 OK\r\nX: ", true],
    ["its body", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", false],
  ])("T-TMO-06: in all, however often it sends a byte of %s, is cut off", async (_, bytes, clean) => {
    const here = await rig({
      limits: { ...LIMITS, requestSeconds: 0.4 },
      script: (_recorded, socket) => {
        socket.write(bytes);
        const timer = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(timer));
      },
    });
    const text = await talk(here.port, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    if (clean) expect(parse(text).json()).toMatchObject({ code: 4, message: "the request's time is over" });
    else expect(parse(text).body.length).toBeLessThan(100_000);
    expect(await here.ended(1)).toMatchObject({ reason: "UPSTREAM_TIMEOUT", cause: undefined, aborted: false });
    await nothingLeft(here);
  });
});

describe("T-TMO-06: a hundred requests", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const askAll = async (port: number): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(port, `GET /${i}`)));
    return answers.map(({ status }) => status);
  };

  it.each([
    ["cut off", 0.4, silent, 504],
    ["answered long before their time is over", 50, ok(), 200],
  ] as const)("%s leave no timer behind", async (_, requestSeconds, script, status) => {
    const here = await rig({ limits: { ...LIMITS, requestSeconds }, script });
    const before = timers();
    expect(await askAll(here.port)).toEqual(Array(100).fill(status));
    await here.ended(100);
    expect(here.listener.inFlight()).toBe(0);
    await vi.waitFor(() => expect(timers()).toBeLessThan(before + 10));
  });
});
