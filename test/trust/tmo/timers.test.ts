import { createServer } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { createPool } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { ask } from "../../server/support/client.ts";
import { ok } from "../../server/support/double.ts";
import { LIMITS, later, listening, POOL, rig, takeDownAfterAll } from "../../server/support/rig.ts";

takeDownAfterAll();

const silent = (): void => {};
const timeouts = { headersMs: 250, requestMs: 500, keepAliveMs: 5_000, checkMs: 50 };

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
