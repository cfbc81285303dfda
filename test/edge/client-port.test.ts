import { EventEmitter } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { describe, expect, it } from "vitest";
import { acceptWaiting, openClientPort, requireReusePort } from "../../src/edge/client-port.ts";
import { later, listening, takeDownAfterEach } from "../support/take-down.ts";

takeDownAfterEach();

const LEAVE_OUT = "leave it out and give each process a port of its own behind a load balancer (docs/scale.md)";

describe("a shared port", () => {
  it.each(["20.20.2", "21.7.3", "22.11.0", "23.0.0"])(
    "is refused on Node %s, which would ignore the option",
    (version) => {
      expect(() => requireReusePort(version)).toThrow(
        `listen.reusePort: Node ${version} cannot share a port between processes; Node 22.12, 23.1 and newer can; run carryover with Node 24, or ${LEAVE_OUT}`,
      );
    },
  );

  it.each(["22.12.0", "22.23.5", "23.1.0", "24.0.0", "25.1.0"])("is taken on Node %s", (version) => {
    expect(() => requireReusePort(version)).not.toThrow();
  });

  /** A server whose system refuses to listen. */
  const refusing = (code: string): Server => {
    const server = Object.assign(new EventEmitter(), {
      listen: () => setImmediate(() => server.emit("error", Object.assign(new Error(code), { code }))),
    });
    return server as unknown as Server;
  };
  const port = { host: "127.0.0.1", port: 8080 };

  it("is refused by name on a system that cannot share one", async () => {
    await expect(openClientPort(refusing("ENOTSUP"), { ...port, reusePort: true })).rejects.toThrow(
      `listen.reusePort: this system (${process.platform}) cannot share a port between processes; ${LEAVE_OUT}`,
    );
  });

  it.each([
    ["EADDRINUSE", true],
    ["ENOTSUP", false],
  ])("leaves Node's own error %s alone with reusePort %s", async (code, reusePort) => {
    await expect(openClientPort(refusing(code), { ...port, reusePort })).rejects.toMatchObject({ code, message: code });
  });
});

describe("a port that is about to close", () => {
  /** Clients that have connected to a server of this process, which has not come to accept them. */
  function waitingAt(port: number, count: number): Promise<unknown> {
    return Promise.all(
      Array.from({ length: count }, () => {
        const socket = connect(port, "127.0.0.1").on("error", () => {});
        later(async () => void socket.destroy());
        return new Promise<void>((connected) => socket.once("connect", connected));
      }),
    );
  }

  it("accepts all connections that wait", async () => {
    let accepted = 0;
    const server = createServer(() => accepted++);
    const port = await listening(server);
    const connected = waitingAt(port, 50);
    // By the next turn all clients have asked the kernel for a connection, and the server has accepted none.
    await Promise.resolve();
    await new Promise((next) => process.nextTick(next));
    expect(accepted).toBe(0);
    await acceptWaiting([server], 10_000);
    expect(accepted).toBe(50);
    await connected;
  });

  it("waits no longer than it may for a queue that clients keep filling", async () => {
    const server = createServer((socket) => {
      socket.destroy();
      connect(port, "127.0.0.1").on("error", () => {});
      connect(port, "127.0.0.1").on("error", () => {});
    });
    const port = await listening(server);
    await waitingAt(port, 1);
    const begun = performance.now();
    await acceptWaiting([server], 100);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(99);
    server.close();
  });
});
