/** Attacks on the gRPC port, each frame written by hand: nothing crashes, memory stays bounded, and others are served meanwhile. */
import { connect as connectTcp, type Socket } from "node:net";
import { expect, it } from "vitest";
import { createGrpcServer } from "../../src/grpc/server.ts";
import { createStatusCodec } from "../../src/grpc/status.ts";
import { startCarryover } from "../support/carryover.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { answered, call, framed, open, platform, session, unary } from "./support/rpc.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 };

async function carryover(serve: Parameters<typeof platform>[0] = unary((request) => [request])): Promise<string> {
  const behind = await platform(serve);
  const started = await startCarryover({
    v2Url: behind.url,
    flags: { listenGrpcPort: "0", limitsInFlight: "200" },
  });
  later(started.close);
  return started.grpcUrl ?? "";
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that the peer is told not to remember. */
function literal(name: string, value: string): Buffer {
  const text = (part: string) => {
    const bytes = Buffer.from(part);
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    const prefix = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) prefix.push((rest & 127) | 128);
    return Buffer.concat([Buffer.from([...prefix, rest]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

const HEAD = Buffer.concat([
  literal(":method", "POST"),
  literal(":scheme", "http"),
  literal(":path", V2),
  literal(":authority", "h"),
  literal("content-type", "application/grpc"),
  literal("te", "trailers"),
]);

interface RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** Types of the frames that came. */
  received(): readonly number[];
}

/** A connection that has sent its preface and its settings. */
async function raw(url: string, settings: Uint8Array = Buffer.alloc(0)): Promise<RawConnection> {
  const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  later(async () => void socket.destroy());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  let bytes = Buffer.alloc(0);
  const types: number[] = [];
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      types.push(bytes[3] ?? -1);
      bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3));
    }
  });
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, settings)]));
  await expect.poll(() => types.length).toBeGreaterThan(0);
  return { socket, closed, received: () => types };
}

async function othersAreServed(url: string): Promise<void> {
  expect(await call(url, V2, framed(Buffer.from("ok")))).toMatchObject({ status: 0, body: framed(Buffer.from("ok")) });
}

it("a rapid reset ends its connection", async () => {
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

it("a flood of CONTINUATION frames ends its connection", async () => {
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

it("a header bomb and an HPACK bomb cost their stream or their connection, not memory", async () => {
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

it("a client with a window of zero holds no more than a little of each response", async () => {
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

it("10,000 streams on one connection are refused beyond its part, and others are served meanwhile", async () => {
  let arrived = 0;
  const url = await carryover((stream) => {
    arrived++;
    unary((request) => [request])(stream);
  });
  const { socket, received } = await raw(url);
  socket.write(Buffer.concat(Array.from({ length: 10_000 }, (_, i) => frame(FRAME.headers, 4, 2 * i + 1, HEAD))));
  await expect.poll(() => received()).toContain(FRAME.reset);
  await expect.poll(() => arrived).toBeGreaterThan(0);
  await othersAreServed(url);
  expect(arrived).toBeLessThanOrEqual(101);
});

it("calls beyond the limit of those in flight are UNAVAILABLE at once", async () => {
  const url = await carryover((stream) => void stream);
  const streams = [1, 2, 3].flatMap(() => {
    const on = session(url);
    return Array.from({ length: 100 }, () => open(on, V2));
  });
  const statuses: (number | undefined)[] = [];
  for (const stream of streams) void answered(stream).then(({ status }) => statuses.push(status));
  await expect.poll(() => statuses.filter((status) => status === 14).length).toBeGreaterThanOrEqual(100);
});

it("connections that say nothing, or whose client is gone, are closed", async () => {
  const server = createGrpcServer({
    ...{ host: "127.0.0.1", port: 0, trustedProxies: [], codec: createStatusCodec(undefined) },
    limits: { headerBytes: 16_384, uriBytes: 8_192, inFlight: 10, requestSeconds: 50 },
    ...{ admit: () => undefined, credentialOf: () => "", serve: () => {}, observe: () => {}, log: () => {} },
    ...{ newRequestId: () => "id", now: () => performance.now() },
    timeouts: { prefaceMs: 200, pingMs: 300, idleMs: 1_000 },
  });
  const { url } = await server.listen();
  later(async () => void (await server.close(0)));
  const silent = connectTcp(Number(new URL(url).port), "127.0.0.1");
  silent.on("error", () => {}).resume();
  await new Promise((resolve) => silent.once("close", resolve));
  // It never answers a ping.
  const gone = await raw(url);
  await gone.closed;
  expect(gone.received()).toContain(FRAME.ping);
  // It answers every ping, and calls nothing.
  const idle = session(url);
  await new Promise((resolve) => idle.once("close", resolve));
});
