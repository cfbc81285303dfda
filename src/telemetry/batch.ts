/** How is work put off that nobody waits for, so that much of it is done at one go? */

/** Collects items until there are enough of them, or the first has waited long enough. */
export interface Batch<Item> {
  add(item: Item): void;
  /** Works on what waits, now. */
  settle(): void;
}

/** When a batch is full: so many items, or so many milliseconds after the first. */
export interface BatchLimits {
  readonly items: number;
  readonly ms: number;
}

/**
 * A batch that hands its items, in order, to `work`, which must not throw. Code that has just run is several times as quick as
 * code that something else has pushed out of the processor since: the same work, item by item, would cost each request more.
 * What waits when the process ends is lost, unless it is settled then.
 */
export function createBatch<Item>(limits: BatchLimits, work: (items: readonly Item[]) => void): Batch<Item> {
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
