/** Collects items until there are enough of them, or the first has waited long enough. */
export interface Batch<Item> {
  add(item: Item): void;
  /** Processes the waiting items now. */
  settle(): void;
}

/**
 * Hands items, in order, to `work`, which must not throw: `limits.items` at a time, or those of `limits.ms` milliseconds.
 * Processing them together is several times faster than one by one, because the code stays in the CPU's caches.
 * Items that wait when the process exits are lost unless `settle` is called.
 */
export function createBatch<Item>(
  limits: { readonly items: number; readonly ms: number },
  work: (items: readonly Item[]) => void,
): Batch<Item> {
  let waiting: Item[] = [];
  let timer: NodeJS.Timeout | undefined;
  const settle = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const items = waiting;
    waiting = [];
    work(items);
  };
  return {
    add: (item) => {
      waiting.push(item);
      if (timer === undefined) {
        timer = setTimeout(settle, limits.ms);
      } else if (waiting.length >= limits.items) settle();
    },
    settle,
  };
}
