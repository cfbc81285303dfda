/** A platform that records requests with a strict parser. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { later } from "../../end-to-end/app/rig.ts";
import { type Read, readStream, valuesOf } from "./wire.ts";

export interface Platform {
  readonly url: string;
  readonly requests: readonly Read[];
  /** What arrived and could be read in two ways. */
  readonly odd: readonly string[];
}

/** Answers each request with 200, what it was, and the id that the front gave it; gone after the test. */
export async function startPlatform(): Promise<Platform> {
  const requests: Read[] = [];
  const odd: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    let rest = "";
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes: Buffer) => {
      rest += bytes.toString("latin1");
      const stream = readStream(rest);
      rest = rest.slice(stream.end);
      for (const request of stream.requests) {
        requests.push(request);
        socket.write(answer(request));
      }
      if (stream.odd === undefined) return;
      odd.push(`${stream.odd} in ${JSON.stringify(rest.slice(0, 500))}`);
      socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, odd };
}

function answer(request: Read): string {
  const { method, target } = request;
  const body = JSON.stringify({ id: valuesOf(request, "x-front-id").join(), target });
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return method === "HEAD" ? head : head + body;
}
