/** May one more call be sent again, seeing how many are under way? */

/** Shared by everything that calls one upstream. */
export interface Budget {
  /** A call begins; the function given back ends it. */
  enter(): () => void;
  /** Takes leave for one repeat; the function given back returns it. Undefined: none is left. */
  repeat(): (() => void) | undefined;
}

export interface BudgetOptions {
  /** Repeats under way at a time, as a share of all calls under way. */
  readonly share: number;
  /** Repeats under way that are always allowed. */
  readonly floor: number;
}

/** 20% of the calls under way, and three in any case: an upstream in trouble is not called much more than before. */
export const DEFAULT_BUDGET: BudgetOptions = { share: 0.2, floor: 3 };

/** A fresh budget; see `Budget`. */
export function createBudget(options: BudgetOptions = DEFAULT_BUDGET): Budget {
  let active = 0;
  let repeats = 0;
  return {
    enter: () => {
      active++;
      return once(() => active--);
    },
    repeat: () => {
      if (repeats >= Math.max(options.floor, Math.floor(active * options.share))) return undefined;
      repeats++;
      return once(() => repeats--);
    },
  };
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
