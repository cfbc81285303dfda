/** The bytes of JSON strings: compared and decoded, and looked up as names of members without decoding. */

/** The string whose JSON token (quotes included) lies at `start..end` of `bytes`. The token must be valid JSON. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  const plain = bytes.toString("utf8", start + 1, end - 1);
  return plain.indexOf("\\") === -1 ? plain : (JSON.parse(`"${plain}"`) as string);
}

/** The JSON token of `value`, quotes included. Lone surrogates become escapes, so that the bytes are valid UTF-8. */
export function encodeString(value: string): string {
  return JSON.stringify(value);
}

/** Offset of the first `\u` escape of half a character (a lone surrogate) in a valid JSON text, or -1. */
export function loneSurrogate(text: Uint8Array): number {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  for (let at = bytes.indexOf(0x5c); at !== -1; at = bytes.indexOf(0x5c, at)) {
    const unit = bytes[at + 1] === 0x75 ? unitAt(bytes, at) : -1;
    if (unit < 0xd800 || unit > 0xdfff) {
      at += 2;
      continue;
    }
    const paired = unit <= 0xdbff && bytes[at + 6] === 0x5c && bytes[at + 7] === 0x75;
    const low = paired ? unitAt(bytes, at + 6) : -1;
    if (low < 0xdc00 || low > 0xdfff) return at;
    at += 12;
  }
  return -1;
}

function unitAt(bytes: Buffer, start: number): number {
  return Number.parseInt(bytes.toString("latin1", start + 2, start + 6), 16);
}

interface KeyEntry<T> {
  readonly token: Uint8Array;
  readonly found: T;
}

/** Names by their JSON tokens. */
export interface KeyTable<T> {
  /**
   * By `slot` of the token; the length is a power of two. Made when it is first needed: a process has thousands of names,
   * and meets those of a few objects.
   */
  entries: Entries<T> | undefined;
  readonly byName: ReadonlyMap<string, T>;
}

type Entries<T> = readonly (readonly KeyEntry<T>[])[];

/** A table of `names` (decoded). */
export function keyTable<T>(names: ReadonlyMap<string, T>): KeyTable<T> {
  return { entries: undefined, byName: new Map(names) };
}

function entriesOf<T>(names: ReadonlyMap<string, T>): Entries<T> {
  const size = 2 ** Math.ceil(Math.log2(names.size * 2 + 2));
  const entries: KeyEntry<T>[][] = Array.from({ length: size }, () => []);
  for (const [name, found] of names) {
    const token = Buffer.from(encodeString(name));
    entries[slot(token, 0, token.length) & (size - 1)]?.push({ token, found });
  }
  return entries;
}

/** What stands in `table` for the string token at `start..end`, or undefined. However the string is escaped. */
export function findKey<T>(table: KeyTable<T>, bytes: Buffer, start: number, end: number): T | undefined {
  table.entries ??= entriesOf(table.byName);
  const { entries } = table;
  const bucket = entries[slot(bytes, start, end) & (entries.length - 1)] ?? [];
  for (const entry of bucket) {
    if (entry.token.length === end - start && sameBytes(bytes, start, entry.token, 0, end - start)) return entry.found;
  }
  for (let at = start; at < end; at++) {
    if (bytes[at] === 0x5c) return table.byName.get(decodeString(bytes, start, end));
  }
  return undefined;
}

/** True when `length` bytes at `at` of `a` and at `from` of `b` are equal. */
export function sameBytes(a: Uint8Array, at: number, b: Uint8Array, from: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[at + i] !== b[from + i]) return false;
  return true;
}

/** Length, first, and last byte are enough to tell most names of one object apart. */
function slot(bytes: Uint8Array, start: number, end: number): number {
  return (end - start) * 7 + (bytes[start + 1] as number) * 3 + (bytes[end - 2] as number) * 5;
}
