/** Messages on the wire: a flag, a length, the bytes. */
import { onlyValue } from "../model/http.ts";
import type { MemoryBudget, MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { decode } from "../upstream/client.ts";
import type { GrpcCall } from "./call.ts";

export interface MessageLimits {
  /** Largest message, after decompression too. */
  readonly maxBytes: number;
  readonly memory: MemoryBudget;
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

const PREFIX = 5;
/** So much of a message may be here, whatever else is held. */
const UNHELD_BYTES = 64 * 1024;

/**
 * The only message of a unary request. Waits for memory before the rest of a long one is read. Rejects with MESSAGE_TOO_LARGE as soon as
 * its prefix says so, with INVALID_BODY for what is not one whole message.
 */
export async function readMessage(call: GrpcCall, limits: MessageLimits, signal: Signal): Promise<ReadMessage> {
  let hold: MemoryReservation | undefined;
  const release = (): void => hold?.resize(0);
  try {
    const whole = await new Promise<Buffer>((resolve, reject) => {
      const { stream } = call;
      const pieces: Buffer[] = [];
      let length = 0;
      let wanted: number | undefined;
      stream.on("data", (piece: Buffer) => {
        pieces.push(piece);
        length += piece.length;
        if (wanted === undefined && length >= PREFIX) {
          const bytes = joined(pieces, length).readUInt32BE(1);
          wanted = PREFIX + bytes;
          if (bytes > limits.maxBytes) return reject(tooLarge("request", bytes, limits.maxBytes));
          if (bytes > UNHELD_BYTES) {
            stream.pause();
            limits.memory.reserve(limits.shareOf(call.credential), bytes, signal).then((given) => {
              hold = given;
              if (call.ended) release();
              else stream.resume();
            }, reject);
          }
        }
        if (length > (wanted ?? PREFIX)) reject(malformed("more than one message"));
      });
      stream.on("end", () => {
        if (length === wanted) resolve(joined(pieces, length));
        else reject(malformed(length === 0 ? "no message" : "its message is cut off"));
      });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    call.exchange.requestBytes = whole.length;
    const bytes = whole[0] === 0 ? whole.subarray(PREFIX) : await decompressed(whole, call, limits.maxBytes);
    return { whole, bytes, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Without a copy of a short message, which comes in one piece. */
function joined(pieces: readonly Buffer[], length: number): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, length);
}

function malformed(what: string): Problem {
  return new Problem("INVALID_BODY", `a unary call has one message, and this has ${what}`, { options: [] });
}

async function decompressed(whole: Buffer, { received }: GrpcCall, maxBytes: number): Promise<Uint8Array> {
  const bytes = whole.subarray(PREFIX);
  if (whole[0] !== 1) throw new Problem("INVALID_BODY", "the message's first byte is neither 0 nor 1", { options: [] });
  const encoding = onlyValue(received, "grpc-encoding");
  if (encoding !== "gzip") {
    throw new Problem("GRPC_UNSUPPORTED", "grpc-encoding: only gzip and identity are supported");
  }
  try {
    return await decode("gzip", bytes, maxBytes);
  } catch (cause) {
    throw new Problem("INVALID_BODY", "the compressed message cannot be read, or is too large", { options: [], cause });
  }
}

/** For a message above the limit. */
export function tooLarge(
  which: "request" | "response",
  bytes: number,
  limit: number,
  records?: number | undefined,
): Problem {
  const what = records === undefined ? "" : ` with ${records} records`;
  return new Problem("MESSAGE_TOO_LARGE", `the ${which}${what} has ${bytes} bytes, and the limit is ${limit}`, {
    // Native v1 would have sent a response of any size.
    fault: which === "request" ? "client" : "translation",
    metadata: {
      ...{ count: String(bytes), limit: String(limit), unit: "bytes" },
      ...(records === undefined ? {} : { records: String(records) }),
    },
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
