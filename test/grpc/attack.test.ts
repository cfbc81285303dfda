/** Attacks on the gRPC port, each frame written by hand: nothing crashes, memory stays bounded, and others are served meanwhile. */
import { connect as connectTcp } from "node:net";
import { expect, it } from "vitest";
import { createGrpcServer } from "../../src/grpc/server.ts";
import { createStatusCodec } from "../../src/grpc/status.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { callHead, FRAME, frame, literal } from "./support/frames.mjs";
import { inFrontOf, passing } from "./support/passing.ts";
import { raw, rawPlatform } from "./support/raw.ts";
import { answered, call, framed, open, session, unary } from "./support/rpc.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
async function carryover(serve: Parameters<typeof inFrontOf>[0] = unary((request) => [request])): Promise<string> {
  return (await inFrontOf(serve, { limitsInFlight: "200" })).rpc;
}

const HEAD = callHead(V2);

async function othersAreServed(url: string): Promise<void> {
  expect(await call(url, V2, framed(Buffer.from("ok")))).toMatchObject({ status: 0, body: framed(Buffer.from("ok")) });
}

it("T-RPC-17: a rapid reset ends its connection", async () => {
  let arrived = 0;
  const url = await carryover((stream) => {
    arrived++;
    unary((request) => [request])(stream);
  });
  const { socket, closed } = await raw(url);
  for (let id = 1; id < 20_000 && !socket.destroyed; id += 2) {
    socket.write(frame(FRAME.headers, 4, id, HEAD));
    socket.write(frame(FRAME.reset, 0, id, Buffer.from([0, 0, 0, 8])));
    if (id % 500 === 1) await new Promise(setImmediate);
  }
  await closed;
  expect(arrived).toBeLessThan(2_000);
  await othersAreServed(url);
});

it("T-RPC-17, T-RPC-10: 900 cancels of one client end no call of another one on the connection that an ingress shares", async () => {
  const waiting: (() => void)[] = [];
  const echo = unary((request) => [request]);
  const url = await carryover((stream, headers) => {
    if (headers.authorization === "Bearer good") waiting.push(() => echo(stream));
  });
  const on = session(url);
  const good = () => {
    const stream = open(on, V2, { authorization: "Bearer good" });
    stream.end(framed(Buffer.from("ok")));
    return answered(stream);
  };
  const before = good();
  await expect.poll(() => waiting.length).toBe(1);
  for (let i = 0; i < 12; i++) {
    const cancelled = Array.from({ length: 75 }, () => open(on, V2, { authorization: "Bearer hostile" }));
    await new Promise(setImmediate);
    for (const stream of cancelled) stream.close(8);
  }
  const after = good();
  await expect.poll(() => waiting.length).toBe(2);
  for (const go of waiting) go();
  expect((await Promise.all([before, after])).map(({ status }) => status)).toEqual([0, 0]);
});

it("T-RPC-18: a flood of CONTINUATION frames ends its connection", async () => {
  const url = await carryover();
  const { socket, closed } = await raw(url);
  socket.write(frame(FRAME.headers, 0, 1, HEAD));
  const more = frame(FRAME.continuation, 0, 1, literal("x-flood", "y".repeat(8_000)));
  for (let i = 0; i < 2_000 && !socket.destroyed; i++) {
    socket.write(more);
    if (i % 50 === 0) await new Promise(setImmediate);
  }
  await closed;
  await othersAreServed(url);
});

it("T-RPC-19: a header bomb and an HPACK bomb cost their stream or their connection, not memory", async () => {
  const url = await carryover();
  const before = process.memoryUsage().rss;
  const { socket, received, closed } = await raw(url);
  // A field of 4,000 bytes is remembered, and then named 16,000 times with one byte each.
  const big = literal("x-bomb", "z".repeat(4_000));
  big[0] = 0x40;
  socket.write(frame(FRAME.headers, 4, 1, Buffer.concat([HEAD, big, Buffer.alloc(12_000, 0x80 | 62)])));
  const over = Promise.race([closed, expect.poll(() => received()).toContain(FRAME.reset)]);
  await over;
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, "v"]));
  expect((await call(url, V2, undefined, fields)).status).not.toBe(0);
  expect((await call(url, V2, undefined, { "x-long": "v".repeat(20_000) })).message).toContain("metadata");
  await othersAreServed(url);
});

it("T-RPC-34: a client with a window of zero holds no more than a little of each response", async () => {
  let written = 0;
  const url = await carryover((stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    const more = (): void => {
      while (!stream.destroyed && written < 200 * 2 ** 20) {
        written += 65_536;
        if (!stream.write(Buffer.alloc(65_536))) {
          stream.once("drain", more);
          return;
        }
      }
    };
    more();
  });
  const { socket } = await raw(url, Buffer.from([0, 4, 0, 0, 0, 0]));
  for (let id = 1; id < 101; id += 2) socket.write(frame(FRAME.headers, 5, id, HEAD));
  await expect.poll(() => written).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(written / 50).toBeLessThan(512 * 1024);
});

it("T-RPC-33: a message in pieces of one byte is ended", async () => {
  let arrived = 0;
  const url = await carryover((stream) => {
    stream.on("data", (piece: Buffer) => {
      arrived += piece.length;
    });
  });
  const { socket, received } = await raw(url, Buffer.from([0, 4, 0, 0, 0, 0]));
  const crumb = frame(FRAME.data, 0, 1, Buffer.from([1]));
  socket.write(Buffer.concat([frame(FRAME.headers, 4, 1, HEAD), Buffer.alloc(20_000 * crumb.length, crumb)]));
  await expect.poll(() => received()).toContain(FRAME.headers);
  expect(arrived).toBeLessThan(5_000);
});

it("T-RPC-19: 10,000 streams on one connection are refused beyond its part, and others are served meanwhile", async () => {
  let arrived = 0;
  const url = await carryover((stream) => {
    arrived++;
    unary((request) => [request])(stream);
  });
  // What waits for a connection to the platform is dropped with its client: so there is one.
  await othersAreServed(url);
  const { socket, received } = await raw(url);
  socket.write(Buffer.concat(Array.from({ length: 10_000 }, (_, i) => frame(FRAME.headers, 4, 2 * i + 1, HEAD))));
  await expect.poll(() => received()).toContain(FRAME.goaway);
  await expect.poll(() => arrived).toBeGreaterThan(1);
  await othersAreServed(url);
  expect(arrived).toBeLessThanOrEqual(102);
});

it("T-RPC-30: fields that may come once, sent twice, are refused by either side, and break no other call", async () => {
  const twice = Buffer.concat([literal("user-agent", "a"), literal("user-agent", "b")]);
  const head = [literal(":status", "200"), literal("content-type", "a"), literal("content-type", "b")];
  const behind = await rawPlatform((socket) => void socket.write(frame(FRAME.headers, 4, 1, Buffer.concat(head))));
  const { rpc } = await passing({ v2Url: behind.url });
  expect(await call(rpc, V2)).toMatchObject({ status: 13 });

  const url = await carryover();
  const { socket, received } = await raw(url);
  socket.write(frame(FRAME.headers, 5, 1, Buffer.concat([HEAD, twice])));
  await expect.poll(() => received()).toContain(FRAME.headers);
  await othersAreServed(url);
});

it("T-RPC-35: connections that say nothing, or whose client is gone, are closed", async () => {
  const server = createGrpcServer({
    ...{ host: "127.0.0.1", port: 0, trustedProxies: [], codec: createStatusCodec(undefined) },
    limits: { headerBytes: 16_384, uriBytes: 8_192, inFlight: 10, requestSeconds: 50 },
    ...{ accepted: () => true, serve: () => {}, observe: () => {}, log: () => {} },
    ...{ newRequestId: () => "id", now: () => performance.now() },
    timeouts: { pingMs: 150, idleMs: 500 },
  });
  const { url } = await server.listen();
  later(async () => void (await server.close(0)));
  const silent = connectTcp(Number(new URL(url).port), "127.0.0.1");
  silent.on("error", () => {}).resume();
  await new Promise((resolve) => silent.once("close", resolve));
  // It has a call, and never answers a ping.
  const gone = await raw(url);
  gone.socket.write(frame(FRAME.headers, 4, 1, HEAD));
  await gone.closed;
  expect(gone.received()).toContain(FRAME.ping);
  // It answers every ping, and calls nothing.
  const idle = session(url);
  await new Promise((resolve) => idle.once("close", resolve));
});

it("T-RPC-15: 2,000 invented names take no series of the metrics from real ones", async () => {
  const answer = (code: number) => unary(() => [], { "grpc-status": String(code) });
  const { rpc, adminUrl } = await inFrontOf((stream, { ":path": path }) => answer(path === V2 ? 0 : 16)(stream));
  const on = session(rpc);
  const service = V2.slice(0, V2.lastIndexOf("/"));
  for (let from = 0; from < 2_000; from += 100) {
    const calls = Array.from({ length: 100 }, (_, at) => {
      const stream = open(on, `${service}/Invented${from + at}`);
      stream.end(framed(new Uint8Array()));
      return answered(stream);
    });
    await Promise.all(calls);
  }
  expect(await call(rpc, V2)).toMatchObject({ status: 0 });
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const counted = metrics.split("\n").filter((line) => line.startsWith("carryover_grpc_requests_total{"));
  expect(counted.sort()).toEqual([
    `carryover_grpc_requests_total{service="${service.slice(1)}",method="ListGroups",code="OK"} 1`,
    'carryover_grpc_requests_total{service="unknown",method="unknown",code="UNAUTHENTICATED"} 2000',
  ]);
});
