/** A platform that can go away and come back at the same address, and counts what reaches it. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { later, type Rig } from "../../../app/rig.ts";

export interface Platform {
  readonly url: string;
  /** Connections that were made, and whole request heads that came. */
  readonly seen: { connections: number; requests: number };
  /** As if its machine were off: connections are refused, open ones reset. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/** Answers each request with `answer`; up, and gone after the test. */
export async function comingAndGoing(answer: string): Promise<Platform> {
  const sockets = new Set<Socket>();
  const seen = { connections: 0, requests: 0 };
  const server = createServer({ noDelay: true }, (socket) => {
    seen.connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
        text = text.slice(end + 4);
        seen.requests++;
        socket.write(answer);
      }
    });
  });
  let port = 0;
  const up = async (): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    port = (server.address() as AddressInfo).port;
  };
  const down = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  await up();
  later(down);
  return { url: `http://127.0.0.1:${port}`, seen, up, down };
}

/** "1" while the breaker is open. */
export async function breaker({ adminUrl }: Rig): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^carryover_upstream_breaker_open\{upstream="v2"\} (\S+)$/m.exec(text)?.[1];
}
