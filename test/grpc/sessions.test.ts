/** Sessions to an upstream: how many there are, who gets their streams, and when one is taken for dead. */
import type { ClientHttp2Stream, ServerHttp2Stream } from "node:http2";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { createGrpcSessions, type GrpcSessions, type SessionsOptions } from "../../src/grpc/sessions.ts";
import type { Problem } from "../../src/model/problem.ts";
import { type Breaker, noBreaker } from "../../src/upstream/breaker.ts";
import { later, listening, takeDownAfterEach } from "../support/take-down.ts";
import { frame } from "./support/frames.mjs";
import { rawPlatform } from "./support/raw.ts";
import { platform } from "./support/rpc.ts";

takeDownAfterEach();

function sessionsTo(url: string, options: Partial<SessionsOptions> = {}): GrpcSessions {
  const sessions = createGrpcSessions({
    ...{ url, connections: 16, connectMs: 2_000, headerBytes: 16_384, now: () => performance.now() },
    accepted: () => true,
    patience: { silentMs: 300, pongMs: 500 },
    ...options,
  });
  later(async () => sessions.close());
  return sessions;
}

const heads = new WeakMap<ClientHttp2Stream, Promise<unknown>>();

/** Resolves once the head of a response has come. */
const head = (stream: ClientHttp2Stream) => heads.get(stream);

/** Opens a stream of `credential` within `ms`. */
function openStream(sessions: GrpcSessions, credential = "a", ms = 5_000): Promise<ClientHttp2Stream> {
  const since = performance.now();
  return new Promise((resolve, refuse) => {
    const begin = (stream: ClientHttp2Stream): void => {
      stream.on("error", () => {});
      heads.set(stream, new Promise((came) => stream.once("response", came)));
      resolve(stream);
    };
    sessions.enter(
      { credential, begun: false, since, deadline: since + ms },
      { start: (place) => place.open({ ":method": "POST", ":path": "/s/m" }, { begin, refuse }), refuse },
    );
  });
}

const begin = (stream: ServerHttp2Stream): void => stream.respond({ ":status": 200 });

it("a crowd at the start gets enough sessions for its streams", async () => {
  const behind = await platform(begin, { settings: { maxConcurrentStreams: 2 } });
  const sessions = sessionsTo(behind.url);
  const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(sessions)));
  await Promise.all(streams.map(head));
  expect(behind.sessions()).toBe(5);
});

it("T-RPC-11: long streams of one credential leave a place to others, and what waits in vain is OVERLOADED without blame for the platform", async () => {
  const behind = await platform(begin, { settings: { maxConcurrentStreams: 2 } });
  const failures: number[] = [];
  const breaker = (): Breaker => ({ ...noBreaker(), failed: (at) => failures.push(at) });
  const sessions = sessionsTo(behind.url, { connections: 2, breaker });
  const streams = await Promise.all([1, 2, 3].map(() => openStream(sessions)));
  const fourth = openStream(sessions, "a", 500).catch((problem: Problem) => problem);
  await head(await openStream(sessions, "b"));
  expect(await fourth).toMatchObject({ reason: "OVERLOADED", options: ["upstream.*.connections"] });
  expect(failures).toEqual([]);
  const next = openStream(sessions, "c");
  streams[0]?.close();
  await head(await next);
  expect(behind.sessions()).toBe(2);
});

it("T-RPC-11: credentials that the platform has not accepted leave a quarter of all streams to the others", async () => {
  const behind = await platform(begin, { settings: { maxConcurrentStreams: 4 } });
  const sessions = sessionsTo(behind.url, { connections: 2, accepted: (credential) => credential === "known" });
  await Promise.all([1, 2, 3, 4, 5, 6].map((invented) => openStream(sessions, `invented ${invented}`)));
  await expect(openStream(sessions, "invented 7", 300)).rejects.toMatchObject({ reason: "OVERLOADED" });
  await head(await openStream(sessions, "known"));
});

it("T-RPC-23: a call whose connection comes too late is not told that places are taken", async () => {
  const port = await listening(createServer());
  const sessions = sessionsTo(`http://127.0.0.1:${port}`);
  await expect(openStream(sessions, "a", 300)).rejects.toMatchObject({ reason: "UPSTREAM_TIMEOUT" });
});

it("T-RPC-23: calls that wait are refused together when no session can be connected", async () => {
  const sessions = sessionsTo("http://127.0.0.1:1");
  const refused = await Promise.allSettled([1, 2, 3].map(() => openStream(sessions)));
  expect(refused).toMatchObject(Array(3).fill({ reason: { reason: "UPSTREAM_UNREACHABLE" } }));
});

/** Passes connections on to `url`, until those that are open are cut off without a word. */
async function wireTo(url: string): Promise<{ readonly url: string; cut(): void }> {
  const pairs: Socket[] = [];
  const server = createServer((near) => {
    const far = connectTcp(Number(new URL(url).port), "127.0.0.1");
    far.on("error", () => {});
    near.pipe(far).pipe(near);
    pairs.push(near, far);
  });
  const port = await listening(server);
  later(async () => {
    for (const socket of pairs) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    cut: () => {
      for (const socket of pairs) socket.unpipe().pause();
    },
  };
}

/** Sessions that have served a call. */
async function calledOnce() {
  const behind = await platform(begin);
  const wire = await wireTo(behind.url);
  const sessions = sessionsTo(wire.url);
  await head(await openStream(sessions));
  return { behind, wire, sessions };
}

it("T-RPC-26: a frame that ends a session, and one of the wrong size right behind it, do not abort the process", async () => {
  const ALTSVC = 10;
  const [withoutValue, tooShort] = [Buffer.from([0, 1, 64]), Buffer.from([0, 1])];
  const behind = await rawPlatform((socket) => {
    socket.write(Buffer.concat([frame(ALTSVC, 0, 0, withoutValue), frame(ALTSVC, 0, 1, tooShort)]));
  });
  const stream = await openStream(sessionsTo(behind.url));
  const error = await new Promise((resolve) => stream.once("error", resolve));
  expect(error).toMatchObject({ code: "ERR_HTTP2_ERROR" });
});

it("T-RPC-27: a session with a late response gets no further call until it acknowledges a ping", {
  timeout: 10_000,
}, async () => {
  const { behind, wire, sessions } = await calledOnce();
  sessions.suspect(await openStream(sessions));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await head(await openStream(sessions));
  expect(behind.sessions()).toBe(1);
  wire.cut();
  sessions.suspect(await openStream(sessions));
  await head(await openStream(sessions));
  expect(behind.sessions()).toBe(2);
});

it("T-RPC-27: a session that stays silent after a call is found dead within seconds, and its calls end", {
  timeout: 10_000,
}, async () => {
  const { behind, wire, sessions } = await calledOnce();
  await new Promise((resolve) => setTimeout(resolve, 350));
  wire.cut();
  const lost = await openStream(sessions);
  const ended = new Promise((resolve) => lost.once("close", resolve));
  await new Promise((resolve) => setTimeout(resolve, 350));
  await head(await openStream(sessions));
  expect(behind.sessions()).toBe(2);
  await ended;
});

it("T-RPC-27: an acknowledgement that came while carryover had no time to read it counts", async () => {
  // On its own thread, so that it responds while this one is held.
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
    const server = require("node:http2").createServer().listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
    server.on("stream", (stream) => stream.on("error", () => {}).respond({ ":status": 200 }));`,
    { eval: true },
  );
  later(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  const sessions = sessionsTo(`http://127.0.0.1:${port}`, { patience: { silentMs: 100, pongMs: 100 } });
  const stream = await openStream(sessions);
  await head(stream);
  sessions.suspect(stream);
  await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stream.destroyed).toBe(false);
});

it("T-RPC-27: calls end within seconds of a frame after which node:http2 reads nothing more", async () => {
  const behind = await rawPlatform((socket) => {
    socket.write(Buffer.from("ffffff000000000001", "hex"));
  });
  const sessions = sessionsTo(behind.url, { patience: { silentMs: 100, pongMs: 100 } });
  const stream = await openStream(sessions);
  await new Promise((resolve) => stream.once("close", resolve));
});

it("a slow upstream is pinged once, not at each silent call", async () => {
  const behind = await platform(() => {});
  let pings = 0;
  behind.server.on("session", (one) => one.on("ping", () => pings++));
  const sessions = sessionsTo(behind.url, { patience: { silentMs: 100 } });
  for (let i = 0; i < 3; i++) {
    await openStream(sessions);
    await new Promise((resolve) => setTimeout(resolve, 600));
  }
  expect([pings, behind.sessions()]).toEqual([1, 1]);
});

it("a session that was pinged three times without a response in between is left, before a server counts the pings", async () => {
  const behind = await platform(() => {});
  let pings = 0;
  behind.server.on("session", (one) => one.on("ping", () => pings++));
  const sessions = sessionsTo(behind.url);
  const stream = await openStream(sessions);
  const suspected = (): boolean | undefined => {
    sessions.suspect(stream);
    return stream.session?.closed;
  };
  await expect.poll(suspected, { timeout: 5_000 }).toBe(true);
  expect(pings).toBe(3);
});

it("T-RPC-27: an idle session is pinged as often as configured, and ended without an acknowledgement", async () => {
  const behind = await platform(begin);
  const wire = await wireTo(behind.url);
  const sessions = sessionsTo(wire.url, { pingMs: 100 });
  const stream = await openStream(sessions);
  await head(stream);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(stream.session?.destroyed).toBe(false);
  wire.cut();
  await expect.poll(() => stream.session?.destroyed ?? true, { timeout: 3_000 }).toBe(true);
});
