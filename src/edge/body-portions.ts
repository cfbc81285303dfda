/** A body that is made piece by piece, and taken portion by portion. */
import type { BodyStream } from "../model/http.ts";

/** A portion has at least so many bytes: separators and brackets go out with what is beside them, in one write. */
const PORTION_BYTES = 1024;

/** The pieces of a body, taken one portion after another. */
export interface BodyPortions {
  /** The next portion, its pieces as they came and none empty; undefined at the end. Rejects as the body does. */
  next(): Promise<readonly Uint8Array[] | undefined>;
  /** Nothing more is wanted: ends the making at once, even while a portion is being waited for. Never throws; counts once. */
  stop(): void;
}

/** To be made once for a body; it asks for nothing before `next`, and for one piece at a time. */
export function readPortions(body: BodyStream): BodyPortions {
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
      void endIteration(iterator);
    },
  };
}

/** Cancels a body that will not be sent. */
export function discard(body: Uint8Array | BodyStream): void {
  if (!(body instanceof Uint8Array)) readPortions(body).stop();
}

async function endIteration(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // The pieces are not needed any more, and neither is an error in making them.
  }
}
