/** May one more call be sent again, seeing how many were made? */

/** Shared by everything that calls one upstream. */
export interface Budget {
  /** A call that is no repeat begins. */
  called(): void;
  /** Takes leave for one repeat; the function given back says that it is over. Undefined: none is left. */
  repeat(): (() => void) | undefined;
}

export interface BudgetOptions {
  /** Repeats, as a share of all calls that are none. */
  readonly share: number;
  /** Repeats under way that are always allowed: where there is little traffic, a share of it is nothing. */
  readonly floor: number;
}

/** 20% of the calls, and three at a time in any case: an upstream in trouble is not called much more than before. */
export const DEFAULT_BUDGET: BudgetOptions = { share: 0.2, floor: 3 };

/**
 * What good times leave for the moment in which all open connections break; and what is owed at most for repeats that were
 * allowed in any case. Counted in calls, not in time: a platform that is slow must not be repeated more.
 */
const MOST = 100;

/** A fresh budget; see `Budget`. */
export function createBudget({ share, floor }: BudgetOptions = DEFAULT_BUDGET): Budget {
  let left = 0;
  let underWay = 0;
  return {
    called: () => {
      left = Math.min(MOST, left + share);
    },
    repeat: () => {
      // A sum of fifths is a little less than one at times.
      if (left < 1 - 1e-9 && underWay >= floor) return undefined;
      left = Math.max(-MOST, left - 1);
      underWay++;
      let done = false;
      return () => {
        if (!done) underWay--;
        done = true;
      };
    },
  };
}
