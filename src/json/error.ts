/** What is wrong with a JSON text, and where? */
import { pointerAt } from "./pointer.ts";

/** Longest part of a pointer that goes into a message: keys come from outside. */
const POINTER_IN_MESSAGE = 200;

/**
 * A JSON text that is refused. `message` says reason, byte offset and place; it never quotes values.
 * Made by whoever reads bytes; the place (`pointer`) is worked out only then, by reading the text once more.
 */
export class JsonError extends Error {
  /** A short text without names or values of the document. */
  readonly reason: string;
  /** Byte offset into the text, 0-based; its length when the text ends too early. */
  readonly offset: number;
  /** RFC 6901 pointer to the innermost value or member around `offset`; empty for the whole text. */
  readonly pointer: string;

  constructor(reason: string, offset: number, pointer: string) {
    const shown = pointer.length > POINTER_IN_MESSAGE ? `${pointer.slice(0, POINTER_IN_MESSAGE)}…` : pointer;
    super(`${reason} at byte ${offset}, JSON pointer ${JSON.stringify(shown)}`);
    this.name = "JsonError";
    this.reason = reason;
    this.offset = offset;
    this.pointer = pointer;
  }
}

/** Refuses the text at `offset`. The pointer is added by `located`. */
export function fail(offset: number, reason: string): never {
  throw new JsonError(reason, offset, "");
}

/** Runs `read` on `text`; what it throws is `relocated`. */
export function located<T>(text: Uint8Array, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw relocated(text, error);
  }
}

/** A JsonError about `text` with its pointer, and called an early end when it lies behind the text; anything else as it is. */
export function relocated(text: Uint8Array, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const early = error.offset >= text.length;
  const offset = early ? text.length : error.offset;
  return new JsonError(early ? "unexpected end of data" : error.reason, offset, pointerAt(text, offset));
}
