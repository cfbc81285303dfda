/** Writers that change a platform's records while lists are read. */
import type { Habits } from "./platform.ts";
import { type Dice, newRow, type Row, type Shelf } from "./shelf.ts";

/** Called before each page is cut, and after. */
export type Writers = Pick<Habits, "before" | "after">;

function write(shelf: Shelf, dice: Dice): void {
  const any = (): Row | undefined => shelf.records[dice(shelf.records.length)];
  switch (dice(5)) {
    case 0:
    case 1:
      shelf.add(newRow(dice, shelf.records));
      return;
    case 2:
    case 3:
      shelf.remove(any()?.uid ?? "");
      return;
    default:
      shelf.rename(any()?.uid ?? "", `n${dice(1e9)}`);
  }
}

/** Creates, deletes and renames anywhere, as many of one as of the other; now and then many at once. */
export function anywhere(dice: Dice): Writers {
  const some = (shelf: Shelf) => {
    for (let left = dice(40) === 0 ? 40 : dice(4); left > 0; left--) write(shelf, dice);
  };
  return { before: (_, shelf) => some(shelf), after: (_, shelf) => some(shelf) };
}

/** Deletes at the beginning and creates at the end: what moves every row number, and no total. */
export function leftToRight(dice: Dice): Writers {
  return {
    before: () => {},
    after: (_, shelf) => {
      const last = shelf.records.at(-1)?.uid ?? "f";
      shelf.remove(shelf.records[dice(20)]?.uid ?? "");
      shelf.add({ ...newRow(dice), uid: `${last.slice(0, 40)}~${dice(1e6)}`.replaceAll("~", "z") });
    },
  };
}

/** Deletes the ends of the page that was just read and what came next, and puts others there. */
export function atBorders(dice: Dice): Writers {
  return {
    before: () => {},
    after: (_, shelf, page) => {
      if (dice(3) === 0) return;
      const last = page.rows.at(-1);
      if (last === undefined) return;
      const next = shelf.records[page.start + page.rows.length];
      if (dice(2) === 0) shelf.remove(last.uid);
      if (next !== undefined && dice(2) === 0) shelf.remove(next.uid);
      for (let more = dice(3); more > 0; more--) {
        shelf.add({ ...newRow(dice), uid: `${last.uid.slice(0, 40)}.${dice(1e6)}`, created: last.created });
      }
    },
  };
}
