/** Chance that the true share lies above the bound. */
const RISK = 0.05;
/** Terms below this share of the sum change no digit of it. */
const NEGLIGIBLE = 1e-17;
/** From this count on the series is as exact as the sum, which would take a term for each. */
const MANY = 100_000;
/** What a standard normal variable exceeds with a chance of 5 %. */
const Z = 1.6448536269514722;

/**
 * One-sided 95 % upper bound of the share of comparisons that differ, from 0 to 1, after `differences` in `comparisons`; 1
 * without a comparison. It is the largest Poisson mean that shows so few differences in 5 % of cases, divided by the
 * comparisons: 2.996/n without a difference (the rule of three). It is never below the binomial (Clopper-Pearson) bound, and
 * practically equal to it for small shares.
 */
export function upperBound(differences: number, comparisons: number): number {
  if (!(comparisons > 0)) return 1;
  if (!(differences < comparisons)) return 1;
  return Math.min(1, largestMean(Math.max(0, Math.floor(differences))) / comparisons);
}

/** The mean at which a Poisson variable is at most `count` with a chance of 5 %, to the last digits. */
function largestMean(count: number): number {
  if (count >= MANY) return largeMean(count);
  // The mean is always below this upper end, and the chance falls with the mean: bisection.
  let [low, high] = [count, count + 3 + 2.8 * Math.sqrt(count)];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (chanceOfAtMost(count, middle) > RISK) low = middle;
    else high = middle;
  }
  return high;
}

/** For a large `count`: a quantile of the gamma distribution of shape `count` + 1, by the Cornish-Fisher expansion. */
function largeMean(count: number): number {
  const shape = count + 1;
  const root = Math.sqrt(shape);
  const third = (Z ** 3 - 7 * Z) / 36 / root;
  const fourth = (3 * Z ** 4 + 7 * Z ** 2 - 16) / 810 / shape;
  return shape + Z * root + (Z ** 2 - 1) / 3 + third - fourth;
}

/** The chance that a Poisson variable of `mean` (above `count`) is at most `count`: the sum of its terms, largest first. */
function chanceOfAtMost(count: number, mean: number): number {
  let sum = 1;
  let term = 1;
  for (let i = count; i > 0 && term > NEGLIGIBLE * sum; i--) {
    term *= i / mean;
    sum += term;
  }
  return sum * Math.exp(count * Math.log(mean) - mean - logFactorial(count));
}

/** The logarithm of `n`!; from 20 on by Stirling's series, which is exact to 15 digits there. */
function logFactorial(n: number): number {
  if (n >= 20) {
    const [inverse, square] = [1 / n, 1 / (n * n)];
    const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)));
    return (n + 0.5) * Math.log(n) - n + Math.log(2 * Math.PI) / 2 + series;
  }
  let sum = 0;
  for (let i = 2; i <= n; i++) sum += Math.log(i);
  return sum;
}
