/** The records of a platform in their order, and which of them existed all the time. */
import type { Listed } from "../../support/platform-pages.ts";
import { randomOf } from "../../support/random.mjs";

/** One record. Its uid never changes; its name may. */
export interface Row {
  readonly uid: string;
  readonly name: string;
  /** When it was made: higher is later. */
  readonly created: number;
}

/** Negative: `a` comes first. Zero: a tie. */
export type Order = (a: Row, b: Row) => number;

export const byUid: Order = (a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0);
/** Newest first, as group invites come; ties by uid. */
export const newestFirst: Order = (a, b) => b.created - a.created || byUid(a, b);
/** What existed when it was made, and was not deleted since. */
export interface Watch {
  /** In the order of the beginning; ends the watch. */
  persistent(): readonly string[];
}

/** A list that changes under its readers; its tokens remember a whole row, as its order may be any. */
export interface Shelf extends Listed<Row> {
  /** False when there is one of this uid. */
  add(row: Row): boolean;
  /** False when there is none. */
  remove(uid: string): boolean;
  rename(uid: string, name: string): boolean;
  watch(): Watch;
}

export function createShelf(first: readonly Row[], order: Order = byUid): Shelf {
  const rows = first.toSorted(order);
  const known = new Map(rows.map((row) => [row.uid, row]));
  const watched = new Set<Set<string>>();
  const rankAfter = (row: Row): number => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (order(rows[middle]!, row) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const place = (row: Row): void => {
    known.set(row.uid, row);
    rows.splice(rankAfter(row), 0, row);
  };
  const take = (uid: string): Row | undefined => {
    const row = known.get(uid);
    if (row === undefined) return undefined;
    known.delete(uid);
    rows.splice(rankAfter(row) - 1, 1);
    return row;
  };
  return {
    records: rows,
    mark: JSON.stringify,
    after: (mark) => rankAfter(JSON.parse(mark) as Row),
    add: (row) => {
      if (known.has(row.uid)) return false;
      place(row);
      return true;
    },
    remove: (uid) => {
      if (take(uid) === undefined) return false;
      for (const deleted of watched) deleted.add(uid);
      return true;
    },
    rename: (uid, name) => {
      const row = take(uid);
      if (row !== undefined) place({ ...row, name });
      return row !== undefined;
    },
    watch: () => {
      const uids = rows.map((row) => row.uid);
      const deleted = new Set<string>();
      watched.add(deleted);
      return {
        persistent: () => {
          watched.delete(deleted);
          return deleted.size === 0 ? uids : uids.filter((uid) => !deleted.has(uid));
        },
      };
    },
  };
}

/** Whole numbers from 0 to `below` - 1; the same ones for the same seed. */
export type Dice = (below: number) => number;

export function createDice(seed: number): Dice {
  const random = randomOf(seed);
  return (below) => Math.floor(random() * below);
}

const MARKS = "0123456789abcdef0123456789abcdef0123456789abcdef-_.AZ";

function segment(dice: Dice, length: number): string {
  let text = "abcdef"[dice(6)]!;
  while (text.length < length) text += MARKS[dice(MARKS.length)];
  return text;
}

/** A new uid: at the root, or below one of `parents`. */
function newUid(dice: Dice, parents: readonly Row[] = []): string {
  const parent = dice(8) === 0 ? undefined : parents[dice(parents.length)];
  return parent === undefined
    ? segment(dice, 24)
    : `${parent.uid.split("/").slice(0, 2).join("/")}/${segment(dice, 16)}`;
}

export function newRow(dice: Dice, parents: readonly Row[] = []): Row {
  return { uid: newUid(dice, parents), name: `n${dice(1e9)}`, created: dice(1e9) };
}

const made = new Map<string, readonly Row[]>();

/** `count` records in order of uid, the same ones for the same seed; not to be changed. */
export function rowsOf(count: number, seed = 1): readonly Row[] {
  const key = `${count} ${seed}`;
  const rows = made.get(key) ?? makeRows(count, seed).toSorted(byUid);
  made.set(key, rows);
  return rows;
}

function makeRows(count: number, seed: number): readonly Row[] {
  const dice = createDice(seed);
  const rows: Row[] = [];
  const seen = new Set<string>();
  while (rows.length < count) {
    const row = newRow(dice, rows);
    if (seen.has(row.uid)) continue;
    seen.add(row.uid);
    rows.push(row);
  }
  return rows;
}
