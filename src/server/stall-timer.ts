import type { ServerResponse } from "node:http";
import { Problem } from "../model/problem.ts";

/** How long a client may take nothing of its answer. */
export const STALL_MS = 30_000;

/** Waits for one client. */
export type StallTimer = ReturnType<typeof createStallTimer>;

/**
 * Calls `stalled` when the client takes no byte for a while between half of `stallMs` and all of it, while some wait for it. One that is slow, but takes something, goes on: the socket's own timer, used for this, knows how much of a write is
 * still to go.
 */
export function createStallTimer(res: ServerResponse, stallMs: number, stalled: () => void) {
  let wake: (() => void) | undefined;
  const giveUp = () => {
    wake?.();
    wake = undefined;
  };
  res.on("timeout", stalled);
  res.on("drain", () => {
    // Off again: a client is not to blame for the time that the next page takes.
    res.setTimeout(0);
    giveUp();
  });
  return {
    /** To be called when `write` gave false. Resolves when the client has taken what was written, or on `giveUp`. */
    taken: (): Promise<void> => {
      // Node takes a first time that is over for progress where the kernel took a part of what was written, and waits for another.
      res.setTimeout(stallMs / 2);
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    /** No write is pending any more. */
    giveUp,
  };
}

/** What is said, to the operator, of a client that was cut off within `ms`: it took nothing for half of that at least. */
export function stallProblem(ms: number): Problem {
  return new Problem("REQUEST_TIMEOUT", `the client took nothing of its answer for ${ms / 2_000} s or more`, {
    options: [],
  });
}
