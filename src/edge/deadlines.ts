/** Ends requests whose time is over. */

/** A request with a deadline. It is its own place in a ring, so a deadline costs no further object. */
export class Timed {
  readonly startedAt: number;
  /** When its client gives it up; Infinity: never. */
  readonly clientAt: number;
  /** Since when it has `lifeMs`: when it began, or when something of it last moved. */
  aliveAt: number;
  /** Milliseconds. */
  lifeMs: number;
  /** Its time was over. */
  isLate = false;
  next: Timed = this;
  previous: Timed = this;
  /** Who looks at it, once it has left the ring. */
  sweep: Sweep<Timed> | undefined = undefined;

  /** Milliseconds on the clock of the deadlines. */
  constructor(startedAt: number, lifeMs: number, clientAt: number) {
    this.startedAt = startedAt;
    this.clientAt = clientAt;
    this.aliveAt = startedAt;
    this.lifeMs = lifeMs;
  }

  dueAt(): number {
    return this.isLate ? Number.POSITIVE_INFINITY : Math.min(this.clientAt, this.aliveAt + this.lifeMs);
  }

  insertBefore(next: Timed): void {
    this.next = next;
    this.previous = next.previous;
    next.previous.next = this;
    next.previous = this;
  }

  /** It is over: it leaves those that are watched. */
  clear(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
    this.sweep?.delete(this);
    this.sweep = undefined;
  }
}

export type Deadlines<T extends Timed> = ReturnType<typeof createDeadlines<T>>;

/**
 * Calls `expire` for a request when its time is over, unless it is cleared before. Those that have `usualMs` come to their end in the
 * order in which they began, so one ring and one timer are enough. A timer for each request would cost more than the rest of its
 * supervision. `now`: a clock in milliseconds.
 */
export function createDeadlines<T extends Timed>(usualMs: number, now: () => number, expire: (one: T) => void) {
  const ring = new Timed(Number.POSITIVE_INFINITY, 0, 0);
  const end = (one: Timed): void => {
    one.isLate = true;
    // Only `add` puts one among them.
    expire(one as T);
  };
  // Clients that want their request to end earlier, and requests that go on while something moves.
  const sweep = createSweep<Timed>(now, (one) => one.dueAt(), end);
  let timer: NodeJS.Timeout | undefined;
  const leaveRing = (one: Timed): void => {
    one.clear();
    one.sweep = sweep;
    sweep.add(one);
  };
  const look = (): void => {
    timer = undefined;
    const at = now();
    for (let first = ring.next; first.startedAt + usualMs <= at; first = ring.next) {
      const isOver = first.dueAt() <= at;
      if (isOver) first.isLate = true;
      leaveRing(first);
      if (isOver) end(first);
    }
    if (ring.next !== ring) wait(ring.next, at);
  };
  const wait = ({ startedAt }: Timed, at: number): void => {
    // The connections of requests keep the process running, where it should.
    timer = setTimeout(look, Math.max(1, startedAt + usualMs - at)).unref();
  };
  return {
    add(one: T): void {
      if (one.clientAt < one.startedAt + usualMs) {
        leaveRing(one);
        return;
      }
      one.insertBefore(ring);
      if (timer === undefined) wait(one, one.startedAt);
    },
    /** Sets the time that `one` has from now on. */
    change(one: T, lifeMs: number): void {
      one.aliveAt = now();
      one.lifeMs = lifeMs;
      if (lifeMs < usualMs || one.sweep !== undefined) leaveRing(one);
    },
    /** Those that are open, late ones included. */
    all(): T[] {
      const all = [...sweep.all];
      for (let one = ring.next; one !== ring; one = one.next) all.push(one);
      return all as T[];
    },
  };
}

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
