/** What stands behind carryover and moves many bytes, slowly, counted on both sides? */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { later } from "../../app/rig.ts";

export interface Mover {
  readonly url: string;
  /** Bytes of request bodies that arrived whole. */
  received(): number;
}

export const STREAM_PIECE = "s".repeat(16 * 1024);
export const STREAM_PIECES = 30;

/** A POST is answered with the length of its body, a GET with `STREAM_PIECES` pieces over a while. Taken down after the test. */
export async function mover(gapMs: number): Promise<Mover> {
  let received = 0;
  const server = createServer((request, response) => {
    let length = 0;
    request.on("data", (piece: Buffer) => {
      length += piece.length;
    });
    request.once("end", () => {
      received += length;
      if (request.method === "POST") {
        response.end(String(length));
        return;
      }
      let sent = 0;
      const timer = setInterval(() => {
        response.write(STREAM_PIECE);
        if (++sent === STREAM_PIECES) {
          clearInterval(timer);
          response.end();
        }
      }, gapMs);
      response.once("close", () => clearInterval(timer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}
