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
    what: "requests a second that pass through",
    of: ["T-LOD-01"],
    figure: /passed through/,
    take: "least",
    goal: "to be published",
    met: undefined,
  },
  {
    what: "translated gets a second",
    of: ["T-LOD-02"],
    figure: /^v1 get/,
    take: "least",
    goal: "to be published",
    met: undefined,
  },
  {
    what: "mixed requests a second (90 gets to 8 lists of 200 and 2 of 2,000)",
    of: ["T-LOD-04"],
    figure: /^mixed requests held$/,
    take: "least",
    goal: "to be published",
    met: undefined,
  },
  {
    what: "p99 of them",
    of: ["T-LOD-04"],
    figure: /^mixed requests held, p99/,
    take: "greatest",
    goal: "to be published",
    met: undefined,
  },
  {
    what: "p99 of short calls while long lists saturate, as a multiple of idle",
    of: ["T-LOD-06"],
    figure: /p99 while long lists/,
    take: "greatest",
    goal: "3 at most",
    met: most(3),
  },
  {
    what: "goodput at three times the capacity, mixed requests, as a share of it",
    of: ["T-LOD-05"],
    figure: /^processor, mixed: goodput at three times/,
    take: "least",
    goal: "0.8 at least",
    met: some(0.8),
  },
  {
    what: "goodput at three times the capacity, the least of all loads",
    of: ["T-LOD-05"],
    figure: /goodput at three times/,
    take: "least",
    goal: "to be published",
    met: undefined,
  },
  {
    what: "requests of crowds before a healthy platform that were not served",
    of: ["T-LOD-15"],
    figure: /: not served/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "time of a crowd, as a multiple of what the platform's own pages take",
    of: ["T-LOD-15"],
    figure: /: total time beside the ideal$/,
    take: "greatest",
    goal: "1.5 at most",
    met: most(1.5),
  },
  {
    what: "p99 of the smallest clients of a crowd, as a multiple of the median",
    of: ["T-LOD-15"],
    figure: /: p99 of the smallest clients/,
    take: "greatest",
    goal: "3 at most",
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
    what: "milliseconds from the end of overload until all is as before",
    of: ["T-LOD-05"],
    figure: /until every answer is as before/,
    take: "greatest",
    goal: "below 2,000",
    met: below(2_000),
  },
  {
    what: "faults injected, each survived",
    of: ["T-FLT-05", "T-FLT-06", "T-FLT-08", "T-FLT-14", "T-ISO-06", "T-ISO-07", "T-LOD-11", "T-PUT-07", "T-SMG-33"],
    figure:
      /^faults injected|breaks at its second|answered with 503|more than it was asked|cut at a random byte|came too late|broken off after|^hostile answers/,
    take: "sum",
    goal: "100,000 at least",
    met: some(100_000),
  },
  {
    what: "bad inputs tried",
    of: ["T-SMG-01", "T-SMG-27", "T-SMG-33"],
    figure: /^spoilt requests tried|^requests of (?:the corpus|doubtful end)|^spellings of paths/,
    take: "sum",
    goal: "100,000 at least",
    met: some(100_000),
  },
  {
    what: "crashes by bad input or hostile answers",
    of: ["T-SMG-33"],
    figure: /^crashes/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "answers looked through for foreign markers",
    of: ["T-ISO-01", "T-ISO-06", "T-ISO-07", "T-LOD-11"],
    figure: /^answers looked through/,
    take: "sum",
    goal: "1,000,000 at least",
    met: some(1_000_000),
  },
  {
    what: "foreign markers found in them",
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
    what: "records that stayed, in lists proved complete while others wrote",
    of: ["T-DRN-03"],
    figure: /^records in them/,
    take: "sum",
    goal: "2,000,000 at least",
    met: some(2_000_000),
  },
  {
    what: "records of them lost or shown twice",
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
    goal: "662,504 at least",
    met: some(662_504),
  },
  {
    what: "most effects of one write that broke off",
    of: ["T-PUT-07"],
    figure: /^most side effects/,
    take: "greatest",
    goal: "1 at most",
    met: most(1),
  },
  {
    what: "calls of the platform for each request, while it answers 503",
    of: ["T-FLT-06"],
    figure: /^amplification/,
    take: "greatest",
    goal: "1.2 at most",
    met: most(1.2),
  },
  {
    what: "success with one answer in ten 503",
    of: ["T-FLT-08"],
    figure: /^success with one/,
    take: "least",
    goal: "0.985 at least",
    met: some(0.985),
  },
  {
    what: "calls for each request, with three answers in ten 503",
    of: ["T-FLT-08"],
    figure: /^calls for each request, with three/,
    take: "greatest",
    goal: "1.2 at most",
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
    what: "repeatable requests that failed in rolling restarts",
    of: ["T-LOD-09"],
    figure: /^of them failed/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "short answers that look whole, after SIGKILL",
    of: ["T-LOD-10"],
    figure: /look whole$/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "growth of memory (RSS) in the soak",
    of: ["T-LOD-11"],
    figure: /^memory slope/,
    take: "greatest",
    goal: "below 1 MB/min",
    met: below(1),
  },
  {
    what: "share of guards whose removal a test noticed",
    of: ["T-SEC-04"],
    figure: /^share of guards/,
    take: "least",
    goal: "1 (all)",
    met: some(1),
  },
];
