/** A client that still sends gets the whole response before its connection ends (RFC 9112 section 9.6). */
import type { IncomingMessage } from "node:http";

/** How long a client that still sends may go on after its response, as on the gRPC port: a long upload takes its time to notice. */
const LINGER_MS = 2_000;

/**
 * The response is complete by its framing; the connection ends when the client has stopped sending, or soon after.
 * Ending it at once would reset it, and the client might never read the response.
 */
export function lingerAfter(req: IncomingMessage): void {
  const { socket } = req;
  // Once: a later request of the same connection would keep it open after the last response, with its own response out of turn.
  if (Object.hasOwn(socket, "destroySoon")) return;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (req.complete || socket.destroyed) return destroySoon();
    const timer = setTimeout(destroySoon, LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    req.once("end", destroySoon);
    req.resume();
  };
}
