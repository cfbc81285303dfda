/** Compares and decodes the bytes of JSON strings. */

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
