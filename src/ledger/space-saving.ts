/** The most frequent names of a stream in bounded memory (Space-Saving: Metwally, Agrawal, El Abbadi 2005). */

/** The counts of one name. Only the summary changes them. */
export interface MonitoredItem {
  readonly name: string;
  /** The name was counted at most this often, and at least `count - over` times. 0: only seen so far, and the first to be dropped. */
  count: number;
  /** How often it may have been counted before it was added: at most `bound()` at that time. */
  over: number;
  /** Grows when it is counted, or seen before it is counted: of names with equal counts the one with the least is dropped. */
  lastUse: number;
  heapIndex: number;
}

export interface SpaceSaving<T extends MonitoredItem> {
  /** Counts `name` once. In a full summary a new name replaces the rarest, and may have been counted as often before. */
  add(name: string): T;
  /**
   * Sees `name` without counting it. In a full summary a new name replaces the one longest unseen among those never counted;
   * undefined when there is none. Counted names keep their rank, however often others are seen.
   */
  see(name: string): T | undefined;
  find(name: string): T | undefined;
  /**
   * Removes a name; does nothing where there is none. It may come back as a new one, and only what is counted from then on is within
   * the bound.
   */
  remove(name: string): void;
  /** Restores an item; does nothing in a full summary. Its name must not be there. */
  load(item: T): void;
  /** From now on `bound()` is at least this. */
  raiseBound(bound: number): void;
  /**
   * No missing name was counted more often; nor was one that is only seen, before it was added. While nothing is loaded, the
   * bound is at most the number of all `add` divided by `max`: the counts add up to that number, so the rarest of `max` has
   * at most that share. Names that are only seen have no part in it.
   */
  bound(): number;
  items(): Iterable<T>;
  readonly size: number;
}

interface SummaryState<T extends MonitoredItem> {
  readonly max: number;
  readonly make: (name: string) => T;
  readonly dropped: (item: T) => void;
  readonly byName: Map<string, T>;
  /** By count, rarest on top. */
  readonly heap: T[];
  bound: number;
  uses: number;
}

/**
 * At most `max` names in a heap by count, rarest on top: a name costs one look-up and at most 2 × log2(max) swaps, usually
 * none or one. `make` creates the item of a new name, `dropped` is called for each that is replaced.
 */
export function createSpaceSaving<T extends MonitoredItem>(
  max: number,
  make: (name: string) => T,
  dropped: (item: T) => void,
): SpaceSaving<T> {
  const state: SummaryState<T> = { max, make, dropped, byName: new Map(), heap: [], bound: 0, uses: 0 };
  return {
    add: (name) => count(state, name),
    see: (name) => see(state, name),
    find: (name) => state.byName.get(name),
    remove(name) {
      const item = state.byName.get(name);
      if (item !== undefined) takeOut(state, item);
    },
    load(item) {
      if (state.heap.length < max) insert(state, item);
    },
    raiseBound(bound) {
      state.bound = Math.max(state.bound, bound);
    },
    bound: () => state.bound,
    items: () => state.heap,
    get size() {
      return state.heap.length;
    },
  };
}

function count<T extends MonitoredItem>(state: SummaryState<T>, name: string): T {
  const known = state.byName.get(name);
  const item = known ?? state.make(name);
  if (known === undefined && state.heap.length >= state.max) makeRoom(state);
  if (item.count === 0) {
    // Not counted since it was added; before, at most as often as any missing name.
    item.over = state.bound;
    item.count = state.bound;
  }
  item.count += 1;
  if (known === undefined) insert(state, item);
  else touch(state, item);
  return item;
}

function see<T extends MonitoredItem>(state: SummaryState<T>, name: string): T | undefined {
  const known = state.byName.get(name);
  if (known !== undefined) {
    // Being seen gives no rank to a name that was counted.
    if (known.count === 0) touch(state, known);
    return known;
  }
  if (state.heap.length >= state.max) {
    const rarest = state.heap[0];
    if (rarest === undefined || rarest.count > 0) return undefined;
    makeRoom(state);
  }
  const item = state.make(name);
  insert(state, item);
  return item;
}

function touch<T extends MonitoredItem>(state: SummaryState<T>, item: T): void {
  state.uses += 1;
  item.lastUse = state.uses;
  sink(state.heap, item.heapIndex);
}

function insert<T extends MonitoredItem>(state: SummaryState<T>, item: T): void {
  state.uses += 1;
  item.lastUse = state.uses;
  state.byName.set(item.name, item);
  rise(state.heap, state.heap.push(item) - 1);
}

function makeRoom<T extends MonitoredItem>(state: SummaryState<T>): void {
  const rarest = state.heap[0];
  if (rarest === undefined) return;
  takeOut(state, rarest);
  state.bound = Math.max(state.bound, rarest.count);
}

function takeOut<T extends MonitoredItem>({ heap, byName, dropped }: SummaryState<T>, item: T): void {
  const last = heap.pop();
  if (last === undefined) return;
  byName.delete(item.name);
  if (last !== item) {
    const at = put(heap, item.heapIndex, last);
    sink(heap, at);
    rise(heap, last.heapIndex);
  }
  dropped(item);
}

function isRarer(a: MonitoredItem, b: MonitoredItem): boolean {
  return a.count < b.count || (a.count === b.count && a.lastUse < b.lastUse);
}

function put<T extends MonitoredItem>(heap: T[], at: number, item: T): number {
  heap[at] = item;
  item.heapIndex = at;
  return at;
}

/** Moves the item at `at` up while it is rarer than what is above it. */
function rise<T extends MonitoredItem>(heap: T[], from: number): void {
  const item = heap[from];
  if (item === undefined) return;
  let at = from;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above];
    if (other === undefined || !isRarer(item, other)) break;
    put(heap, at, other);
    at = above;
  }
  put(heap, at, item);
}

/** Moves the item at `at` down while something below it is rarer. */
function sink<T extends MonitoredItem>(heap: T[], from: number): void {
  const item = heap[from];
  if (item === undefined) return;
  let at = from;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const rarer = left !== undefined && right !== undefined && isRarer(right, left) ? right : left;
    if (rarer === undefined || !isRarer(rarer, item)) break;
    const below = rarer.heapIndex;
    put(heap, at, rarer);
    at = below;
  }
  put(heap, at, item);
}
