/** A final response of the platform that comes while the client still sends. */
import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { parse, sending } from "./support/client.ts";
import { later, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const SIZE = 16 * 1024 * 1024;
const TOO_LARGE = "HTTP/1.1 413 Payload Too Large\r\n";
const WHOLE = `${TOO_LARGE}Content-Length: 9\r\nConnection: close\r\n\r\ntoo large`;
const CHUNKED = `${TOO_LARGE}Transfer-Encoding: chunked\r\n\r\n9\r\ntoo large\r\n0\r\n\r\n`;
const UNFRAMED = `${TOO_LARGE}Connection: close\r\n\r\ntoo large`;

/** How a platform goes on after its early response. */
const BEHIND: Readonly<Record<string, (socket: Socket) => void>> = {
  "reads on": (socket) => socket.end(),
  "stops reading and closes": (socket) => socket.destroySoon(),
  "closes a moment later": (socket) => setTimeout(() => socket.destroy(), 50),
};

/** A platform that answers before it has the body. */
async function early(response: string, behind: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let got = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      if (got.includes("\r\n\r\n")) return;
      got += bytes.toString("latin1");
      if (!got.includes("\r\n\r\n")) return;
      socket.write(response);
      behind(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe.each(Object.keys(BEHIND))("a platform that %s", (name) => {
  it.each([
    ["a response with its length", WHOLE],
    ["a response in chunks", CHUNKED],
    ["a response that ends with its connection", UNFRAMED],
  ])("reaches a client that still uploads: %s", async (_what, response) => {
    const url = await early(response, BEHIND[name]!);
    const { port, ended } = await rig({ pool: { url } });
    for (let round = 1; round <= 5; round++) {
      const client = await sending(port, `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE}\r\n\r\n`);
      // It reads nothing before all has been written, or the connection ends.
      client.socket.pause();
      const piece = Buffer.alloc(64 * 1024, 97);
      const send = (left: number): void => {
        if (left <= 0) return void client.socket.resume();
        if (client.socket.destroyed) return;
        client.socket.write(piece, () => setImmediate(send, left - piece.length));
      };
      send(SIZE);
      const got = parse(await client.closed());
      expect([round, got.status, got.body]).toEqual([round, 413, "too large"]);
      expect((await ended(round)).status).toBe(413);
    }
  });
});
