/** Token exchange over gRPC: passes to the token service unread, but for an audience that names carryover itself. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Problem } from "../model/problem.ts";
import { createSignalController } from "../model/signal.ts";
import { type Audience, isSameAudience } from "../router/token-exchange.ts";
import { failCall, type GrpcCall } from "./call.ts";
import { type MessageLimits, readMessage, withPrefix } from "./messages.ts";
import { type RelayTarget, relayCall } from "./relay.ts";

/** `repeated string aud = 1`, of the requests of both methods. */
const AUD = 1;

export interface ExchangeParts {
  readonly audience: Audience;
  readonly limits: MessageLimits;
}

/** Ends `call` in every case. The message is read only where an audience may have to be replaced. */
export async function exchangeToken(
  call: GrpcCall,
  target: RelayTarget,
  { audience, limits }: ExchangeParts,
): Promise<void> {
  const { exchange } = call;
  exchange.apiVersion = "sts";
  exchange.operation = "exchange";
  exchange.mode = "pass";
  const answered = (): void => {};
  if (audience.from === undefined) {
    relayCall(call, target, { answered });
    return;
  }
  const controller = createSignalController();
  call.stop = controller.abort;
  try {
    const message = await readMessage(call, Math.min(limits.bodyBytes, limits.requestBytes), limits, controller.signal);
    call.stream.on("close", message.release);
    const replaced = withAudience(message.bytes, audience);
    relayCall(call, target, { answered, whole: replaced === undefined ? message.whole : withPrefix(replaced) });
  } catch (error) {
    failCall(call, Problem.from(error));
  }
}

/** Returns `message` with the platform's audience in place of carryover's own, or undefined if nothing changes. */
export function withAudience(message: Uint8Array, audience: Audience): Uint8Array | undefined {
  const { from, to } = audience;
  if (from === undefined) return undefined;
  const parts: Uint8Array[] = [];
  let kept = 0;
  try {
    const reader = new BinaryReader(message);
    while (reader.pos < message.length) {
      const [number, wireType] = reader.tag();
      const at = reader.pos;
      if (number !== AUD || wireType !== WireType.LengthDelimited) {
        reader.skip(wireType, number);
        continue;
      }
      const value = Buffer.from(reader.bytes());
      if (!isSameAudience(value.toString(), from)) continue;
      parts.push(message.subarray(kept, at), lengthPrefixed(to));
      kept = reader.pos;
    }
  } catch {
    // The token service says what is wrong with it.
    return undefined;
  }
  return parts.length === 0 ? undefined : Buffer.concat([...parts, message.subarray(kept)]);
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(varint(bytes.length)), bytes]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
