/** Calls and platforms that speak gRPC frame by frame, so that tests see every byte. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { later } from "../../support/take-down.ts";

export interface RpcAnswer {
  readonly head: IncomingHttpHeaders;
  /** Without the head's fields; of a response that is trailers only, undefined. */
  readonly trailers: IncomingHttpHeaders | undefined;
  readonly body: Buffer;
  /** `grpc-status` wherever it came. */
  readonly status: number | undefined;
  readonly message: string;
  readonly rstCode: number;
}

/** A message with its prefix. */
export function framed(bytes: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

export function session(url: string): ClientHttp2Session {
  const opened = connect(url);
  opened.on("error", () => {});
  later(async () => opened.destroy());
  return opened;
}

export function open(on: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const stream = on.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

export function answered(stream: ClientHttp2Stream): Promise<RpcAnswer> {
  return new Promise((resolve) => {
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders | undefined;
    const body: Buffer[] = [];
    stream.on("response", (fields) => {
      head = fields;
    });
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    stream.on("data", (chunk: Buffer) => body.push(chunk));
    stream.on("close", () => {
      const said = trailers?.["grpc-status"] ?? head["grpc-status"];
      resolve({
        head,
        trailers,
        body: Buffer.concat(body),
        status: said === undefined ? undefined : Number(said),
        message: decodeURIComponent(String(trailers?.["grpc-message"] ?? head["grpc-message"] ?? "")),
        rstCode: stream.rstCode,
      });
    });
  });
}

/** One unary call on a session of its own. */
export async function call(
  url: string,
  path: string,
  body: Uint8Array = framed(new Uint8Array()),
  headers: OutgoingHttpHeaders = {},
): Promise<RpcAnswer> {
  const on = connect(url);
  on.on("error", () => {});
  const stream = open(on, path, headers);
  stream.end(body);
  const answer = await answered(stream);
  on.close();
  return answer;
}

export interface RpcPlatform {
  readonly url: string;
  /** Heads of all calls, in order. */
  readonly heads: { readonly headers: IncomingHttpHeaders; readonly raw: readonly string[] }[];
  readonly server: Http2Server;
  /** How many sessions were opened. */
  sessions(): number;
}

/** Serves each stream with `serve`. */
export async function platform(
  serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  settings: Parameters<typeof createServer>[0] = {},
): Promise<RpcPlatform> {
  const server = createServer(settings);
  const open = new Set<{ destroy(): void }>();
  const heads: RpcPlatform["heads"] = [];
  let sessions = 0;
  server.on("session", (one) => {
    sessions++;
    open.add(one);
    one.on("error", () => {});
  });
  server.on("stream", (stream, headers, _flags, ...rest: unknown[]) => {
    stream.on("error", () => {});
    heads.push({ headers, raw: rest[0] as string[] });
    serve(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  later(async () => {
    for (const one of open) one.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, heads, server, sessions: () => sessions };
}

/** Reads the whole request, then responds with `messages` and `trailers`. */
export function unary(
  messages: (request: Buffer) => readonly Uint8Array[],
  trailers: Record<string, string> = { "grpc-status": "0" },
  head: OutgoingHttpHeaders = {},
) {
  return (stream: ServerHttp2Stream): void => {
    const request: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => request.push(chunk));
    stream.on("end", () => {
      if (stream.destroyed) return;
      const all = messages(Buffer.concat(request));
      const fields = { ":status": 200, "content-type": "application/grpc", ...head };
      if (all.length === 0) return stream.respond({ ...fields, ...trailers }, { endStream: true });
      stream.respond(fields, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers(trailers));
      for (const message of all) stream.write(message);
      stream.end();
    });
  };
}
