/** In which portions is a long body taken from what makes it? */
import type { BodyStream } from "../model/message.ts";

/** A portion has at least so many bytes: separators and brackets go out with what is beside them, in one write. */
const PORTION_BYTES = 1024;

/** The pieces of a body, taken one portion after another. */
export interface Pieces {
  /** The next portion, its pieces as they came and none empty; undefined at the end. Rejects as the body does. */
  next(): Promise<readonly Uint8Array[] | undefined>;
  /** Nothing more is wanted: ends the making at once, even while a portion is being waited for. Never throws; counts once. */
  stop(): void;
}

/** To be made once for a body; it asks for nothing before `next`, and for one piece at a time. */
export function takePieces(body: BodyStream): Pieces {
  const iterator = body[Symbol.asyncIterator]();
  let over = false;
  const take = async (): Promise<Uint8Array | undefined> => {
    try {
      const step = await iterator.next();
      if (step.done !== true) return step.value;
    } catch (error) {
      // An iteration that failed has ended: there is nothing left to stop.
      over = true;
      throw error;
    }
    over = true;
    return undefined;
  };
  return {
    next: async () => {
      const portion: Uint8Array[] = [];
      for (let bytes = 0; !over && bytes < PORTION_BYTES; ) {
        const piece = await take();
        if (piece === undefined || piece.length === 0) continue;
        portion.push(piece);
        bytes += piece.length;
      }
      return portion.length === 0 ? undefined : portion;
    },
    stop: () => {
      if (over) return;
      over = true;
      void finish(iterator);
    },
  };
}

async function finish(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Nobody waits for these pieces any more, so nobody can be told how their making ended.
  }
}
