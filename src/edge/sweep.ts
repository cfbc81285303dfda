/** One timer for everything that may be over in time: a timer for each call would cost more than the rest of its supervision. */

/** Between two looks at everything. */
const LEAST_MS = 1;
const MOST_MS = 2 ** 31 - 1;

/** Things whose time may move on while they wait. */
export type Sweep<T> = ReturnType<typeof createSweep<T>>;

/** Calls `expire` when `dueAt` has passed on the clock `now`, at each look again until `dueAt` is later or the thing is gone. */
export function createSweep<T>(now: () => number, dueAt: (one: T) => number, expire: (one: T) => void) {
  const all = new Set<T>();
  let timer: NodeJS.Timeout | undefined;
  let lookAt = Number.POSITIVE_INFINITY;
  const wait = (due: number): void => {
    clearTimeout(timer);
    lookAt = due;
    // Connections keep the process running, where it should.
    timer = setTimeout(look, Math.min(MOST_MS, Math.max(LEAST_MS, Math.ceil(due - now())))).unref();
  };
  const look = (): void => {
    lookAt = Number.POSITIVE_INFINITY;
    const time = now();
    let next = Number.POSITIVE_INFINITY;
    for (const one of all) {
      if (dueAt(one) <= time) expire(one);
      else next = Math.min(next, dueAt(one));
    }
    if (next < lookAt) wait(next);
  };
  return {
    add(one: T): void {
      all.add(one);
      const due = dueAt(one);
      if (due < lookAt) wait(due);
    },
    delete: (one: T): void => void all.delete(one),
    all,
  };
}
