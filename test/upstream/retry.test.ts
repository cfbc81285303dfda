import { describe, expect, it } from "vitest";
import { type ApiResponse, type HeaderList, retryAfter, type Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import { failure } from "../../src/upstream/failure.ts";
import { createRetry, createRetryBudget } from "../../src/upstream/retry.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const live = { signal: new AbortController().signal };

function answer(status: number, headers: HeaderList = []): ApiResponse {
  return { status, headers, body: new Uint8Array(0) };
}

const refused = (method: string) =>
  failure(Object.assign(new Error("x"), { code: "ECONNREFUSED" }), { method, sent: false });
const reset = (method: string) =>
  failure(Object.assign(new Error("x"), { code: "ECONNRESET" }), { method, sent: true });
const slow = (method: string) =>
  failure(Object.assign(new Error("x"), { code: "UND_ERR_HEADERS_TIMEOUT" }), { method, sent: true });

/** Goes through `results`, the last one for ever; counts the calls and notes the pauses. */
function subject(results: (ApiResponse | Error)[], budget = createRetryBudget(), random = 0.5) {
  const pauses: number[] = [];
  let calls = 0;
  const upstream: Send = async () => {
    const result = results[Math.min(calls++, results.length - 1)]!;
    if (result instanceof Error) throw result;
    return result;
  };
  const sleep = async (ms: number, signal: AbortSignal) => {
    pauses.push(ms);
    signal.throwIfAborted();
  };
  const send = createRetry({ budget, wall: () => NOW, random: () => random, sleep })(upstream);
  const call = (method: string) => send({ method, target: "/x", headers: [] }, live);
  return { send, call, pauses, calls: () => calls };
}

describe("a read", () => {
  it.each([502, 503, 504])("answered %i is sent once more, after 100 to 200 ms", async (status) => {
    const { call, pauses, calls } = subject([answer(status), answer(200)]);
    expect((await call("GET")).status).toBe(200);
    expect([calls(), pauses]).toEqual([2, [150]]);
  });

  it("that fails twice fails", async () => {
    const bad = subject([answer(503)]);
    expect((await bad.call("HEAD")).status).toBe(503);
    expect(bad.calls()).toBe(2);
    const broken = subject([reset("GET")]);
    await expect(broken.call("GET")).rejects.toMatchObject({ reason: "UPSTREAM_UNREACHABLE" });
    expect(broken.calls()).toBe(2);
  });

  it("T-FLT-04: that was reset is sent once more", async () => {
    const { call, calls } = subject([reset("GET"), answer(200)]);
    expect((await call("GET")).status).toBe(200);
    expect(calls()).toBe(2);
  });

  it.each([200, 400, 401, 404, 429, 500, 501])("answered %i is not", async (status) => {
    const { call, calls } = subject([answer(status)]);
    await call("GET");
    expect(calls()).toBe(1);
  });

  it("that took too long is not", async () => {
    const { call, calls } = subject([slow("GET")]);
    await expect(call("GET")).rejects.toMatchObject({ reason: "UPSTREAM_TIMEOUT" });
    expect(calls()).toBe(1);
  });
});

describe("a write", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "(%s) of which a byte may have left is never sent again",
    async (method) => {
      for (const result of [reset(method), slow(method), answer(502), answer(503), answer(504)]) {
        const { call, calls } = subject([result]);
        await call(method).catch(() => {});
        expect(calls()).toBe(1);
      }
    },
  );

  it.each(["POST", "PUT", "PATCH", "DELETE"])("(%s) that certainly never left is sent once more", async (method) => {
    const { call, calls } = subject([refused(method), answer(200)]);
    expect((await call(method)).status).toBe(200);
    expect(calls()).toBe(2);
  });
});

describe("what carryover refused itself", () => {
  it("is not sent again", async () => {
    const { call, calls } = subject([new Problem("OVERLOADED", "full", { retryAfter: 1 })]);
    await expect(call("GET")).rejects.toMatchObject({ reason: "OVERLOADED" });
    expect(calls()).toBe(1);
  });
});

describe("T-FLT-07: Retry-After", () => {
  it.each([
    ["5", 5_000],
    ["0", 0],
    ["Sat, 21 Nov 2026 12:00:03 GMT", 3_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
    ["99999999999", 99_999_999_999_000],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["-1", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s is %s ms", (value, ms) => {
    expect(retryAfter(value, NOW)).toBe(ms);
  });

  it("is never shortened: within the cap it is waited for, beyond it the answer is passed on", async () => {
    const near = subject([answer(503, [["retry-after", "3"]]), answer(200)]);
    expect((await near.call("GET")).status).toBe(200);
    expect(near.pauses).toEqual([3_000]);
    const far = subject([answer(503, [["retry-after", "6"]]), answer(200)]);
    expect((await far.call("GET")).status).toBe(503);
    expect([far.calls(), far.pauses]).toEqual([1, []]);
  });

  it("that cannot be read is as none", async () => {
    const { call, pauses } = subject([answer(503, [["retry-after", "soon"]]), answer(200)]);
    await call("GET");
    expect(pauses).toEqual([150]);
  });
});

describe("the budget", () => {
  it("binds: without leave the first failure stands", async () => {
    const budget = createRetryBudget({ share: 0.2, floor: 0 });
    const { call, calls } = subject([answer(503)], budget);
    expect((await call("GET")).status).toBe(503);
    expect(calls()).toBe(1);
  });

  it("gets back what it lent, however the repeat ends", async () => {
    const budget = createRetryBudget({ share: 0, floor: 1 });
    for (const last of [answer(200), reset("GET"), answer(503)]) {
      const { call, calls } = subject([reset("GET"), last], budget);
      await call("GET").catch(() => {});
      expect(calls()).toBe(2);
    }
  });
});

describe("a caller who gives up while a repeat waits", () => {
  it("gets the reason, and nothing is sent", async () => {
    const controller = new AbortController();
    let calls = 0;
    const send = createRetry({
      budget: createRetryBudget(),
      wall: () => NOW,
      random: () => 0,
      sleep: async (_, signal) => {
        controller.abort(new Error("enough"));
        signal.throwIfAborted();
      },
    })(async () => {
      calls++;
      return answer(503);
    });
    await expect(send({ method: "GET", target: "/x", headers: [] }, controller)).rejects.toThrow("enough");
    expect(calls).toBe(1);
  });
});
