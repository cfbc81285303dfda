/** Splits bytes into lines. A line beyond the limit is not held. */

export interface Line {
  /** Without its line break; empty where it is too long. */
  readonly bytes: Uint8Array;
  /** From 1. */
  readonly number: number;
  readonly tooLong: boolean;
  /** The bytes end within it. */
  readonly last: boolean;
}

/** Longest line that is read: a request of the longest target and body has less. */
export const MAX_LINE_BYTES = 1024 ** 2;
const NEW_LINE = 0x0a;

/** Yields every line, empty ones too. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const add = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > MAX_LINE_BYTES) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const take = (last: boolean): Line => {
    const tooLong = length > MAX_LINE_BYTES;
    const line = { bytes: tooLong ? new Uint8Array() : Buffer.concat(pieces), number, tooLong, last };
    pieces = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, start)) {
      add(chunk.subarray(start, end));
      yield take(false);
      start = end + 1;
    }
    // A stream may use its buffer again.
    if (start < chunk.length) add(Buffer.from(chunk.subarray(start)));
  }
  if (length > 0) yield take(true);
}
