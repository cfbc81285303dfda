/** Connections of clients whose frames a test writes and reads by hand. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "vitest";
import { later } from "../../support/take-down.ts";
import { FRAME, type FrameFacts, frame, onFrames, PREFACE } from "./frames.mjs";

export interface RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** Types of the frames that came. */
  received(): readonly number[];
  /** Frames of one stream, each as its type, `+ES` where it ends the stream, and a reset with its code. */
  of(stream: number): readonly string[];
}

/** A connection that has sent its preface and its settings. */
export async function raw(url: string, settings: Uint8Array = Buffer.alloc(0)): Promise<RawConnection> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  later(async () => void socket.destroy());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const frames: (FrameFacts & { type: number })[] = [];
  onFrames(socket, (type, facts) => frames.push({ type, ...facts }));
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, settings)]));
  await expect.poll(() => frames.length).toBeGreaterThan(0);
  return {
    socket,
    closed,
    received: () => frames.map(({ type }) => type),
    of: (id) => frames.filter(({ stream, type }) => stream === id && type !== FRAME.window).map(named),
  };
}

function named({ type, flags, payload }: FrameFacts & { type: number }): string {
  if (type === FRAME.reset) return `RST(${payload.readUInt32BE(0)})`;
  const name = type === FRAME.headers ? "HEADERS" : type === FRAME.data ? "DATA" : String(type);
  return (flags & 1) === 1 ? `${name}+ES` : name;
}

/** A platform whose frames are written by hand: `onCall` is called for each call, with the number of its connection. */
export async function rawPlatform(
  onCall: (socket: Socket, stream: number, connection: number) => void,
): Promise<{ readonly url: string }> {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    socket.on("error", () => {});
    socket.write(frame(FRAME.settings, 0, 0));
    const saw = (type: number, { stream }: FrameFacts) => type === FRAME.headers && onCall(socket, stream, connection);
    onFrames(socket, saw, PREFACE.length);
    later(async () => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  later(async () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
