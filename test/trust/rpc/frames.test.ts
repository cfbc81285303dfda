/** Frames that no peer should send, at the port and from the platform: each ends its own connection or call, and nothing else. */
import { connect } from "node:net";
import { expect, it } from "vitest";
import { callHead, FRAME, frame, literal, PREFACE } from "../../grpc/support/frames.mjs";
import { raw, rawPlatform } from "../../grpc/support/raw.ts";
import { answered, call, framed, open, platform, session, unary } from "../../grpc/support/rpc.ts";
import { startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { randomOf } from "../../support/random.mjs";
import { scale } from "../../support/scale.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { seedOf } from "../iso/support/tenants.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
const HEAD = callHead(V2);
const OK = framed(Buffer.from("ok"));

async function inFrontOf(url: string): Promise<{ readonly rpc: string; readonly internal: () => number }> {
  let internal = 0;
  const started = await startCarryover({
    v2Url: url,
    flags: { listenGrpcPort: "0", upstreamV2Breaker: "false" },
    onExchange: ({ reason }) => {
      if (reason === "INTERNAL") internal++;
    },
  });
  later(started.close);
  return { rpc: started.grpcUrl ?? "", internal: () => internal };
}

const echoing = () => platform(unary((request) => [request]));

it.each([
  ["PING", frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
  ["SETTINGS", frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))],
  ["empty DATA", frame(FRAME.data, 0, 1)],
])(
  "T-RPC-18: a flood of %s frames whose client reads nothing ends its connection, and others are served meanwhile",
  async (_, one) => {
    const { rpc } = await inFrontOf((await echoing()).url);
    const before = process.memoryUsage().rss;
    const { socket, closed } = await raw(rpc);
    socket.pause();
    socket.write(frame(FRAME.headers, 4, 1, HEAD));
    const many = Buffer.concat(Array.from({ length: 2_000 }, () => one));
    let over = false;
    void closed.then(() => {
      over = true;
    });
    const served: number[] = [];
    for (let i = 0; i < 200 && !over; i++) {
      socket.write(many);
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (i % 20 === 0) served.push((await call(rpc, V2, OK)).status ?? -1);
      // A paused socket does not see its own end.
      if (i % 20 === 10) socket.resume();
    }
    await closed;
    served.push((await call(rpc, V2, OK)).status ?? -1);
    expect(served).toEqual(served.map(() => 0));
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
  },
);

/** Frames of a good call, one of them spoilt. */
function spoilt(random: () => number): Buffer {
  const some = (below: number) => Math.floor(random() * below);
  const frames = [
    frame(FRAME.headers, 4, 1, HEAD),
    frame(FRAME.data, 0, 1, OK.subarray(0, 3)),
    frame(FRAME.data, 1, 1, OK.subarray(3)),
    frame(FRAME.headers, 5, 3, HEAD),
    frame(FRAME.window, 0, 0, Buffer.from([0, 0, 1, 0])),
  ];
  const kind = some(5);
  if (kind === 0) {
    const bytes = Buffer.concat(frames);
    for (let i = 0; i < 1 + some(8); i++) bytes[some(bytes.length)] = some(256);
    return bytes;
  }
  if (kind === 1) {
    const payload = Buffer.from(Array.from({ length: some(40) }, () => some(256)));
    frames.splice(some(frames.length), 0, frame(some(16), some(256), some(6), payload));
  }
  if (kind === 2) frames.reverse();
  if (kind === 3) return Buffer.concat(frames).subarray(0, some(Buffer.concat(frames).length));
  if (kind === 4) frames.push(...frames.slice(some(frames.length)));
  return Buffer.concat(frames);
}

it("T-RPC-20: spoilt frames of clients crash nothing, hang nothing, and let others be served", {
  timeout: 1_800_000,
}, async () => {
  const total = scale(200, 4_000);
  const random = randomOf(seedOf("T-RPC-20"));
  const { rpc, internal } = await inFrontOf((await echoing()).url);
  const on = session(rpc);
  for (let i = 0; i < total; i += 20) {
    const clients = Array.from({ length: 20 }, async () => {
      const socket = connect(Number(new URL(rpc).port), "127.0.0.1");
      socket.on("error", () => {}).resume();
      const frames = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), spoilt(random)]);
      socket.write(frames, () => setTimeout(() => socket.destroy(), 20));
      await new Promise((resolve) => socket.once("close", resolve));
    });
    const good = open(on, V2);
    good.end(OK);
    const [{ status, body }] = await Promise.all([answered(good), ...clients]);
    expect([status, body]).toEqual([0, OK]);
  }
  expect(internal()).toBe(0);
  figure("T-RPC-20", "connections with spoilt frames", total, "connections");
  figure("T-RPC-20", "calls of others meanwhile that failed", 0, "calls");
});

const DONE = [literal(":status", "200"), literal("content-type", "application/grpc"), literal("grpc-status", "0")];
const RESPONSE = frame(FRAME.headers, 5, 1, Buffer.concat(DONE));

it("T-RPC-26: spoilt frames of the platform become a status of the call, in bounded time", {
  timeout: 1_800_000,
}, async () => {
  const total = scale(60, 240);
  const random = randomOf(seedOf("T-RPC-26"));
  const some = (below: number) => Math.floor(random() * below);
  const head = Buffer.concat(DONE.slice(0, 2));
  const responses: (() => Buffer)[] = [
    () => Buffer.from(Array.from({ length: 60 }, () => some(256))),
    () => {
      const bytes = Buffer.from(RESPONSE);
      bytes[some(bytes.length)] = some(256);
      return bytes;
    },
    () => Buffer.concat([frame(some(16), some(256), some(4), Buffer.alloc(some(20), some(256))), RESPONSE]),
    () => Buffer.concat([frame(FRAME.headers, 4, 1, head), frame(FRAME.data, 1, 1, OK.subarray(0, some(7)))]),
    () => frame(FRAME.continuation, 4, 1, head),
    () => Buffer.concat([frame(FRAME.data, 0, 1, OK), RESPONSE]),
    () => Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    () => frame(FRAME.goaway, 0, 0, Buffer.from([0, 0, 0, some(3), 0, 0, 0, some(14)])),
  ];
  let arrived = 0;
  const behind = await rawPlatform((socket) => {
    // Each call has its session: the next one goes over another.
    socket.end((responses[arrived++ % responses.length] ?? (() => RESPONSE))());
  });
  const { rpc, internal } = await inFrontOf(behind.url);
  const codes = new Map<number | undefined, number>();
  let slowest = 0;
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun++ < total) {
      const began = performance.now();
      const { status } = await call(rpc, V2, OK, scale(1, 0) === 1 ? { "grpc-timeout": "1S" } : {});
      slowest = Math.max(slowest, performance.now() - began);
      codes.set(status, (codes.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 60 }, client));
  // Read or not, each has a status; a frame that does no harm leaves the response whole.
  const known = new Set([0, 1, 2, 4, 7, 8, 13, 14]);
  expect([...codes.keys()].filter((code) => code === undefined || !known.has(code))).toEqual([]);
  expect(slowest).toBeLessThan(45_000);
  expect(internal()).toBe(0);
  figure("T-RPC-26", "calls whose platform sent spoilt frames", total, "calls");
  // In a short run each call has a deadline.
  if (scale(1, 0) === 0) figure("T-RPC-26", "longest of these calls, without a deadline", slowest, "ms");
});
