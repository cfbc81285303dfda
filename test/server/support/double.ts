/** An upstream that records requests byte by byte and sends scripted responses. */

import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** One request as it arrived. */
export interface Recorded {
  /** Request line and fields, without the empty line. */
  readonly head: string;
  readonly line: string;
  /** Fields in order, spelled as on the wire. */
  readonly fields: readonly (readonly [string, string])[];
  /** Body bytes, chunks put together. */
  readonly body: Buffer;
  /** Which connection, from 0. */
  readonly connection: number;
}

/** Bytes to answer with, or a function that does as it likes. */
export type Script = string | Buffer | ((request: Recorded, socket: Socket, index: number) => void);

export interface Double {
  readonly url: string;
  readonly port: number;
  readonly requests: Recorded[];
  /** Everything that was received, of all connections. */
  received(): string;
  /** Connections so far. */
  connections(): number;
  /** Connections that have ended. (undici replaces one that it cuts.) */
  gone(): number;
  /** Resolves when `condition` holds; looked at whenever something happens here. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** A raw TCP server that records whole requests and answers each with `script`. */
export async function createDouble(
  script: Script,
  tls?: TlsOptions,
  place: { readonly host: string; readonly port: number } = { host: "127.0.0.1", port: 0 },
): Promise<Double> {
  const requests: Recorded[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let received = "";
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  const serve = (socket: Socket) => {
    const connection = connections++;
    let rest: Buffer = Buffer.alloc(0);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      rest = Buffer.concat([rest, chunk]);
      for (let found = take(rest, connection); found !== undefined; found = take(rest, connection)) {
        rest = found.rest;
        requests.push(found.request);
        if (typeof script === "function") script(found.request, socket, requests.length - 1);
        else socket.write(script);
      }
      changed();
    });
    changed();
  };
  const server = tls === undefined ? createServer({ noDelay: true }, serve) : createTlsServer(tls, serve);
  server.on("tlsClientError", () => changed());
  await new Promise<void>((resolve) => server.listen(place.port, place.host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${tls === undefined ? "127.0.0.1" : "localhost"}:${port}`,
    port,
    requests,
    received: () => received,
    connections: () => connections,
    gone: () => connections - sockets.size,
    until: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An HTTP/1.1 answer with its length. */
export function ok(body = "{}", fields = ""): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function take(bytes: Buffer, connection: number): { request: Recorded; rest: Buffer } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  const [line = "", ...lines] = head.split("\r\n");
  const fields = lines.map((text): [string, string] => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon), text.slice(colon + 1).trim()];
  });
  const value = (name: string) => fields.find(([key]) => key.toLowerCase() === name)?.[1];
  const after = bytes.subarray(end + 4);
  const framed =
    value("transfer-encoding") === "chunked" ? unchunk(after) : cut(after, Number(value("content-length") ?? 0));
  if (framed === undefined) return undefined;
  return { request: { head, line, fields, body: framed.body, connection }, rest: framed.rest };
}

function cut(bytes: Buffer, length: number): { body: Buffer; rest: Buffer } | undefined {
  if (bytes.length < length) return undefined;
  return { body: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

function unchunk(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (true) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(at) };
  }
}
