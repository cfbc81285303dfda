/** Since when the contributors to one store have missed nothing together: the time of one goes on where that of another ends. */
import { LONGEST_GAP } from "../ledger/ledger.ts";

/** Milliseconds since 1970. */
export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** The start of the time without a gap that ends with the latest of `intervals`; undefined without any. A gap as short as that of a restart is none. */
export function coveredSince(intervals: readonly Interval[]): number | undefined {
  return joined(intervals).at(-1)?.from;
}

/** The times in order, as few as possible: those that touch, or nearly so, become one. */
export function joined(intervals: readonly Interval[]): readonly Interval[] {
  const sorted = intervals.filter(({ from, until }) => from <= until).toSorted((a, b) => a.from - b.from);
  const all: Interval[] = [];
  for (const one of sorted) {
    const last = all.at(-1);
    if (last === undefined || one.from > last.until + LONGEST_GAP) all.push(one);
    else all[all.length - 1] = { from: last.from, until: Math.max(last.until, one.until) };
  }
  return all;
}
