/** Which figures are shown first, beside what was aimed at? */

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
  readonly met: (value: number) => boolean;
}

const none = (value: number): boolean => value === 0;
const some = (least: number) => (value: number) => value >= least;
const below = (most: number) => (value: number) => value < most;
const most = (limit: number) => (value: number) => value <= limit;

export const GOALS: readonly Goal[] = [
  {
    what: "answers looked through for foreign markers",
    of: ["T-ISO-01", "T-ISO-06", "T-ISO-07", "T-LOD-11"],
    figure: /^answers looked through/,
    take: "sum",
    goal: "1,000,000",
    met: some(1_000_000),
  },
  {
    what: "foreign markers found in them",
    of: ["T-ISO-01", "T-ISO-06", "T-ISO-07", "T-LOD-11"],
    figure: /^foreign markers/,
    take: "sum",
    goal: "0",
    met: none,
  },
  {
    what: "bad inputs tried",
    of: ["T-SMG-33"],
    figure: /^spoilt requests tried/,
    take: "sum",
    goal: "100,000",
    met: some(100_000),
  },
  { what: "crashes by bad input", of: ["T-SMG-33"], figure: /^crashes/, take: "sum", goal: "0", met: none },
  {
    what: "calls of the platform for each call of a client, while it answers 503",
    of: ["T-FLT-06"],
    figure: /amplification|calls .* for each/,
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
    what: "goodput at three times what fits",
    of: ["T-LOD-05"],
    figure: /^goodput/,
    take: "least",
    goal: "0.9 of capacity",
    met: some(0.9),
  },
  {
    what: "growth of memory in the soak",
    of: ["T-LOD-11"],
    figure: /^memory slope/,
    take: "greatest",
    goal: "below 1 MB/min",
    met: below(1),
  },
  {
    what: "guards whose loss a test noticed, of those taken out",
    of: ["T-SEC-04"],
    figure: /^share of guards/,
    take: "least",
    goal: "1 (all)",
    met: some(1),
  },
];
