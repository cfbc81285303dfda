import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { dial } from "../../server/support/client.ts";
import { LIMITS, type Rig, rig, takeDownAfterAll } from "../../server/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { dialMany } from "./support.ts";

takeDownAfterAll();

const MIB = 2 ** 20;
const BYTES = 50 * MIB;
const GET = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 60_000, checkMs: 100, stallMs: 700 };
const limits = { ...LIMITS, requestSeconds: 50 };

/** Answers 50 MB as fast as they are taken; `sent` counts what the connections took, the last of it at `lastAt`. */
function large() {
  let sent = 0;
  let lastAt = 0;
  const chunk = Buffer.alloc(64 * 1024, "a");
  const script = (_: unknown, socket: Socket): void => {
    let left = BYTES;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BYTES}\r\n\r\n`);
    const pump = (): void => {
      while (left > 0 && !socket.destroyed) {
        const piece = chunk.subarray(0, Math.min(chunk.length, left));
        left -= piece.length;
        sent += piece.length;
        lastAt = performance.now();
        if (!socket.write(piece)) return;
      }
    };
    socket.on("drain", pump);
    pump();
  };
  return { script, sent: () => sent, lastAt: () => lastAt };
}

async function allGone({ listener, double, ended }: Rig, count: number): Promise<void> {
  const last = await ended(count);
  expect(last).toMatchObject({ status: 200, reason: "REQUEST_TIMEOUT", aborted: false });
  // A connection that carried nothing may be there in their place.
  await double.until(() => double.gone() >= count);
  expect(listener.inFlight()).toBe(0);
}

/** A client that may take nothing for `stallMs`. */
async function oneClient(stallMs: number, requestSeconds: number) {
  const { script, lastAt } = large();
  const here = await rig({
    timeouts: { ...timeouts, stallMs },
    limits: { ...limits, requestSeconds },
    script,
  });
  return { here, lastAt, client: await dial(here.port) };
}

describe.concurrent("T-SLO-03: clients that never read an answer of 50 MB that passes through", () => {
  it("are cut off, hold the platform's answer back meanwhile, and leave no connection to it", async () => {
    const count = scale(4, 200);
    const { script, sent } = large();
    const here = await rig({
      timeouts,
      limits: { ...limits, inFlight: 500, requestSeconds: 600 },
      pool: { connections: 256 },
      script,
    });
    const before = process.memoryUsage.rss();
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 20);
    const clients = await dialMany(here.port, count);
    for (const client of clients) {
      client.socket.pause();
      client.send(GET);
    }
    await allGone(here, count);
    clearInterval(watching);
    expect(here.seen.map(({ reason }) => reason)).toEqual(Array(count).fill("REQUEST_TIMEOUT"));
    // What connections hold between four sockets, and no more: the rest was never read.
    expect(sent() / count).toBeLessThan(BYTES / 2);
    for (const client of clients) client.leave();
    figure("T-SLO-03", "clients that never read 50 MB, each cut off", count, "clients");
    figure("T-SLO-03", "RSS for them, both ends and the platform", (most - before) / MIB, "MiB");
  });

  it("are cut off before the request's own time is over, and said to be the reason", async () => {
    const { here, lastAt, client } = await oneClient(2_000, 30);
    client.socket.pause();
    client.send(GET);
    await allGone(here, 1);
    // Node's timer alone would take the first time that is over for progress, and cut the client off after 4 s.
    expect(performance.now() - lastAt()).toBeLessThan(3_500);
    client.leave();
  });

  it("but those that take a little go on, however slow", async () => {
    const { here, client } = await oneClient(1_000, 2);
    let took = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (chunk: Buffer) => {
      took += chunk.length;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 25);
    });
    client.send(GET);
    // It is the total that ends it.
    expect(await here.ended(1)).toMatchObject({ status: 200, reason: "UPSTREAM_TIMEOUT" });
    expect(took).toBeGreaterThan(MIB / 4);
    expect(took).toBeLessThan(BYTES);
  });
});

it.concurrent("T-SLO-03: a platform that pauses longer than that is no fault of the client", async () => {
  const half = "b".repeat(20_000);
  const here = await rig({
    timeouts: { ...timeouts, stallMs: 150 },
    script: (_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${half.length * 2}\r\n\r\n${half}`);
      setTimeout(() => socket.write(half), 600);
    },
  });
  const client = await dial(here.port);
  client.send(GET);
  const text = await client.until((so) => so.length > 2 * half.length);
  expect(text.endsWith("bbb")).toBe(true);
  expect((await here.ended(1)).reason).toBeUndefined();
  client.leave();
});
