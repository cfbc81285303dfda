/** What does a call cost, compared with the usual one? (That costs about 1.) */

/** `short`: one call, or the first page of a list. `page`: a further page. `background`: only where places are idle. */
export type Kind = "short" | "page" | "background";

/** Estimates for calls that begin, by kind. */
export type Costs = Record<Kind, number>;

export interface Cost {
  /** What calls of each kind cost lately, whoever makes them. */
  readonly usual: Costs;
  /** A call of `kind` held its place for `ms` and made `work`; gives its cost. `own`: the estimates of its credential. */
  ended(kind: Kind, ms: number, work: number, own: Costs): number;
}

/** How fast estimates follow: those of one credential, and those of all. */
const OWN = 1 / 8;
const ALL = 1 / 64;
/** A slow call takes a place, but nothing of the processor: the number of places bounds what it can do to others. */
const MOST_TIMES = 16;

/**
 * Short work goes before long, between credentials as well: what a response takes of the processor is charged so many times. A
 * credential that reads long lists keeps at least one part in so many of what equal shares would give it.
 */
const LONG = 8;

export function createCost(): Cost {
  const usual: Costs = { short: 1, page: 1, background: 1 };
  const counts: Costs = { short: 0, page: 0, background: 0 };
  let usualMs = 0;
  let count = 0;
  return {
    usual,
    ended(kind, ms, work, own) {
      count += 1;
      usualMs += (ms - usualMs) * Math.max(ALL, 1 / count);
      const times = usualMs > 0 ? Math.min(MOST_TIMES, ms / usualMs) : 1;
      const cost = times + work * LONG;
      counts[kind] += 1;
      usual[kind] += (cost - usual[kind]) * Math.max(ALL, 1 / counts[kind]);
      own[kind] += (cost - own[kind]) * OWN;
      return cost;
    },
  };
}
