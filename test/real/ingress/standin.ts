/** Servers in the place of carryover or the platform that record what arrives. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { later } from "../../end-to-end/app/rig.ts";

export interface Arrived {
  readonly method: string;
  /** Exactly as it came. */
  readonly target: string;
  /** In the order they came, names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly arrived: Arrived[];
}

/** Answers everything with 200 and its own name, and is ready (which is not written down); gone after the test. */
export async function startStandIn(name: string): Promise<StandIn> {
  const arrived: Arrived[] = [];
  const url = await serve(async (request, response) => {
    if (request.url === "/readyz") return void response.end();
    arrived.push(await arrival(request));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name }));
  });
  return { url, arrived };
}

/** Answers `/readyz` and targets that end in `/warm`; reads every other request to its end, then hangs up without a word. */
export async function startHangUp(): Promise<StandIn> {
  const arrived: Arrived[] = [];
  const url = await serve(async (request, response) => {
    const one = await arrival(request);
    if (one.target === "/readyz" || one.target.endsWith("/warm")) return void response.end("{}");
    arrived.push(one);
    request.socket.destroy();
  });
  return { url, arrived };
}

/** A server on a free port with room for any head; gone after the test. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 75_000 }, listener);
  const port = await portOf(server);
  later(
    () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${port}`;
}

function portOf(server: Server): Promise<number> {
  return new Promise((done) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

async function arrival(request: IncomingMessage): Promise<Arrived> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const { rawHeaders } = request;
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    headers.push([rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!]);
  }
  const body = Buffer.concat(pieces).toString("utf8");
  return { method: request.method ?? "", target: request.url ?? "", headers, body };
}
