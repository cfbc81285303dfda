/** How do short requests come between the pages of long lists? */

/** Resolves when the caller may use the processor for one page. */
export type Turn = () => Promise<void>;

/**
 * One turn of the event loop for each page, in the order of asking: many lists may have a page ready at the same moment, and
 * making all of them at once would hold up everybody else. `next` runs something in the next turn of the loop.
 */
export function createTurns(next: (run: () => void) => void = setImmediate): Turn {
  const waiting: (() => void)[] = [];
  let running = false;
  const step = (): void => {
    const first = waiting.shift();
    running = first !== undefined;
    if (first === undefined) return;
    first();
    next(step);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (running) return;
      running = true;
      next(step);
    });
}
