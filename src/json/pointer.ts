/** Where in a JSON document does a byte lie? */
import { decodeString } from "./text.ts";

interface Level {
  readonly array: boolean;
  /** Elements passed so far; arrays only. */
  index: number;
  /** Key of the current member, undefined between members; objects only. */
  key: string | undefined;
  /** True while the next string is a member name; objects only. */
  keyNext: boolean;
}

/** Nobody looks for a place by its pointer so far into a text. */
const FURTHEST = 1024 * 1024;

/**
 * The RFC 6901 pointer of the innermost value around byte `offset`; of the member when `offset` is where its name begins.
 * For error messages: reads the text from its start, and takes it leniently, as it may be broken at `offset`. Empty where that would
 * take long.
 */
export function pointerAt(document: Uint8Array, offset: number): string {
  if (offset > FURTHEST) return "";
  const text = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  const levels: Level[] = [];
  let at = 0;
  while (at <= offset && at < text.length) {
    const level = levels.at(-1);
    if (text[at] === 0x22) {
      const end = endOfString(text, at);
      if (level?.keyNext && end <= text.length) level.key = keyOf(text, at, end);
      at = end;
    } else {
      if (at < offset) structure(levels, level, text[at]);
      at++;
    }
  }
  return levels.map(segment).join("");
}

function structure(levels: Level[], level: Level | undefined, byte: number | undefined): void {
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

function keyOf(text: Buffer, start: number, end: number): string | undefined {
  try {
    return decodeString(text, start, end);
  } catch {
    return undefined; // the name itself is what is broken
  }
}

function segment(level: Level): string {
  if (level.array) return `/${level.index}`;
  return level.key === undefined ? "" : `/${level.key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
