/** Which member names were met before, and what do they mean? */
import type { Rule } from "./compile.ts";
import { space } from "./scan.ts";

/** A member name as it stands in texts, and what it means. Its bytes begin behind the member before it. */
export interface Known {
  /** Where the memory has its bytes: comma and white space come first. */
  readonly start: number;
  /** From there: to the name's opening quote, behind its closing one, and behind the colon. */
  readonly name: number;
  readonly nameEnd: number;
  readonly length: number;
  readonly rule: Rule;
  /** The name that followed it the last time: objects mostly repeat the order of the one before. */
  next: Known | undefined;
  /** What counts it, and the call that made that. */
  report: { count: number } | undefined;
  call: number;
}

/** The bytes of all names that are remembered: what one text has taught is known when the next one comes. */
export interface Names {
  bytes: Buffer;
  view: DataView;
  end: number;
}

/** More than the names of an honest platform take. */
const MOST_BYTES = 32 * 1024;
const FIRST_BYTES = 1024;
/** Longer names are read anew each time. Texts must have so many bytes behind them. */
export const MOST_NAME_BYTES = 256;
/** A comparison may begin a byte early. */
const BEGIN = 4;

export function createNames(): Names {
  const { bytes, view } = space(FIRST_BYTES);
  return { bytes, view, end: BEGIN };
}

/** True when so much was learned that it is better to begin anew. */
export function isFull({ end }: Names): boolean {
  return end > MOST_BYTES;
}

/** Forgets all names; nobody may use one any more. */
export function forget(names: Names): void {
  names.end = BEGIN;
}

/** Remembers the name at `start..end` of `text`: where its bytes are now, or 0 when there is no room for them. */
export function remember(names: Names, text: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length > MOST_NAME_BYTES || isFull(names)) return 0;
  if (names.end + length > names.bytes.length) grow(names, length);
  const at = names.end;
  text.copy(names.bytes, at, start, end);
  names.end += length;
  return at;
}

function grow(names: Names, more: number): void {
  const { bytes, view } = space((names.end + more) * 2);
  names.bytes.copy(bytes, 0, 0, names.end);
  names.bytes = bytes;
  names.view = view;
}

/** The only place where they are made, so that all have one shape inside the engine. */
export function knownName(start: number, name: number, nameEnd: number, length: number, rule: Rule): Known {
  return { start, name, nameEnd, length, rule, next: undefined, report: undefined, call: 0 };
}

/** True when what stands at `gap` of `text` is `known`, byte for byte up to its colon. */
export function repeats(text: DataView, gap: number, { view }: Names, { start, length }: Known): boolean {
  // By words, the last of which may overlap the one before it, or begin a byte early: then more is compared than needed.
  // Behind the text there are zeros, which no name has.
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (text.getInt32(gap + i, true) !== view.getInt32(start + i, true)) return false;
  return text.getInt32(gap + last, true) === view.getInt32(start + last, true);
}
