/** How many values does a JSON text have, at the least expense? */

/** Nobody reads on behind so many brackets: a text of nothing else is refused for them. */
const DEEPEST = 1000;

/** True when `text` has more than `most` values. Counts marks outside of strings, so it may be asked before the text is known to be JSON. */
export function hasMoreValues(text: Uint8Array, most: number): boolean {
  // Each value takes two bytes, with the comma behind it.
  if (text.length <= 2 * most) return false;
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let count = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      at = endOfString(bytes, at + 1);
    } else if (byte === 0x2c || byte === 0x7b || byte === 0x5b) {
      count += 1;
      if (byte !== 0x2c) depth += 1;
      if (depth > DEEPEST) return false;
      if (count > most) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

/** Where the string that begins at `start` has its closing quote; the end of the text when it has none. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
  }
  return bytes.length;
}
