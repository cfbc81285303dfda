/** How long may a client take for what it was given? */
import type { Visit } from "./visit.ts";

/** Watches over a client while bytes wait for it. */
export interface Patience {
  /** Resolves when the client has taken what was written, or at once when nobody waits for that any more. */
  taken(): Promise<void>;
  /** Nothing more will be written; the client may still be taking. */
  rest(): void;
  /** Lets go of who waits. */
  giveUp(): void;
}

/**
 * Calls `stalled` when the client takes no byte for `stallMs` while some wait for it. A client that is slow, but takes
 * something, is none of these: the socket's own timer knows of the part of a write that has gone.
 */
export function createPatience({ req, res }: Visit, stallMs: number, stalled: () => void): Patience {
  let wake: (() => void) | undefined;
  const giveUp = () => {
    wake?.();
    wake = undefined;
  };
  res.on("timeout", stalled);
  res.on("drain", () => {
    res.setTimeout(0);
    giveUp();
  });
  // Before Node lends the socket's timer to the pause between requests, or to an answer that was waiting behind this one.
  res.prependOnceListener("finish", () => req.socket.setTimeout(0));
  return {
    taken: () => {
      res.setTimeout(stallMs);
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    rest: () => {
      res.setTimeout(stallMs);
    },
    giveUp,
  };
}
