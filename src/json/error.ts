/** What is wrong with a JSON text, and where. */
import { decodeString } from "./text.ts";

/** Longest part of a pointer that goes into a message: keys come from outside. */
const POINTER_IN_MESSAGE = 200;

/**
 * A JSON text that is refused. `message` says reason, byte offset and place; it never quotes values.
 * The place (`pointer`) is worked out only for an error, by reading the text once more.
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

/** A JsonError about `text` with its pointer, or an early end when it lies after the text; anything else as it is. */
export function relocated(text: Uint8Array, error: unknown): unknown {
  if (!(error instanceof JsonError)) return error;
  const early = error.offset >= text.length;
  const offset = early ? text.length : error.offset;
  return new JsonError(early ? "unexpected end of data" : error.reason, offset, pointerAt(text, offset));
}

interface OpenContainer {
  readonly array: boolean;
  /** Elements passed so far; arrays only. */
  index: number;
  /** Key of the current member, undefined between members; objects only. */
  key: string | undefined;
  /** True while the next string is a member name; objects only. */
  keyNext: boolean;
}

/** Nobody looks for a place by its pointer so far into a text. */
const MAX_OFFSET = 1024 * 1024;

/**
 * The RFC 6901 pointer of the innermost value around byte `offset`; of the member when `offset` is where its name begins.
 * For error messages: reads the text from its start, and takes it leniently, as it may be broken at `offset`. Empty where that would
 * take long.
 */
export function pointerAt(document: Uint8Array, offset: number): string {
  if (offset > MAX_OFFSET) return "";
  const text = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  const levels: OpenContainer[] = [];
  let at = 0;
  while (at <= offset && at < text.length) {
    const level = levels.at(-1);
    if (text[at] === 0x22) {
      const end = endOfString(text, at);
      if (level?.keyNext && end <= text.length) level.key = memberName(text, at, end);
      at = end;
    } else {
      if (at < offset) followStructure(levels, level, text[at]);
      at++;
    }
  }
  return levels.map(pointerSegment).join("");
}

function followStructure(levels: OpenContainer[], level: OpenContainer | undefined, byte: number | undefined): void {
  if (byte === 0x7b || byte === 0x5b) {
    levels.push({ array: byte === 0x5b, index: 0, key: undefined, keyNext: byte === 0x7b });
  } else if (byte === 0x7d || byte === 0x5d) {
    levels.pop();
  } else if (byte === 0x3a && level !== undefined) {
    level.keyNext = false;
  } else if (byte === 0x2c && level !== undefined) {
    level.index++;
    level.key = undefined;
    level.keyNext = !level.array;
  }
}

/** Past the closing quote; one past the end of the text when there is none. */
function endOfString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === 0x22) return at + 1;
    if (text[at] === 0x5c) at++;
  }
  return text.length + 1;
}

function memberName(text: Buffer, start: number, end: number): string | undefined {
  try {
    return decodeString(text, start, end);
  } catch {
    return undefined; // the name itself is what is broken
  }
}

function pointerSegment(level: OpenContainer): string {
  if (level.array) return `/${level.index}`;
  return level.key === undefined ? "" : `/${level.key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
