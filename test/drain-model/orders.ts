/** What becomes of windows over an order that has ties, or that changes? Every interleaving, by brute force. */
import { equalityAndEnd, isWhole, type Page, windowsFor, withoutTwice } from "./rules.ts";

/** Records by id, with the key that they are ordered by. */
export type Records = ReadonlyMap<number, number>;

/** A page of ids, with the count that came along. */
export interface CountedPage extends Page {
  readonly total: number;
}

export interface OrderVerdict {
  runs: number;
  accepted: number;
  violations: number;
}

export interface OrderSpace {
  readonly starts: readonly Records[];
  readonly size: number;
  readonly writes: number;
  /** Every page that the platform may answer: several, where it may break ties as it likes. */
  readonly read: (records: Records, skip: number, size: number) => readonly CountedPage[];
  /** Every write, with the id of the record that is gone by it. */
  readonly events: (records: Records) => readonly { readonly records: Records; readonly gone?: number }[];
  readonly accept: Accept;
}

/** The list that is accepted; undefined when none is. `total` is what page one counted. */
export type Accept = (windows: readonly CountedPage[], total: number) => readonly number[] | undefined;

/** Also every count must be the first one, and be met. */
export const counted: Accept = (windows, total) => {
  const out = withoutTwice(windows);
  return out?.length === total && windows.every((page) => page.total === total) ? out : undefined;
};

export const byEquality: Accept = equalityAndEnd;
export const byEqualityOnce: Accept = withoutTwice;

/** Tries every interleaving of `space`. */
export function exploreOrders(space: OrderSpace): OrderVerdict {
  const verdict = { runs: 0, accepted: 0, violations: 0 };
  for (const start of space.starts) {
    for (const first of space.read(start, 0, space.size)) {
      const windows: (CountedPage | undefined)[] = Array.from({ length: windowsFor(start.size, space.size) });
      windows[0] = first;
      step({ space, verdict, windows, total: start.size }, start, new Set(start.keys()), space.writes);
    }
  }
  return verdict;
}

interface Walk {
  readonly space: OrderSpace;
  readonly verdict: OrderVerdict;
  readonly windows: (CountedPage | undefined)[];
  readonly total: number;
}

function step(walk: Walk, records: Records, persistent: ReadonlySet<number>, writes: number): void {
  const { windows, space } = walk;
  if (!windows.includes(undefined)) {
    judge(walk, persistent);
    return;
  }
  for (let place = 1; place < windows.length; place += 1) {
    if (windows[place] !== undefined) continue;
    for (const page of space.read(records, place * (space.size - 1), space.size)) {
      windows[place] = page;
      step(walk, records, persistent, writes);
    }
    windows[place] = undefined;
  }
  if (writes === 0) return;
  for (const event of space.events(records)) {
    const left = new Set(persistent);
    if (event.gone !== undefined) left.delete(event.gone);
    step(walk, event.records, left, writes - 1);
  }
}

function judge(walk: Walk, persistent: ReadonlySet<number>): void {
  walk.verdict.runs += 1;
  const out = walk.space.accept(
    walk.windows.filter((page) => page !== undefined),
    walk.total,
  );
  if (out === undefined) return;
  walk.verdict.accepted += 1;
  if (!isWhole(out, persistent)) walk.verdict.violations += 1;
}

/** The one page of an order without ties: by key, equal keys by id. */
export function readInOrder(records: Records, skip: number, size: number): readonly CountedPage[] {
  const ids = [...records].toSorted(([a, left], [b, right]) => left - right || a - b).map(([id]) => id);
  return [cut(ids, skip, size)];
}

/** Every page that a platform may answer which breaks ties anew in each query. */
export function readWithTies(records: Records, skip: number, size: number): readonly CountedPage[] {
  const keys = [...new Set(records.values())].toSorted((a, b) => a - b);
  const groups = keys.map((key) => [...records].flatMap(([id, own]) => (own === key ? [id] : [])).toSorted());
  const orders = groups.reduce<readonly number[][]>(
    (before, group) => before.flatMap((ids) => permutations(group).map((order) => [...ids, ...order])),
    [[]],
  );
  return orders.map((ids) => cut(ids, skip, size));
}

function cut(ids: readonly number[], skip: number, size: number): CountedPage {
  return { items: ids.slice(skip, skip + size), end: skip + size >= ids.length, total: ids.length };
}

function permutations(ids: readonly number[]): readonly number[][] {
  if (ids.length < 2) return [[...ids]];
  return ids.flatMap((id, i) => permutations(ids.toSpliced(i, 1)).map((rest) => [id, ...rest]));
}
