import type { Socket } from "node:net";

export const PREFACE: Buffer;
export const FRAME: Readonly<
  Record<"data" | "headers" | "reset" | "settings" | "ping" | "goaway" | "window" | "continuation", number>
>;

/** A frame without its type. */
export interface FrameFacts {
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload?: Uint8Array): Buffer;
/** A field that the peer is told not to remember. */
export function literal(name: string, value: string): Buffer;
/** The head of a call. */
export function callHead(path: string, more?: readonly (readonly [name: string, value: string])[]): Buffer;
/** Reports each frame that comes on `socket`, whose first `skip` bytes are none. */
export function onFrames(socket: Socket, saw: (type: number, facts: FrameFacts) => void, skip?: number): void;
