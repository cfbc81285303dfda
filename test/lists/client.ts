/** What does a v1 client get of a list: all of it, an error, or a broken answer? */
import { type Agent, request as httpRequest } from "node:http";
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
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

let asked = 0;

/** Every request has an id of its own, by which the platform tells whose page it reads. */
export function headersOf({ as, headers }: Pick<Asking, "as" | "headers">): Record<string, string> {
  asked += 1;
  return { authorization: `Bearer ${as}`, "x-request-id": `test-${asked}`, ...headers };
}

/** Rejects when there is no answer at all. */
export function get(asking: Asking): Promise<Got> {
  const { hostname, port } = new URL(asking.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname,
      port,
      path: asking.target,
      headers: headersOf(asking),
      agent: asking.agent ?? false,
    });
    request.on("error", reject);
    request.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", () => {});
      incoming.on("close", () => {
        const fields = new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: incoming.statusCode ?? 0, fields, text, complete: incoming.complete });
      });
    });
    request.end();
  });
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
  /** Records that came in full. */
  records(): number;
  bytes(): number;
  readonly ended: Promise<{ readonly complete: boolean; readonly text: string }>;
  pause(): void;
  resume(): void;
  leave(): void;
}

/** Begins to read a list; `onData` is told of each piece. Rejects when there is no answer. */
export function open(asking: Asking, onData: (reader: Reader) => void = () => {}): Promise<Reader> {
  const { hostname, port } = new URL(asking.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: asking.target, headers: headersOf(asking), agent: false });
    request.on("error", reject);
    request.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      const text = () => Buffer.concat(chunks).toString("utf8");
      const reader: Reader = {
        records: () => text().split('"createdAt":').length - 1,
        bytes: () => chunks.reduce((sum, { length }) => sum + length, 0),
        ended: new Promise((done) => {
          incoming.on("error", () => {});
          incoming.on("close", () => done({ complete: incoming.complete, text: text() }));
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
