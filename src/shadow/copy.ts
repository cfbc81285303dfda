/** How are bytes kept that go by, in buffers that are used again? */
import type { Held } from "./memory.ts";

/** A copy that grows up to a limit. */
export interface Copy {
  /** Says why when there is no room; then nothing of it is held any more, and nothing more is taken. */
  add(chunk: Uint8Array): "too-large" | "memory" | undefined;
  /** Everything added; a view of the copy. */
  bytes(): Uint8Array;
  drop(): void;
}

const NO_BYTES = new Uint8Array(0);

/** One buffer that doubles: a body in many small pieces takes no more than twice its length. `held` pays for all of it. */
export function createCopy(held: Held, limit: number): Copy {
  let buffer: Uint8Array = NO_BYTES;
  let length = 0;
  let refused: "too-large" | "memory" | undefined;
  const drop = (): void => {
    held.give(buffer.length);
    buffer = NO_BYTES;
    length = 0;
  };
  const refuse = (why: "too-large" | "memory"): typeof why => {
    drop();
    refused = why;
    return why;
  };
  return {
    add(chunk) {
      if (refused !== undefined) return refused;
      const needed = length + chunk.length;
      if (needed > limit) return refuse("too-large");
      if (needed > buffer.length) {
        const size = Math.min(limit, Math.max(needed, 2 * buffer.length));
        if (!held.take(size)) return refuse("memory");
        const larger = Buffer.allocUnsafe(size);
        larger.set(buffer.subarray(0, length));
        held.give(buffer.length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = needed;
      return undefined;
    },
    bytes: () => buffer.subarray(0, length),
    drop,
  };
}
