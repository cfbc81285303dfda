/** Messages on the wire: a flag, a length, the bytes. */

import { type BodyLimits, type BodyMemory, createBodyMemory } from "../edge/body-limits.ts";
import { createByteBuffer } from "../edge/byte-buffer.ts";
import { slowSender } from "../edge/send-rate.ts";
import { onlyValue } from "../model/http.ts";
import { Problem, RpcCode } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { decode, isTooLong, mostDecoded } from "../upstream/client.ts";
import type { GrpcCall } from "./call.ts";

export interface MessageLimits extends BodyLimits {
  /** Largest request that is read, after decompression too (`grpc.maxRequestBytes`). */
  readonly requestBytes: number;
  /** Largest response that is made (`grpc.maxResponseBytes`). */
  readonly responseBytes: number;
  /** Largest request that is translated (`limits.bodyBytes`). */
  readonly bodyBytes: number;
  /** Who counts as the caller of a call. */
  readonly shareOf: (credential: string) => string;
}

/** One message that is here, until `release` is called. */
export interface ReadMessage {
  /** As it came, with its prefix. */
  readonly whole: Uint8Array;
  /** Its bytes, decompressed. */
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/** Bytes before each message. */
export const PREFIX = 5;
const GZIP = "gzip";

/**
 * The only message of a unary request, at most `most` bytes of it. Before the rest of a long one is read, waits for the caller's turn, and
 * for memory as it comes. Rejects with MESSAGE_TOO_LARGE as soon as its prefix says so, with INVALID_BODY for what is not one whole message, and with
 * REQUEST_TIMEOUT for a client that is too slow.
 */
export async function readMessage(
  call: GrpcCall,
  most: number,
  limits: MessageLimits,
  signal: Signal,
): Promise<ReadMessage> {
  const { stream, arrival } = call;
  const gathered = createByteBuffer(PREFIX + most);
  let memory: BodyMemory | undefined;
  let over = false;
  let fail: (problem: Problem) => void = () => {};
  const pace = arrival.waitFor(limits, (what) => fail(slowSender(what, true)));
  const release = (): void => {
    over = true;
    memory?.keep(0);
  };
  try {
    const isCompressed = await new Promise<boolean>((resolve, reject) => {
      fail = reject;
      let prefix: MessagePrefix | undefined;
      const takeRoom = (bytes: number, then: () => void): void => {
        const room = memory?.came(bytes);
        if (room === undefined) {
          then();
          return;
        }
        stream.pause();
        pace.rests();
        room.then(() => {
          if (over || call.ended) release();
          else then();
        }, reject);
      };
      stream.on("data", (piece: Buffer) => {
        if (over) return;
        pace.came(piece.length);
        gathered.add(piece);
        if (prefix === undefined && gathered.length() >= PREFIX) {
          try {
            prefix = readPrefix(gathered.peek(), call, most, limits);
          } catch (problem) {
            return reject(problem);
          }
          memory = createBodyMemory(limits.shareOf(call.credential), prefix.needs, limits, signal);
        }
        if (gathered.length() > PREFIX + (prefix?.length ?? 0)) return reject(malformed("more than one message"));
        takeRoom(gathered.length() - PREFIX, () => {
          if (!stream.isPaused()) return;
          pace.waits(true);
          stream.resume();
        });
      });
      stream.on("end", () => {
        if (prefix === undefined || gathered.length() !== PREFIX + prefix.length) {
          reject(malformed(gathered.length() === 0 ? "no message" : "its message is cut off"));
          return;
        }
        const { isCompressed, needs } = prefix;
        takeRoom(isCompressed ? needs : 0, () => resolve(isCompressed));
      });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      pace.waits(false);
    });
    const whole = gathered.take();
    call.exchange.requestBytes = whole.length;
    const sent = whole.subarray(PREFIX);
    const bytes = isCompressed ? await decompressed(sent, most, limits) : sent;
    memory?.keep(isCompressed ? whole.length + bytes.length : whole.length);
    return { whole, bytes, release };
  } catch (error) {
    release();
    throw error;
  } finally {
    pace.over();
  }
}

interface MessagePrefix {
  readonly length: number;
  readonly isCompressed: boolean;
  /** Bytes that the message may take in all. */
  readonly needs: number;
}

/** Reads the first bytes of a message. Throws Problem for one that is too large or in an unknown encoding. */
function readPrefix(bytes: Uint8Array, { received }: GrpcCall, most: number, limits: MessageLimits): MessagePrefix {
  const flag = bytes[0];
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (length > most) throw requestTooLarge(length, most, limits);
  if (flag === 0) return { length, isCompressed: false, needs: length };
  if (flag !== 1) throw unreadable("the message's first byte is neither 0 nor 1");
  const encoding = onlyValue(received, "grpc-encoding") ?? "identity";
  if (encoding === "identity") throw unreadable("a message is compressed, and grpc-encoding does not say how");
  if (encoding !== GZIP) {
    throw new Problem("GRPC_UNSUPPORTED", "grpc-encoding: only gzip and identity are supported");
  }
  return { length, isCompressed: true, needs: length + mostDecoded(length, most) };
}

function malformed(what: string): Problem {
  return unreadable(`a unary call has one message, and this has ${what}`);
}

/** Servers in Go, too, end such a call with INTERNAL. */
export function unreadable(what: string, cause?: unknown): Problem {
  return new Problem("INVALID_BODY", what, { code: RpcCode.INTERNAL, options: [], cause });
}

async function decompressed(bytes: Uint8Array, most: number, limits: MessageLimits): Promise<Uint8Array> {
  try {
    return await decode(GZIP, bytes, most);
  } catch (cause) {
    if (!isTooLong(cause)) throw unreadable("the compressed message cannot be read", cause);
    const limit = mostDecoded(bytes.length, most);
    throw requestTooLarge(limit + 1, limit, limits);
  }
}

function requestTooLarge(bytes: number, limit: number, { requestBytes }: MessageLimits): Problem {
  return new Problem("MESSAGE_TOO_LARGE", `the request has ${bytes} bytes, and the limit is ${limit}`, {
    fault: "client",
    metadata: { count: String(bytes), limit: String(limit), unit: "bytes" },
    options: [limit < requestBytes ? "limits.bodyBytes" : "grpc.maxRequestBytes"],
  });
}

/** For a response above the limit; native v1 would have sent it. `isBegun`: it was not read to its end, and `bytes` is the least that it has. */
export function responseTooLarge(bytes: number, limit: number, records?: number, isBegun = false): Problem {
  const what = records === undefined ? "" : ` with ${records} records`;
  const size = `${isBegun ? "some " : ""}${bytes} bytes${isBegun ? " or more" : ""}`;
  return new Problem("MESSAGE_TOO_LARGE", `the response${what} has ${size}, and the limit is ${limit}`, {
    fault: "translation",
    metadata: {
      ...{ count: String(bytes), limit: String(limit), unit: "bytes" },
      ...(records === undefined ? {} : { records: String(records) }),
    },
    options: ["grpc.maxResponseBytes"],
  });
}

/** A message, or the first of its `length` bytes, with its prefix. */
export function withPrefix(bytes: Uint8Array, length = bytes.length): Buffer {
  const prefixed = Buffer.allocUnsafe(PREFIX + bytes.length);
  prefixed[0] = 0;
  prefixed.writeUInt32BE(length, 1);
  prefixed.set(bytes, PREFIX);
  return prefixed;
}

/** Reads prefixes only. */
export function createMessagePlace() {
  /** Bytes of the prefix that have come, and its length so far. */
  let seen = 0;
  let length = 0;
  /** Bytes of the message that are missing. */
  let missing = 0;
  return {
    /** True when a message has begun and is not whole after `chunk`. */
    after(chunk: Uint8Array): boolean {
      for (let at = 0; at < chunk.length; ) {
        if (missing > 0) {
          const some = Math.min(missing, chunk.length - at);
          missing -= some;
          at += some;
          continue;
        }
        if (seen > 0) length = length * 256 + (chunk[at] ?? 0);
        at += 1;
        seen += 1;
        if (seen < PREFIX) continue;
        missing = length;
        seen = 0;
        length = 0;
      }
      return missing > 0 || seen > 0;
    },
  };
}
