/** The way of one process to the store: TLS ends here, and the test delays it, cuts it or makes it silent. */
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { listening } from "../../support/take-down.ts";

export interface Way {
  readonly url: string;
  /** Delays each response of the store by `ms`. */
  delay(ms: number): void;
  /** Nothing passes any more in either direction, and nothing is refused. */
  silence(): void;
  /** Lets everything pass again, and first what was held. */
  restore(): void;
  /** Ends all connections. */
  cut(): void;
}

/** `port`: returns the port of the store, for each connection. */
export async function startWay(port: () => number): Promise<Way> {
  let delayMs = 0;
  let isSilent = false;
  const waiting: (() => void)[] = [];
  const open = new Set<Socket>();
  const pairs = new Set<readonly [TLSSocket, Socket]>();
  const front = createTlsServer({ cert: LOCALHOST.cert, key: LOCALHOST.key }, (socket) => {
    const inner = connect(port(), "127.0.0.1");
    const pair = [socket, inner] as const;
    const end = (): void => {
      pairs.delete(pair);
      socket.destroy();
      inner.destroy();
    };
    pairs.add(pair);
    for (const one of pair) one.on("error", end).on("close", end);
    socket.on("data", (bytes) => void inner.write(bytes));
    inner.on("data", (bytes) => void setTimeout(() => socket.write(bytes), delayMs));
    if (isSilent) hold(pair);
  });
  // A client that does not trust the certificate says so and leaves.
  front.on("tlsClientError", () => {});
  const outer = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    const handOver = (): void => void front.emit("connection", socket);
    if (isSilent) waiting.push(handOver);
    else handOver();
  });
  const own = await listening(outer);
  return {
    url: `rediss://localhost:${own}`,
    delay: (ms) => {
      delayMs = ms;
    },
    silence: () => {
      isSilent = true;
      for (const pair of pairs) hold(pair);
    },
    restore: () => {
      isSilent = false;
      delayMs = 0;
      for (const handOver of waiting.splice(0)) handOver();
      for (const pair of pairs) for (const one of pair) one.resume();
    },
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function hold(pair: readonly [TLSSocket, Socket]): void {
  for (const one of pair) one.pause();
}
