/** Open pages on real sockets: one that never reads. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { createAdminServer } from "../../../src/admin/server.ts";
import type { AdminPage } from "../../../src/page/views.ts";
import { changingNews } from "../../support/page-news.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

test("a viewer that never reads is cut off, and holds neither the others up nor what they are sent", async () => {
  let turn = 0;
  const nothing = async () => "";
  const page: AdminPage = {
    home: async () => new Uint8Array(),
    news: changingNews(() => `${turn++} ${"x".repeat(200_000)}`),
    client: async () => undefined,
    login: nothing,
    force: nothing,
    fault: nothing,
    asset: async () => undefined,
    close: () => {},
  };
  const metrics = { contentType: "text/plain", text: async () => "" };
  const admin = createAdminServer({ host: "127.0.0.1", port: 0, metrics, ready: () => true, views: new Map(), page });
  later(() => admin.close());
  const { hostname, port } = new URL((await admin.listen()).url);
  const follow = async (): Promise<Socket> => {
    const socket = connect({ host: hostname, port: Number(port) });
    later(async () => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(`GET /page/live HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
    return socket;
  };
  const [stalled, reading] = [await follow(), await follow()];
  let received = 0;
  reading.on("data", (bytes: Buffer) => {
    received += bytes.length;
  });
  const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
  const before = sockets();
  // What the kernel takes for a socket that nobody reads is some megabytes.
  await expect.poll(sockets, { timeout: 90_000, interval: 500 }).toBeLessThan(before);
  const sent = turn;
  const until = received;
  await expect.poll(() => turn - sent, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
  expect(received - until).toBeGreaterThan(2 * 200_000);
  expect(reading.destroyed).toBe(false);
  // Reading at last, it finds the end.
  stalled.resume();
  await once(stalled, "close");
});
