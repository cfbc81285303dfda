import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { expect, it } from "vitest";
import { noBreaker } from "../../src/upstream/breaker.ts";
import type { Pool } from "../../src/upstream/pool.ts";
import { createRetryBudget } from "../../src/upstream/retry.ts";
import { createStream } from "../../src/upstream/stream.ts";

it("a streamed response goes on only while it waits for its sink: the connection may have another call by then", () => {
  const handlers: Dispatcher.DispatchHandler[] = [];
  const pool: Pool = {
    ...{ breaker: noBreaker(), origin: "http://a", basePath: "", hostname: "a" },
    dispatch: (_, handler) => handlers.push(handler),
    addresses: () => new Set(),
    renew: () => {},
    close: async () => {},
  };
  let resumed = 0;
  const sink = { head: () => {}, data: () => false, end: () => {}, fail: () => {} };
  const request = { method: "GET", target: "/", headers: [], body: undefined };
  const call = createStream(pool, createRetryBudget())(request, sink);
  const [handler] = handlers;
  handler?.onConnect?.(() => {});
  handler?.onHeaders?.(200, [], () => resumed++, "OK");
  call.resume();
  expect(resumed).toBe(0);
  expect(handler?.onData?.(Buffer.from("x"))).toBe(false);
  call.resume();
  call.resume();
  handler?.onComplete?.([]);
  call.resume();
  expect(resumed).toBe(1);
});

it("a streamed call whose client leaves while it waits is taken out of the queue, and its body is read no more", () => {
  let left = 0;
  const calls = { enter: () => () => left++ };
  const pool: Pool = {
    ...{ breaker: noBreaker(), origin: "http://a", basePath: "", hostname: "a" },
    dispatch: () => expect.unreachable("it was never sent"),
    addresses: () => new Set(),
    renew: () => {},
    close: async () => {},
  };
  const sink = { head: () => {}, data: () => false, end: () => {}, fail: () => {} };
  const body = Readable.from(["x"]);
  const call = createStream(pool, createRetryBudget(), calls)({ method: "PUT", target: "/", headers: [], body }, sink);
  call.cancel();
  expect([left, body.destroyed]).toEqual([1, true]);
});
