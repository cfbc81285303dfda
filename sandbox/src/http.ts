/**
 * HTTP in and out of the sandbox: requests and responses as values, the function that answers them, and a `node:http` server around it.
 * The types have the same shape as carryover's own, so that each can call the other; they are declared here because the sandbox
 * imports nothing from carryover.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Http2Server } from "node:http2";
import { type AddressInfo, createServer as createListener, type Socket } from "node:net";

/** Header fields in the order of the wire: lower-case names, a repeated field as several entries. */
export type HeaderList = readonly (readonly [name: string, value: string, spelling?: string | undefined])[];

/** One request with its whole body. */
export interface ApiRequest {
  readonly method: string;
  /** Origin form: path and query, percent-encoded as on the wire, beginning with `/`. */
  readonly target: string;
  readonly headers: HeaderList;
  readonly body?: Uint8Array;
}

/** One response with its whole body, which may be empty. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** What the sandbox uses of an AbortSignal; every AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface SendOptions {
  /** Aborts when the client has left. */
  readonly signal: StopSignal;
}

/** Answers one request. Rejects only when there is no response: the caller left, or a fault says so. */
export type Send = (request: ApiRequest, options: SendOptions) => Promise<ApiResponse>;

/** Turns one Send into another, for example to add faults. */
export type SendLayer = (next: Send) => Send;

/** The first value of header `name` (lower case), or undefined. */
export function header(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers) if (key === name) return value;
  return undefined;
}

export interface SandboxServer {
  /** Resolves once it accepts connections. Rejects when the port is taken or it listens already. */
  listen(port?: number, host?: string): Promise<{ readonly url: string }>;
  /** Resolves when it is closed and every connection gone; at once when it never listened. */
  close(): Promise<void>;
}

/** The first bytes of every HTTP/2 connection without TLS. */
const HTTP2_PREFACE = "PRI *";

/**
 * A server that answers every request with what `send` says; nothing listens until asked. With `http2`, connections of HTTP/2 are handed
 * to it: one port serves HTTP and gRPC.
 */
export function createServerAround(send: Send, maxBodyBytes: number, http2?: Http2Server): SandboxServer {
  const http = createServer((request, response) => {
    void answer(send, maxBodyBytes, request, response);
  });
  const sockets = new Set<Socket>();
  const listener = createListener((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("readable", () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return;
      socket.unshift(first);
      const isHttp2 = first.toString("latin1", 0, HTTP2_PREFACE.length) === HTTP2_PREFACE;
      ((isHttp2 ? http2 : undefined) ?? http).emit("connection", socket);
    });
  });
  return {
    listen: (port = 0, host = "127.0.0.1") =>
      new Promise((resolve, reject) => {
        listener.once("error", reject);
        listener.listen(port, host, () => {
          listener.removeListener("error", reject);
          const { port: taken } = listener.address() as AddressInfo;
          resolve({ url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}` });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        if (!listener.listening) return resolve();
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function answer(send: Send, limit: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const stop = new AbortController();
  response.once("close", () => stop.abort());
  try {
    const body = await readBody(request, limit);
    if (body === undefined) {
      response.writeHead(413, { connection: "close", "content-type": "application/json" });
      response.end(JSON.stringify({ code: 8, message: `the body is larger than ${limit} bytes`, details: [] }));
      return;
    }
    write(response, await send(toApiRequest(request, body), { signal: stop.signal }));
  } catch {
    // No answer is what a fault layer asked for, or the client has left: either way the connection goes.
    response.destroy();
  }
}

async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toApiRequest(request: IncomingMessage, body: Uint8Array): ApiRequest {
  const raw = request.rawHeaders;
  const headers: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.push([(raw[index] ?? "").toLowerCase(), raw[index + 1] ?? ""]);
  }
  return { method: request.method ?? "GET", target: request.url ?? "/", headers, body };
}

function write(response: ServerResponse, { status, headers, body }: ApiResponse): void {
  response.writeHead(status, rawHeaders([...headers, ["content-length", String(body.length)]]));
  response.end(body);
}

/** Header fields as node takes them when repeats matter. */
function rawHeaders(headers: HeaderList): string[] {
  const raw: string[] = [];
  for (const [name, value] of headers) raw.push(name, value);
  return raw;
}
