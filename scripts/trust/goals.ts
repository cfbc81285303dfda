/** The figures that docs/trust.md shows first, beside their goals. */

/** The part of a figure that counts. */
export type Take = "sum" | "least" | "greatest";

export interface Goal {
  readonly what: string;
  /** Ids of the tests that count it. */
  readonly of: readonly string[];
  /** Matches what they call it; several figures are put together. */
  readonly figure: RegExp;
  readonly take: Take;
  readonly goal: string;
  /** Undefined where it is enough that it is shown. */
  readonly met: ((value: number) => boolean) | undefined;
}

const none = (value: number): boolean => value === 0;
const some = (least: number) => (value: number) => value >= least;
const below = (most: number) => (value: number) => value < most;
const most = (limit: number) => (value: number) => value <= limit;

export const GOALS: readonly Goal[] = [
  {
    what: "requests per second, passed through",
    of: ["T-LOD-01"],
    figure: /passed through/,
    take: "least",
    goal: "none",
    met: undefined,
  },
  {
    what: "gets per second, translated",
    of: ["T-LOD-02"],
    figure: /^v1 get/,
    take: "least",
    goal: "none",
    met: undefined,
  },
  {
    what: "mixed requests per second (90 gets, 8 lists of 200 records and 2 lists of 2,000)",
    of: ["T-LOD-04"],
    figure: /^mixed requests held$/,
    take: "least",
    goal: "none",
    met: undefined,
  },
  {
    what: "p99 latency of these mixed requests",
    of: ["T-LOD-04"],
    figure: /^mixed requests held, p99/,
    take: "greatest",
    goal: "none",
    met: undefined,
  },
  {
    what: "p99 latency of short calls while long lists saturate carryover, as a multiple of the idle latency",
    of: ["T-LOD-06"],
    figure: /while long lists saturate/,
    take: "greatest",
    goal: "at most 3",
    met: most(3),
  },
  {
    what: "goodput at three times the capacity, mixed requests, as a share of the capacity",
    of: ["T-LOD-05"],
    figure: /^processor, mixed: goodput at three times/,
    take: "least",
    goal: "at least 0.8",
    met: some(0.8),
  },
  {
    what: "goodput at three times the capacity, the lowest of all loads, as a share of the capacity",
    of: ["T-LOD-05"],
    figure: /goodput at three times/,
    take: "least",
    goal: "none",
    met: undefined,
  },
  {
    what: "requests in crowds that were not served by a healthy platform",
    of: ["T-LOD-15"],
    figure: /: not served/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "time to serve a crowd, as a multiple of the time that the platform needs for its pages",
    of: ["T-LOD-15"],
    figure: /: total time beside the ideal$/,
    take: "greatest",
    goal: "at most 1.5",
    met: most(1.5),
  },
  {
    what: "p99 latency of the smallest clients in a crowd, as a multiple of the median",
    of: ["T-LOD-15"],
    figure: /: p99 of the smallest clients/,
    take: "greatest",
    goal: "at most 3",
    met: most(3),
  },
  {
    what: "time to a refusal under overload, p50",
    of: ["T-LOD-05"],
    figure: /time to a refusal, p50/,
    take: "greatest",
    goal: "below 20 ms",
    met: below(20),
  },
  {
    what: "time to recover after overload",
    of: ["T-LOD-05"],
    figure: /until every answer is as before/,
    take: "greatest",
    goal: "below 2,000 ms",
    met: below(2_000),
  },
  {
    what: "faults injected and survived",
    of: ["T-FLT-05", "T-FLT-06", "T-FLT-08", "T-FLT-14", "T-ISO-06", "T-ISO-07", "T-LOD-11", "T-PUT-07", "T-SMG-33"],
    figure:
      /^faults injected|breaks at its second|answered with 503|more than it was asked|cut at a random byte|came too late|broken off after|^hostile answers/,
    take: "sum",
    goal: "at least 100,000",
    met: some(100_000),
  },
  {
    what: "invalid inputs tried",
    of: ["T-SMG-01", "T-SMG-27", "T-SMG-33"],
    figure: /^spoilt requests tried|^requests of (?:the corpus|doubtful end)|^spellings of paths/,
    take: "sum",
    goal: "at least 100,000",
    met: some(100_000),
  },
  {
    what: "crashes caused by invalid input or hostile responses",
    of: ["T-SMG-33"],
    figure: /^crashes/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "responses checked for another client's markers",
    of: ["T-ISO-01", "T-ISO-06", "T-ISO-07", "T-LOD-11"],
    figure: /^answers looked through/,
    take: "sum",
    goal: "at least 1,000,000",
    met: some(1_000_000),
  },
  {
    what: "such markers found",
    of: ["T-ISO-01", "T-ISO-06", "T-ISO-07", "T-FLT-14", "T-LOD-11"],
    figure: /^foreign markers|^answers that reached another/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "secrets found in memory 10 s after the last request",
    of: ["T-ISO-10"],
    figure: /^secrets found/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "records that existed throughout, in lists proved complete during writes",
    of: ["T-DRN-03"],
    figure: /^records in them/,
    take: "sum",
    goal: "at least 2,000,000",
    met: some(2_000_000),
  },
  {
    what: "of these, records lost or repeated",
    of: ["T-DRN-03"],
    figure: /^records (?:lost|shown twice)/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "interleavings of lists and writers tried",
    of: ["T-DRN-32"],
    figure: /^interleavings/,
    take: "sum",
    goal: "at least 662,504",
    met: some(662_504),
  },
  {
    what: "most effects of one interrupted write",
    of: ["T-PUT-07"],
    figure: /^most side effects/,
    take: "greatest",
    goal: "at most 1",
    met: most(1),
  },
  {
    what: "calls to the platform per request, while it responds 503",
    of: ["T-FLT-06"],
    figure: /^amplification/,
    take: "greatest",
    goal: "at most 1.2",
    met: most(1.2),
  },
  {
    what: "success rate when one response in ten is 503",
    of: ["T-FLT-08"],
    figure: /^success with one/,
    take: "least",
    goal: "at least 0.985",
    met: some(0.985),
  },
  {
    what: "calls per request when three responses in ten are 503",
    of: ["T-FLT-08"],
    figure: /^calls for each request, with three/,
    take: "greatest",
    goal: "at most 1.2",
    met: most(1.2),
  },
  {
    what: "bytes lost when stopping under load",
    of: ["T-LOD-07"],
    figure: /^bytes lost/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "repeatable requests that failed during rolling restarts",
    of: ["T-LOD-09"],
    figure: /^of them failed/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "short responses that look whole, after SIGKILL",
    of: ["T-LOD-10"],
    figure: /look whole$/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "memory growth (RSS) in the soak test",
    of: ["T-LOD-11"],
    figure: /^memory slope/,
    take: "greatest",
    goal: "below 1 MB/min",
    met: below(1),
  },
  {
    what: "share of guards whose removal makes a test fail",
    of: ["T-SEC-04"],
    figure: /^share of guards/,
    take: "least",
    goal: "1 (all)",
    met: some(1),
  },
];
