import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { dial } from "../../server/support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "../../server/support/rig.ts";

takeDownAfterEach();

const GET = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const timeouts = { headersMs: 400, requestMs: 800, keepAliveMs: 300, checkMs: 50 };
const decide = () => {
  throw new Problem("NOT_TRANSLATABLE", "no");
};

/** The listener's ends of connections that are made from now on, to `port`. */
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});
function accepted(port: number): Socket[] {
  const sockets: Socket[] = [];
  const heard = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === port) sockets.push(socket);
  };
  subscribe("net.server.socket", heard);
  endings.push(() => unsubscribe("net.server.socket", heard));
  return sockets;
}

/** A connection whose client reads nothing, and the listener's end of it. */
async function deaf(port: number) {
  const sockets = accepted(port);
  const client = await dial(port);
  client.socket.pause();
  while (sockets[0] === undefined) await new Promise((resolve) => setImmediate(resolve));
  return { client, end: sockets[0] };
}

/** One request is in flight, and no other may be. */
async function full() {
  const here = await rig({ timeouts, script: () => {}, limits: { ...LIMITS, inFlight: 1, requestSeconds: 1 } });
  const first = await dial(here.port);
  first.send(GET);
  await here.double.until(() => here.double.requests.length === 1);
  return { ...here, first };
}

describe("T-SLO-03: a connection whose client sends requests and reads none of the answers is ended", () => {
  it("when it breaks off in the middle of a head", async () => {
    const limits = { ...LIMITS, inFlight: 100_000, requestSeconds: 1 };
    const { port, listener, seen } = await rig({ timeouts, decide, limits });
    const { client, end } = await deaf(port);
    client.send(GET.repeat(20_000));
    if (!end.destroyed) await once(end, "close");
    expect(seen.length).toBeGreaterThan(0);
    expect(listener.inFlight()).toBe(0);
    client.leave();
  });

  it("when all of them are turned away for load", async () => {
    const { port, first } = await full();
    const { client, end } = await deaf(port);
    client.send(GET.repeat(20_000));
    if (!end.destroyed) await once(end, "close");
    client.leave();
    first.leave();
  });

  it("when it stops behind a whole request that was turned away for load", async () => {
    const { port, first, seen } = await full();
    const { client, end } = await deaf(port);
    // As earlier answers that it did not read would.
    end.write(Buffer.alloc(32 * 1024 * 1024));
    client.send(GET);
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(seen[0]).toMatchObject({ status: 503, notes: ["shed-in-flight"] });
    if (!end.destroyed) await once(end, "close");
    client.leave();
    first.leave();
  });
});
