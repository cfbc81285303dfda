/** How many calls of one list are under way at a time? */
import type { Signal } from "../../model/signal.ts";

export interface Calls {
  /** Makes the call when there is room for it; those that `hurry` go first. Rejects with the signal's reason when it aborts. */
  make<T>(call: () => Promise<T>, signal: Signal, hurry: boolean): Promise<T>;
}

/** At most `most` at a time, whichever part of a drain they are for. */
export function createCalls(most: number): Calls {
  const waiting: (() => void)[] = [];
  let open = 0;
  return {
    async make(call, signal, hurry) {
      if (open >= most) {
        await new Promise<void>((resolve) => {
          if (hurry) waiting.unshift(resolve);
          else waiting.push(resolve);
        });
      } else open += 1;
      // Whoever was woken has taken over a place.
      try {
        signal.throwIfAborted();
        return await call();
      } finally {
        const next = waiting.shift();
        if (next === undefined) open -= 1;
        else next();
      }
    },
  };
}
