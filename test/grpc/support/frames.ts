/** Frames of HTTP/2 written by hand. */
import type { Socket } from "node:net";

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 };

/** A frame without its type. */
export interface FrameFacts {
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field that the peer is told not to remember. */
export function literal(name: string, value: string): Buffer {
  const text = (part: string) => {
    const bytes = Buffer.from(part);
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    const prefix = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) prefix.push((rest & 127) | 128);
    return Buffer.concat([Buffer.from([...prefix, rest]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** Tells of each frame that comes on `socket`, whose first `skip` bytes are none. */
export function onFrames(socket: Socket, saw: (type: number, facts: FrameFacts) => void, skip = 0): void {
  let bytes = Buffer.alloc(0);
  let skipped = skip;
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length < skipped) return;
    bytes = bytes.subarray(skipped);
    skipped = 0;
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const [type = -1, flags = 0] = bytes.subarray(3);
      const stream = bytes.readUInt32BE(5);
      const payload = bytes.subarray(9, 9 + bytes.readUIntBE(0, 3));
      bytes = bytes.subarray(9 + payload.length);
      saw(type, { flags, stream, payload });
    }
  });
}
