/** How many connections may operators' programs have, and who has to go when there are more? */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Probes, scrapes and people need a handful. */
const MOST = 64;

/**
 * Keeps at most `most` connections to `server`: one more ends the one that is open the longest. Turning the newest away instead
 * would let those who hold connections and send nothing shut out the probes, and an instance whose probes fail is restarted.
 */
export function boundConnections(server: Server, most: number = MOST): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    const [oldest] = open;
    if (open.size >= most && oldest !== undefined) {
      open.delete(oldest);
      oldest.destroy();
    }
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}
