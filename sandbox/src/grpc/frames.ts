/** Messages on a gRPC stream (one byte of flags, four of length, the bytes), and how a stream begins and ends. */
import type { ServerHttp2Stream } from "node:http2";
import { gunzipSync } from "node:zlib";
import { RpcCode } from "../refusal.ts";

/** How a call ended. */
export interface Status {
  readonly code: number;
  readonly message: string;
  /** A google.rpc.Status in binary, when there are details. */
  readonly details?: Uint8Array;
}

/** Thrown to end a call without a response. */
export class Failure extends Error {
  readonly status: Status;
  constructor(code: number, message: string) {
    super(message);
    this.status = { code, message };
  }
}

const PREFIX_BYTES = 5;

/** `message` as it goes over the wire, uncompressed. */
function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** The messages of a request, one by one. Throws a Failure for one above `limit` bytes, and for half a message at the end. */
export async function* messagesOf(stream: ServerHttp2Stream, encoding: string, limit: number): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  // Who stops reading still wants to respond.
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= PREFIX_BYTES) {
      const size = held.readUInt32BE(1);
      if (size > limit) throw tooLarge(size, limit);
      if (held.length < PREFIX_BYTES + size) break;
      const body = held.subarray(PREFIX_BYTES, PREFIX_BYTES + size);
      yield held[0] === 0 ? body : decompress(body, encoding, limit);
      held = held.subarray(PREFIX_BYTES + size);
    }
  }
  if (held.length > 0) throw new Failure(RpcCode.INTERNAL, "the stream ended within a message");
}

function tooLarge(size: number, limit: number): Failure {
  return new Failure(RpcCode.RESOURCE_EXHAUSTED, `received message larger than max (${size} vs. ${limit})`);
}

function decompress(body: Buffer, encoding: string, limit: number): Buffer {
  if (encoding !== "gzip") throw new Failure(RpcCode.INTERNAL, "a compressed message without grpc-encoding");
  try {
    return gunzipSync(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit + 1, limit);
    throw new Failure(RpcCode.INTERNAL, "a message is not gzip");
  }
}

const HEADERS = {
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": "identity,gzip",
} as const;

/** Sends one message of a response. */
export function sendMessage(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed) return;
  if (!stream.headersSent) {
    stream.respond(HEADERS, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  }
  stream.write(frame(message));
}

/** Ends a call without a message. */
export function sendStatus(stream: ServerHttp2Stream, { code, message, details }: Status): void {
  if (stream.destroyed || stream.headersSent) return;
  const trailers = { "grpc-status": String(code), "grpc-message": percentEncoded(message) };
  const typed = details === undefined ? {} : { "grpc-status-details-bin": unpadded(details) };
  stream.respond({ ...HEADERS, ...trailers, ...typed }, { endStream: true });
  // What is left of the request must not hold up other streams of the connection.
  stream.resume();
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}

/** As `grpc-message` is written: printable ASCII but for the percent sign stays. */
function percentEncoded(text: string): string {
  const encode = (run: string): string =>
    [...Buffer.from(run)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  return text.replace(/[^ -$&-~]+/gu, encode);
}
