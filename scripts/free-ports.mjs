/** Free ports for programs that cannot choose one themselves. */
import { createServer } from "node:net";

/** Below the ports that systems hand out to any client or server that asks for one (from 32768), so nobody takes one before the program listens. */
const [FIRST, LAST] = [10_000, 32_000];
/** Processes that run side by side begin at different places. */
const APART = 32;
const next = { port: FIRST + ((process.pid * APART) % (LAST - FIRST)) };

/** Gives `count` ports of the loopback address that are free. A process gets none of them twice until all others had their turn. */
export async function freePorts(count) {
  const found = [];
  while (found.length < count) {
    const port = next.port;
    next.port = port + 1 < LAST ? port + 1 : FIRST;
    if (await isFree(port)) found.push(port);
  }
  return found;
}

export async function freePort() {
  const [port] = await freePorts(1);
  return port;
}

function isFree(port) {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}
