/** Which names come most often, when there is no room for all of them? (Space-Saving: Metwally, Agrawal, El Abbadi 2005.) */

/** What is counted of one name. Only the summary changes it. */
export interface Counted {
  readonly name: string;
  /** Times it came, at least: it came at most this often, and at least `count - over` times. */
  count: number;
  /** What it may have come before it got its place: at most `bound()` at that time. */
  over: number;
  /** Grows with every use: of names with one count the one longest unused makes room. */
  touched: number;
  /** Where it is in the heap. */
  place: number;
}

export interface SpaceSaving<T extends Counted> {
  /** Counts `name` once. In a full summary a new name takes the place of the rarest, and may have come as often before. */
  add(name: string): T;
  find(name: string): T | undefined;
  /** Takes in what was counted before; nothing when there is no room. `name` must not be there. */
  load(item: T): void;
  /** From now on `bound()` is at least this. */
  raiseBound(bound: number): void;
  /**
   * No name without a place came more often. While nothing is loaded it is at most the number of all `add` divided by
   * `max`: the counts add up to that number, so the rarest of `max` has at most that share.
   */
  bound(): number;
  items(): Iterable<T>;
  readonly size: number;
}

interface State<T extends Counted> {
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
 * At most `max` names in a heap by count, rarest on top: an `add` costs one look-up and at most log2(max) swaps, usually
 * none or one. `make` gives the item of a new name, `dropped` hears of each that makes room.
 */
export function createSpaceSaving<T extends Counted>(
  max: number,
  make: (name: string) => T,
  dropped: (item: T) => void,
): SpaceSaving<T> {
  const state: State<T> = { max, make, dropped, byName: new Map(), heap: [], bound: 0, uses: 0 };
  return {
    add: (name) => countAgain(state, name) ?? begin(state, name),
    find: (name) => state.byName.get(name),
    load(item) {
      if (state.heap.length < max) place(state, item);
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

function countAgain<T extends Counted>(state: State<T>, name: string): T | undefined {
  const known = state.byName.get(name);
  if (known === undefined) return undefined;
  state.uses += 1;
  known.touched = state.uses;
  known.count += 1;
  sink(state.heap, known.place);
  return known;
}

function begin<T extends Counted>(state: State<T>, name: string): T {
  if (state.heap.length >= state.max) makeRoom(state);
  const item = state.make(name);
  item.over = state.bound;
  item.count = state.bound + 1;
  place(state, item);
  return item;
}

function place<T extends Counted>(state: State<T>, item: T): void {
  state.uses += 1;
  item.touched = state.uses;
  state.byName.set(item.name, item);
  rise(state.heap, state.heap.push(item) - 1);
}

function makeRoom<T extends Counted>(state: State<T>): void {
  const { heap, byName, dropped } = state;
  const rarest = heap[0];
  const last = heap.pop();
  if (rarest === undefined || last === undefined) return;
  byName.delete(rarest.name);
  if (last !== rarest) sink(heap, put(heap, 0, last));
  state.bound = Math.max(state.bound, rarest.count);
  dropped(rarest);
}

function isRarer(a: Counted, b: Counted): boolean {
  return a.count < b.count || (a.count === b.count && a.touched < b.touched);
}

function put<T extends Counted>(heap: T[], at: number, item: T): number {
  heap[at] = item;
  item.place = at;
  return at;
}

/** Moves the item at `at` up while it is rarer than what is above it. */
function rise<T extends Counted>(heap: T[], from: number): void {
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
function sink<T extends Counted>(heap: T[], from: number): void {
  const item = heap[from];
  if (item === undefined) return;
  let at = from;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const rarer = left !== undefined && right !== undefined && isRarer(right, left) ? right : left;
    if (rarer === undefined || !isRarer(rarer, item)) break;
    const below = rarer.place;
    put(heap, at, rarer);
    at = below;
  }
  put(heap, at, item);
}
