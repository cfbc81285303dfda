import { describe, expect, it } from "vitest";
import type { Problem } from "../../src/model/problem.ts";
import type { Breaker } from "../../src/upstream/breaker.ts";
import { createSend } from "../../src/upstream/client.ts";
import { createPool } from "../../src/upstream/pool.ts";
import { createRetryBudget } from "../../src/upstream/retry.ts";
import { createStream } from "../../src/upstream/stream.ts";
import { createDouble, ok, type Script } from "../server/support/double.ts";
import { later, POOL, takeDownAfterEach } from "../server/support/rig.ts";

takeDownAfterEach();

const TARGET = "/iam/v2beta1/groups/a/b?x=/y";

/** What the circuit breaker records about one call, sent and streamed. */
async function told(
  script: Script | undefined,
  method = "GET",
  timeouts = POOL.timeouts,
): Promise<{ sent: string[]; streamed: string[] }> {
  const double = await createDouble(script ?? "");
  later(double.close);
  if (script === undefined) await double.close();
  const of = async (call: (pool: ReturnType<typeof createPool>) => Promise<void>): Promise<string[]> => {
    const said: string[] = [];
    const breaker: Breaker = {
      begin: () => 7,
      answered: () => void said.push("answered"),
      failed: (beganAt) => void said.push(`failed ${beganAt}`),
      isOpen: () => false,
      close: () => {},
    };
    const pool = createPool({
      url: double.url,
      connections: 4,
      timeouts,
      breaker: () => breaker,
    });
    later(pool.close);
    await call(pool);
    return said;
  };
  const [sent, streamed] = await Promise.all([
    of(async (pool) => {
      const send = createSend(pool, { maxResponseBytes: 1_000 });
      const { signal } = new AbortController();
      await send({ method, target: TARGET, headers: [] }, { signal }).then(
        () => {},
        () => {},
      );
    }),
    of(
      (pool) =>
        new Promise((resolve) => {
          // Without a budget there are no repeats, which would tell again.
          createStream(pool, createRetryBudget({ share: 0, floor: 0 }))(
            { method, target: TARGET, headers: [], body: undefined },
            { head: () => {}, data: () => true, end: resolve, fail: () => resolve() },
          );
        }),
    ),
  ]);
  return { sent, streamed };
}

const answer = (status: number, type: string) =>
  `HTTP/1.1 ${status} X\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}Content-Length: 2\r\n\r\n{}`;
const both = (...said: string[]) => ({ sent: said, streamed: said });

describe("an upstream is there", () => {
  it.each([
    ["200", ok()],
    ["401", answer(401, "application/json")],
    ["429, which only paces", answer(429, "text/plain")],
    ["500, whatever form it has", answer(500, "text/html")],
    ["501", answer(501, "")],
    ["503 as a page: what stands in front is there, and its answer costs nobody time", answer(503, "text/html")],
    ["504 of no type", answer(504, "")],
    [
      "200 that breaks off",
      (_: unknown, socket: { end(bytes: string): void }) =>
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
    ],
  ] as [string, Script][])("when it answers %s", async (_, script) => {
    expect(await told(script)).toEqual(both("answered"));
  });
});

describe("an upstream may be away", () => {
  it.each([
    ["with its connection's end", (_: unknown, socket: { destroy(): void }) => socket.destroy(), POOL.timeouts],
    ["with nothing in time", () => {}, { connectMs: 5_000, headersMs: 30, bodyMs: 30 }],
  ] as [string, Script, typeof POOL.timeouts][])("when it answers %s", async (_, script, timeouts) => {
    expect(await told(script, "GET", timeouts)).toEqual(both("failed 7"));
  });

  it("when no connection comes about", async () => {
    for (const method of ["GET", "DELETE"]) expect(await told(undefined, method)).toEqual(both("failed 7"));
  });
});

describe("nothing is said of an upstream", () => {
  it("that does not speak HTTP", async () => {
    expect(await told("HELLO\r\n\r\n")).toEqual(both());
  });

  it("by a caller who gives up", async () => {
    const double = await createDouble(() => {});
    later(double.close);
    const said: (Problem | string)[] = [];
    const breaker: Breaker = {
      begin: () => 1,
      answered: () => void said.push("answered"),
      failed: () => void said.push("failed"),
      isOpen: () => false,
      close: () => {},
    };
    const pool = createPool({ url: double.url, ...POOL, breaker: () => breaker });
    later(pool.close);
    const controller = new AbortController();
    const request = { method: "GET", target: TARGET, headers: [] };
    const sent = createSend(pool, { maxResponseBytes: 10 })(request, { signal: controller.signal });
    const streamed = createStream(pool, createRetryBudget())(
      { ...request, body: undefined },
      { head: () => {}, data: () => true, end: () => {}, fail: (problem) => void said.push(problem) },
    );
    await double.until(() => double.requests.length === 2);
    controller.abort(new Error("enough"));
    streamed.cancel();
    await expect(sent).rejects.toThrow("enough");
    await double.until(() => double.gone() === 2);
    expect(said).toEqual([]);
  });
});
