/** Free ports for programs that cannot choose one themselves. */
import { createSocket } from "node:dgram";
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
    if ((await isFree(port)) && (await claim(port))) found.push(port);
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

/**
 * Keeps other processes of ours from the port while this one runs: by its namesake of UDP, which nobody else wants. A program that shares its port with
 * whoever asks for it (Envoy does) would else get half of another's requests.
 */
function claim(port) {
  const socket = createSocket("udp4");
  socket.unref();
  return new Promise((done) => {
    socket.once("error", () => {
      socket.close();
      done(false);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => done(true));
  });
}
