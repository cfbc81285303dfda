/** Messages on the wire: a flag, a length, the bytes. */

import { type BodyLimits, GATHERED_BYTES, roomFor } from "../edge/body-limits.ts";
import { createByteBuffer } from "../edge/byte-buffer.ts";
import { onlyValue } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { decode, mostDecoded } from "../upstream/client.ts";
import type { GrpcCall } from "./call.ts";

export interface MessageLimits extends Pick<BodyLimits, "memory" | "processorShare"> {
  /** Largest message, after decompression too (`grpc.maxMessageBytes`). */
  readonly maxBytes: number;
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
 * The only message of a unary request, at most `most` bytes of it. Waits for the caller's turn and for memory before the rest of a long
 * one is read. Rejects with MESSAGE_TOO_LARGE as soon as its prefix says so, with INVALID_BODY for what is not one whole message.
 */
export async function readMessage(
  call: GrpcCall,
  most: number,
  limits: MessageLimits,
  signal: Signal,
): Promise<ReadMessage> {
  const gathered = createByteBuffer(PREFIX + most);
  let hold: MemoryReservation | undefined;
  let over = false;
  const release = (): void => {
    over = true;
    hold?.resize(0);
  };
  try {
    const isCompressed = await new Promise<boolean>((resolve, reject) => {
      const { stream } = call;
      let prefix: MessagePrefix | undefined;
      stream.on("data", (piece: Buffer) => {
        if (over) return;
        gathered.add(piece);
        if (prefix === undefined && gathered.length() >= PREFIX) {
          try {
            prefix = readPrefix(gathered.peek(), call, most, limits);
          } catch (problem) {
            return reject(problem);
          }
          if (prefix.needs > GATHERED_BYTES) {
            stream.pause();
            roomFor(limits.shareOf(call.credential), prefix.needs, limits, signal).then((given) => {
              hold = given;
              if (over || call.ended) release();
              else stream.resume();
            }, reject);
          }
        }
        if (gathered.length() > PREFIX + (prefix?.length ?? 0)) reject(malformed("more than one message"));
      });
      stream.on("end", () => {
        if (prefix !== undefined && gathered.length() === PREFIX + prefix.length) resolve(prefix.isCompressed);
        else reject(malformed(gathered.length() === 0 ? "no message" : "its message is cut off"));
      });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    const whole = gathered.take();
    call.exchange.requestBytes = whole.length;
    const sent = whole.subarray(PREFIX);
    const bytes = isCompressed ? await decompressed(sent, most) : sent;
    hold?.resize(isCompressed ? whole.length + bytes.length : whole.length);
    return { whole, bytes, release };
  } catch (error) {
    release();
    throw error;
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
  if (flag !== 1) throw new Problem("INVALID_BODY", "the message's first byte is neither 0 nor 1", { options: [] });
  if (onlyValue(received, "grpc-encoding") !== GZIP) {
    throw new Problem("GRPC_UNSUPPORTED", "grpc-encoding: only gzip and identity are supported");
  }
  return { length, isCompressed: true, needs: length + mostDecoded(length, most) };
}

function malformed(what: string): Problem {
  return new Problem("INVALID_BODY", `a unary call has one message, and this has ${what}`, { options: [] });
}

async function decompressed(bytes: Uint8Array, most: number): Promise<Uint8Array> {
  try {
    return await decode(GZIP, bytes, most);
  } catch (cause) {
    throw new Problem("INVALID_BODY", "the compressed message cannot be read, or is too large", { options: [], cause });
  }
}

function requestTooLarge(bytes: number, limit: number, { maxBytes }: MessageLimits): Problem {
  return new Problem("MESSAGE_TOO_LARGE", `the request has ${bytes} bytes, and the limit is ${limit}`, {
    fault: "client",
    metadata: { count: String(bytes), limit: String(limit), unit: "bytes" },
    options: [limit < maxBytes ? "limits.bodyBytes" : "grpc.maxMessageBytes"],
  });
}

/** For a response above the limit; native v1 would have sent it. */
export function responseTooLarge(bytes: number, limit: number, records?: number | undefined): Problem {
  const what = records === undefined ? "" : ` with ${records} records`;
  return new Problem("MESSAGE_TOO_LARGE", `the response${what} has ${bytes} bytes, and the limit is ${limit}`, {
    fault: "translation",
    metadata: {
      ...{ count: String(bytes), limit: String(limit), unit: "bytes" },
      ...(records === undefined ? {} : { records: String(records) }),
    },
    options: ["grpc.maxMessageBytes"],
  });
}

/** A message with its prefix. */
export function withPrefix(bytes: Uint8Array): Buffer {
  const prefixed = Buffer.allocUnsafe(PREFIX + bytes.length);
  prefixed[0] = 0;
  prefixed.writeUInt32BE(bytes.length, 1);
  prefixed.set(bytes, PREFIX);
  return prefixed;
}
