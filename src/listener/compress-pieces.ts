/** How is a body compressed that comes in pieces? */
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Encoding } from "./compress.ts";
import type { Pieces } from "./pieces.ts";

/**
 * Every portion is flushed: a page goes out when it is there, for a thousandth of the size; brotli alone would wait for
 * megabytes. Levels and window are for lists of many pages: hardly larger than what a whole answer gets, and a third cheaper.
 */
const encoders = {
  br: () =>
    createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH, level: 3 }),
};

/** `pieces` in `encoding`, off the event loop: as many portions, and one more that makes the whole readable. */
export function compressPieces(pieces: Pieces, encoding: Encoding): Pieces {
  const encoder = encoders[encoding]();
  let made: Uint8Array[] = [];
  let fail: (error: Error) => void = () => {};
  let over = false;
  encoder.on("data", (bytes: Uint8Array) => made.push(bytes));
  encoder.on("error", (error) => fail(error));
  const run = async (start: (done: () => void) => void): Promise<readonly Uint8Array[]> => {
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      start(resolve);
    });
    const portion = made;
    made = [];
    return portion;
  };
  return {
    next: async () => {
      const portion = over ? undefined : await pieces.next();
      if (over) return undefined;
      // Every write costs a trip to another thread, so a portion is one write.
      if (portion !== undefined) return run((done) => encoder.write(joined(portion), () => done()));
      over = true;
      return run((done) => encoder.once("end", done).end());
    },
    stop: () => {
      over = true;
      pieces.stop();
      encoder.destroy();
    },
  };
}

function joined(portion: readonly Uint8Array[]): Uint8Array {
  const [only] = portion;
  return portion.length === 1 && only !== undefined ? only : Buffer.concat(portion);
}
