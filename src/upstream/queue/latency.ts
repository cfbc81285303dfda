/** Do answers take much longer than they did, and would fewer calls at a time help? */

export interface Latency {
  /**
   * Judges an answer that took `ms`, while `limit` calls may be under way. `slow`: no reason to send more at a time;
   * `halve`: so were so many before it that fewer should be under way.
   */
  judge(ms: number, limit: number): "usual" | "slow" | "halve";
}

/** An answer is slow when it takes twice as long as usual, and by so much longer that a person might notice it. */
const SLOW_FACTOR = 2;
const SLOW_MS = 50;
/** How fast `usual` follows: quickly down, so that it is near the least; slowly up, so that a platform's bad hour is no new usual. */
const DOWN = 1 - 1 / 32;
const UP = 1 + 1 / 512;
/** With half the calls, waiting in a queue takes about half as long. What stays above this share was not waiting. */
const HELPED = 0.75;
/** Slow answers, less two for each quick one, that make a case; at least two for each call that may be under way. */
const LEAST = 8;

/**
 * One for each kind of call: what usually takes 150 ms is not slow because something else takes 15.
 *
 * Steps of a fixed ratio make `usual` follow how many answers are longer or shorter, not by how much: no single answer
 * moves it far. The score is a CUSUM: a pause of either side makes all calls under way slow at once, which is half of a case
 * at most, and a mixture of long and short pages never makes one. Slowness that halving does not cure is no queue (the pages
 * are larger, the platform has moved): then it is the new usual, and the limit may grow again. So a false alarm costs one halving.
 */
export function createLatency(): Latency {
  let usual: number | undefined;
  let score = 0;
  let sum = 0;
  let count = 0;
  /** What slow answers took on average when the limit was last halved for them. */
  let before: number | undefined;

  function begin(mean: number | undefined): void {
    score = 0;
    sum = 0;
    count = 0;
    before = mean;
  }

  return {
    judge: (ms, limit) => {
      usual = usual === undefined ? ms : usual * (ms < usual ? DOWN : UP);
      const least = Math.max(LEAST, 2 * limit);
      if (ms <= usual * SLOW_FACTOR || ms < usual + SLOW_MS) {
        score -= 2;
        // After a halving it takes as much to believe that it helped as it took to make the case.
        if (score <= (before === undefined ? 0 : -least)) begin(undefined);
        return "usual";
      }
      score += 1;
      sum += ms;
      count += 1;
      if (score < least) return "slow";
      const mean = sum / count;
      const halve = limit > 1 && (before === undefined || mean < before * HELPED);
      if (!halve) usual = mean;
      begin(halve ? mean : undefined);
      return halve ? "halve" : "usual";
    },
  };
}
