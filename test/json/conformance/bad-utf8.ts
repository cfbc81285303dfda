/**
 * Byte sequences that are not UTF-8, in each place of a JSON text. (RFC 3629 section 3: overlong, surrogates, out of
 * range, truncated, stray.)
 */

const SEQUENCES: readonly (readonly [string, readonly number[]])[] = [
  ["a continuation byte alone", [0x81]],
  ["Latin-1", [0xe9]],
  ["two bytes cut short", [0xc3]],
  ["three bytes cut short", [0xe0, 0xff]],
  ["four bytes cut short", [0xf0, 0x9f, 0x98]],
  ["overlong in two bytes", [0xc0, 0xaf]],
  ["overlong in three bytes", [0xe0, 0x80, 0xaf]],
  ["overlong in four bytes", [0xf0, 0x80, 0x80, 0xaf]],
  ["overlong in six bytes", [0xfc, 0x83, 0xbf, 0xbf, 0xbf, 0xbf]],
  ["an overlong NUL", [0xc0, 0x80]],
  ["an overlong quote", [0xc0, 0xa2]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
  ["a pair of surrogates", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ["beyond U+10FFFF", [0xf4, 0xbf, 0xbf, 0xbf]],
  ["0xFE", [0xfe]],
  ["0xFF", [0xff]],
];

const around = (before: string, bytes: readonly number[], after: string): Uint8Array =>
  Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);

/** Each sequence in a text, in a name, behind a backslash, in a number and outside of everything. */
export const BAD_UTF8: readonly { readonly name: string; readonly bytes: Uint8Array }[] = [
  ...SEQUENCES.flatMap(([name, bytes]) => [
    { name: `${name} in a text`, bytes: around('["', bytes, '"]') },
    { name: `${name} in a member name`, bytes: around('{"', bytes, '":0}') },
    { name: `${name} behind a backslash`, bytes: around('["\\', bytes, '"]') },
    { name: `${name} in a number`, bytes: around("[1e1", bytes, "]") },
    { name: `${name} behind the value`, bytes: around("[]", bytes, "") },
  ]),
  { name: "UTF-16LE with its mark", bytes: Buffer.from("\ufeff[]", "utf16le") },
  { name: "UTF-16LE", bytes: Buffer.from('["é"]', "utf16le") },
  { name: "UTF-16BE", bytes: Buffer.from('["é"]', "utf16le").swap16() },
  { name: "half a byte order mark", bytes: Buffer.from([0xef, 0xbb, 0x7b, 0x7d]) },
];
