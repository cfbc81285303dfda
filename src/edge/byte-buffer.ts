const NO_BYTES = new Uint8Array(0);

/** Bytes that come piece by piece, `most` at most. A list of pieces could cost a hundred times what they hold, where each holds a byte. */
export function createByteBuffer(most: number) {
  let store: Uint8Array = NO_BYTES;
  let length = 0;
  return {
    length: () => length,
    add: (piece: Uint8Array) => {
      const needed = length + piece.length;
      if (length === 0) store = piece;
      else {
        if (needed > store.length) {
          const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * store.length, most)));
          larger.set(store.subarray(0, length));
          store = larger;
        }
        store.set(piece, length);
      }
      length = needed;
    },
    /** A view of what there is. */
    peek: () => store.subarray(0, length),
    /** Returns what there is, and keeps nothing of it. */
    take: () => {
      const given = store.length === length ? store : store.subarray(0, length);
      store = NO_BYTES;
      length = 0;
      return given;
    },
  };
}
