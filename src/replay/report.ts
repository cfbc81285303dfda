/** The results of a replay, judged. */

import type { SourceCount } from "./source.ts";
import { type CountedReason, type OperationCount, type ReplayCause, type ReplayTally, ranked } from "./tally.ts";

export type ReplayVerdictWord = "equal" | "different" | "unknown";

/** As `--json` prints it. */
export interface ReplayReport {
  readonly version: string;
  readonly v1: string;
  readonly v2: string;
  readonly files: readonly string[];
  /** `unknown`: nothing was compared, too much could not be, or the replay stopped. */
  readonly verdict: ReplayVerdictWord;
  /** Why it stopped before its end. */
  readonly stopped?: string;
  /** In the files. `left`: requests that a recording says it lacks. */
  readonly recorded: {
    readonly requests: number;
    readonly selected: number;
    readonly left: number;
    readonly formats: readonly string[];
  };
  readonly compared: number;
  readonly differing: number;
  /** Compared requests in which native v1 differs from itself. */
  readonly noisy: number;
  readonly passing: number;
  readonly refused: number;
  /** How often the platform asked the replay to slow down. */
  readonly slowed: number;
  /** Worst first. */
  readonly differences: readonly ReplayCause[];
  /** Differences that cannot be told from noise: native v1 differs from itself in the same way. */
  readonly undecided: readonly ReplayCause[];
  readonly noise: ReplayTally["noise"];
  readonly operations: readonly OperationCount[];
  readonly clients: ReplayTally["clients"];
  readonly notCompared: readonly CountedReason[];
  readonly notReplayed: readonly CountedReason[];
  readonly notRead: readonly CountedReason[];
}

export interface ReportFacts {
  readonly version: string;
  readonly v1: string;
  readonly v2: string;
  readonly files: readonly string[];
  readonly count: SourceCount;
  readonly tally: ReplayTally;
  readonly slowed: number;
  readonly stopped: string | undefined;
}

/** More of the requests must not be left without a result. */
const MAX_NOT_COMPARED = 0.01;
/** Chance of taking noise for a difference, at each place. */
const ALPHA = 0.001;

export function createReplayReport({
  version,
  v1,
  v2,
  files,
  count,
  tally,
  slowed,
  stopped,
}: ReportFacts): ReplayReport {
  const found = ranked(tally.causes.filter(({ requests }) => requests > 0));
  const differences = found.filter(isCertain);
  const notCompared = tally.failed.reduce((sum, reason) => sum + reason.count, 0);
  const known = tally.compared > 0 && stopped === undefined && notCompared <= MAX_NOT_COMPARED * count.selected;
  return {
    version,
    v1,
    v2,
    files,
    verdict: differences.length > 0 ? "different" : known ? "equal" : "unknown",
    ...(stopped === undefined ? {} : { stopped }),
    recorded: {
      requests: count.requests,
      selected: count.selected,
      left: count.left,
      formats: [...count.formats].sort(),
    },
    compared: tally.compared,
    differing: tally.differing,
    noisy: tally.noisy,
    passing: tally.passing,
    refused: tally.refused,
    slowed,
    differences,
    undecided: found.filter((cause) => !isCertain(cause)),
    noise: tally.noise.toSorted((a, b) => b.requests - a.requests),
    operations: tally.operations.toSorted((a, b) => b.differing - a.differing || b.compared - a.compared),
    clients: tally.clients.toSorted((a, b) => b.differing - a.differing || b.compared - a.compared),
    notCompared: tally.failed,
    notReplayed: count.skipped,
    notRead: count.unread,
  };
}

/**
 * A faithful translation and native's own second response are alike: where native is unsteady, each of them differs alone equally often. So the
 * translation differs really if it does so much more often than native (a sign test), or native never did.
 */
export function isCertain({ requests, unstable }: Pick<ReplayCause, "requests" | "unstable">): boolean {
  return unstable === 0 || atLeast(requests, requests + unstable) < ALPHA;
}

/** The probability of at least `count` heads of `all` tosses. */
function atLeast(count: number, all: number): number {
  // Logarithms, since the numbers of combinations are large.
  let term = -all * Math.LN2;
  let sum = 0;
  for (let heads = 0; heads <= all; heads++) {
    if (heads >= count) sum += Math.exp(term);
    term += Math.log(all - heads) - Math.log(heads + 1);
  }
  return Math.min(1, sum);
}

/** 0 equal, 1 different, 2 not known. */
export function exitCodeOf({ verdict }: Pick<ReplayReport, "verdict">): number {
  return { equal: 0, different: 1, unknown: 2 }[verdict];
}
