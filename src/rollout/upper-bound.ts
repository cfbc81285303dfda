/**
 * A bound for the share of comparisons that differ, which holds however often one looks at it: with a chance of 95 % the true share
 * lies below every bound from the first comparison to the last. A bound for a fixed number of comparisons does not: evaluated after
 * each of 5,000 comparisons, it is wrong at least once in 23 % of cases.
 *
 * The test is a mixture e-process (Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", 2023). If the true
 * share is `rate` or more, betting on a smaller share multiplies a stake of 1 by a factor whose mean is at most 1 for each
 * comparison. By Ville's inequality the stake ever reaches 1/risk with a chance of at most `risk`.
 */

/** The chance that the true share ever lies above the bound. */
export const RISK = 0.05;

/**
 * The smaller shares that are bet on, as parts of `rate`, and how much of the stake each gets. Most is on 0: a translation is
 * usually right or wrong. The others keep the bound near the observed share where some comparisons differ for good.
 */
const BETS: readonly (readonly [part: number, stake: number])[] = [
  [0, 0.4],
  [0.15, 0.3],
  [0.4, 0.2],
  [0.75, 0.1],
];

/**
 * The evidence that less than `rate` of all comparisons differ, as the natural logarithm of the stake: above `-log(risk)` it is
 * enough. `rate`: above 0 and below 1.
 */
export function evidenceBelow(rate: number, differences: number, comparisons: number): number {
  const equal = comparisons - differences;
  const logs = BETS.map(([part, stake]) => {
    const perDifference = differences === 0 ? 0 : differences * Math.log(part);
    return Math.log(stake) + perDifference + equal * (Math.log1p(-part * rate) - Math.log1p(-rate));
  });
  const largest = Math.max(...logs);
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
}

/** True when the bound is below `rate`, without working out the bound. */
export function isBelow(rate: number, differences: number, comparisons: number, risk = RISK): boolean {
  if (!(comparisons > 0 && differences < comparisons && rate > 0)) return false;
  if (rate >= 1) return upperBound(differences, comparisons, risk) < rate;
  return evidenceBelow(rate, Math.max(0, differences), comparisons) > -Math.log(risk);
}

/** More than anybody waits for. */
const MOST_COMPARISONS = 1e9;

/** How many comparisons bring the bound below `rate` if no further one differs; infinite for more than anybody waits for. */
export function comparisonsNeeded(rate: number, differences: number, risk = RISK): number {
  let [few, enough] = [differences, differences + 1];
  while (!isBelow(rate, differences, enough, risk)) {
    if (enough > MOST_COMPARISONS) return Number.POSITIVE_INFINITY;
    [few, enough] = [enough, 2 * enough];
  }
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2);
    if (isBelow(rate, differences, middle, risk)) enough = middle;
    else few = middle;
  }
  return enough;
}

/**
 * The upper bound of the share of comparisons that differ, from 0 to 1: the smallest rate that the evidence excludes; 1 without a
 * comparison. About 3.7/n after n comparisons without a difference.
 */
export function upperBound(differences: number, comparisons: number, risk = RISK): number {
  if (!(comparisons > 0 && differences < comparisons)) return 1;
  const counted = Math.max(0, differences);
  const enough = -Math.log(risk);
  let [low, high] = [0, 1];
  for (let step = 0; step < 1100; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (evidenceBelow(middle, counted, comparisons) > enough) high = middle;
    else low = middle;
  }
  return high;
}
