/** How a call ends whose client still sends: the status first, then at most a reset, and not at once. */
import { EventEmitter } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { expect, it } from "vitest";
import { createLingering } from "../../src/grpc/lingering.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { callHead, FRAME, frame } from "./support/frames.mjs";
import { inFrontOf } from "./support/passing.ts";
import { type RawConnection, raw } from "./support/raw.ts";
import { answered, call, framed, open, session, unary } from "./support/rpc.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
const UNKNOWN = "/evil.v2.Service/Do";
/** Long enough for a reset that comes too early. */
const SOON_MS = 100;
const LINGER_MS = 600;
const MESSAGE = framed(Buffer.from("m"));

const carryover = (
  serve: Parameters<typeof inFrontOf>[0],
  flags: Readonly<Record<string, string>> = {},
  holdMs = 100,
) => inFrontOf(serve, flags, { grpcTimeouts: { holdMs, lingerMs: LINGER_MS } });

/** Responds to the first bytes of a message. */
const early: Parameters<typeof inFrontOf>[0] = (stream) => {
  stream.once("data", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(MESSAGE);
  });
};

/** A call that its client leaves open. */
async function begun(rpc: string, path: string): Promise<RawConnection> {
  const connection = await raw(rpc);
  connection.socket.write(
    Buffer.concat([frame(FRAME.headers, 4, 1, callHead(path)), frame(FRAME.data, 0, 1, MESSAGE)]),
  );
  return connection;
}

async function endsWith(connection: RawConnection, frames: readonly string[]): Promise<void> {
  await expect.poll(() => connection.of(1)).toEqual(frames);
  await new Promise((resolve) => setTimeout(resolve, SOON_MS));
  expect(connection.of(1)).toEqual(frames);
}

it("T-RPC-08: a response that comes before the end of the request is whole, and no reset follows once the client has ended it", async () => {
  const { rpc } = await carryover(early);
  const connection = await begun(rpc, V2);
  await endsWith(connection, ["HEADERS", "DATA", "HEADERS+ES"]);
  connection.socket.write(frame(FRAME.data, 1, 1));
  await new Promise((resolve) => setTimeout(resolve, LINGER_MS + SOON_MS));
  expect(connection.of(1)).toEqual(["HEADERS", "DATA", "HEADERS+ES"]);
});

it("T-RPC-34: a refused call that its client leaves open is closed without an error after a time", async () => {
  const { rpc } = await carryover(early);
  const connection = await begun(rpc, UNKNOWN);
  await endsWith(connection, ["HEADERS+ES"]);
  await expect.poll(() => connection.of(1), { timeout: 5_000 }).toEqual(["HEADERS+ES", "RST(0)"]);
});

it("a call that is refused before it is whole has its status once its client has ended it, or after a time", async () => {
  const { rpc } = await carryover(early, {}, 60_000);
  const connection = await begun(rpc, UNKNOWN);
  await endsWith(connection, []);
  connection.socket.write(frame(FRAME.data, 1, 1));
  await endsWith(connection, ["HEADERS+ES"]);
});

it("no more calls linger than may be in flight: the first that ended goes first", () => {
  const closed: number[] = [];
  const { close } = createLingering(() => 0, 2, { holdMs: 60_000, lingerMs: 60_000 });
  for (const at of [1, 2, 3]) {
    const stream = Object.assign(new EventEmitter(), { close: () => closed.push(at) });
    close(stream as unknown as ServerHttp2Stream);
  }
  expect(closed).toEqual([1]);
});

it("T-RPC-16: a request of another media type is closed as well", async () => {
  const { rpc } = await carryover(early);
  const stream = open(session(rpc), V2, { "content-type": "text/plain" });
  stream.write("x");
  const { head, rstCode } = await answered(stream);
  expect([head[":status"], rstCode]).toEqual([415, 0]);
});

it("T-RPC-07: an error in the middle of a stream has its status, whatever the client still sends", async () => {
  const { rpc } = await carryover((stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.write(MESSAGE);
    setTimeout(() => stream.close(2), 50);
  });
  await endsWith(await begun(rpc, V2), ["HEADERS", "DATA", "HEADERS+ES"]);
});

it("T-RPC-41: a call that a shutdown cuts has its status", async () => {
  const { rpc, close } = await carryover((stream) => void stream);
  const connection = await begun(rpc, V2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const closed = close();
  await connection.closed;
  expect(connection.of(1)).toEqual(["HEADERS+ES"]);
  await closed;
});

it("T-RPC-34: a call whose response is sent is reported and no longer in flight, though its client holds it open", async () => {
  const { rpc, exchanges } = await carryover(
    unary((request) => [request]),
    { limitsInFlight: "4" },
  );
  const on = session(rpc);
  for (const path of [UNKNOWN, UNKNOWN]) open(on, path).write(MESSAGE);
  await expect.poll(() => exchanges.length).toBe(2);
  const others = await Promise.all(Array.from({ length: 3 }, () => call(rpc, V2)));
  expect(others.map(({ status }) => status)).toEqual([0, 0, 0]);
});

it("T-RPC-34: what a client sends after the response is thrown away, and limited", async () => {
  const { rpc } = await carryover(early);
  const stream = open(session(rpc), UNKNOWN);
  let taken = 0;
  const more = (): void => {
    taken += 65_536;
    stream.write(Buffer.alloc(65_536), () => !stream.destroyed && taken < 64 * 2 ** 20 && more());
  };
  more();
  expect(await answered(stream)).toMatchObject({ status: 12, rstCode: 0 });
  expect(taken).toBeLessThan(3 * 2 ** 20);
});

it("T-RPC-36: the platform's side of a call is closed as soon as it has responded", async () => {
  const closed: number[] = [];
  const { rpc } = await carryover((stream, headers) => {
    stream.on("close", () => closed.push(stream.rstCode));
    early(stream, headers);
  });
  await begun(rpc, V2);
  await expect.poll(() => closed).toEqual([0]);
});
