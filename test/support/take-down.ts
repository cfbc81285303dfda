/** Takes down what tests build: afterwards, and in reverse. */
import type { AddressInfo, Server, Socket } from "node:net";
import { afterAll, afterEach } from "vitest";

const closers: (() => Promise<void>)[] = [];

/** To be called at the top of a test file: everything built is taken down after each test. */
export const takeDownAfterEach = (): void => afterEach(takeDown);

/** To be called at the top of a test file whose tests share what is built: it is taken down after the last of them. */
export const takeDownAfterAll = (): void => afterAll(takeDown);

/** Runs `close` after the test, or after the file. */
export function later(close: () => Promise<void>): void {
  closers.push(close);
}

/** Listens on a free port of this machine, until it is taken down with all its connections. Gives the port. */
export async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((open) => server.listen(0, "127.0.0.1", open));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}

async function takeDown(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
