/** Requests a list over v1 and keeps what arrives: all of it, an error, or a broken response. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";

/** An answer as far as it came. */
export interface Got {
  readonly status: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly text: string;
  /** Whether it ended as HTTP wants it to. */
  readonly complete: boolean;
}

export interface Asking {
  readonly url: string;
  readonly target: string;
  /** Name of the credential. */
  readonly as: string;
}

let asked = 0;

/** Every request has an id of its own. */
export function headersOf({ as }: Pick<Asking, "as">): Record<string, string> {
  asked += 1;
  return { authorization: `Bearer ${as}`, "x-request-id": `test-${asked}` };
}

/** Rejects when there is no answer at all. */
export async function get(asking: Asking): Promise<Got> {
  return (await open(asking)).ended;
}

/** Every byte of the answer to a request written by hand, until the connection ends. */
export function getRaw(asking: Asking, version: "1.0" | "1.1"): Promise<string> {
  const { hostname, port } = new URL(asking.url);
  const fields = { host: `${hostname}:${port}`, connection: "close", ...headersOf(asking) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.write(`GET ${asking.target} HTTP/${version}\r\n${lines.join("")}\r\n`);
  });
}

/** A client that takes an answer as it likes. */
export interface Reader {
  bytes(): number;
  readonly ended: Promise<Got>;
  pause(): void;
  resume(): void;
  leave(): void;
}

/** Begins to read a list; `onData` is called for each piece. Rejects when there is no answer. */
export function open(asking: Asking, onData: (reader: Reader) => void = () => {}): Promise<Reader> {
  const { hostname, port } = new URL(asking.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: asking.target, headers: headersOf(asking), agent: false });
    request.on("error", reject);
    request.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      const fields = new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
      const reader: Reader = {
        bytes: () => chunks.reduce((sum, { length }) => sum + length, 0),
        ended: new Promise((done) => {
          incoming.on("error", () => {});
          incoming.on("close", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            done({ status: incoming.statusCode ?? 0, fields, text, complete: incoming.complete });
          });
        }),
        pause: () => incoming.pause(),
        resume: () => incoming.resume(),
        leave: () => request.destroy(),
      };
      incoming.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        onData(reader);
      });
      resolve(reader);
    });
    request.end();
  });
}
