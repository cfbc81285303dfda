/** Runs many explorations, and counts the kept promises and the outcomes of lists. */
import type { Witness } from "../../../src/model/exchange.ts";
import { type Choices, exploreAll, sample } from "./choices.ts";
import { brokenPromises, claimOf, lostIn } from "./judge.ts";
import { runDrain } from "./run.ts";
import type { Scenario, Trace } from "./scenario.ts";

/** What was seen in many runs. */
export interface Tally {
  runs: number;
  /** Scenarios whose every possible run was made, and all scenarios. */
  exhausted: number;
  scenarios: number;
  /** Whole lists, by what they claimed; streamed ones by their floor. */
  readonly lists: Record<Witness, number>;
  streamed: number;
  /** Runs that ended with a Problem. */
  problems: number;
  /** Lists that lost a record in silence; each of them must claim less than `cover`. */
  lost: number;
  /** Runs in which several pages were under way at a time. */
  parallel: number;
  /** Runs in which the client left. */
  left: number;
  /** Broken promises by kind: how often, and the shortest run that shows it. */
  readonly broken: Map<string, { times: number; shortest: Failure }>;
}

/** A run that broke a promise, step by step, with the choices that repeat it. */
export interface Failure {
  readonly what: readonly string[];
  readonly start: string;
  readonly declared: string;
  readonly steps: readonly string[];
  readonly choices: readonly number[];
}

/** What is asked of a run beyond the promises of every run: words for what was broken. */
export type Also = (trace: Trace) => readonly string[];

/**
 * Every run of each scenario, if they are at most `limit`; of a scenario that has more, `limit` of them and as many found by
 * seeds, so that all of its depth is tried and not only one corner.
 */
export async function explore(scenarios: readonly Scenario[], limit: number, also: Also = () => []): Promise<Tally> {
  const tally = emptyTally();
  for (const [number, scenario] of scenarios.entries()) {
    const run = async (choices: Choices): Promise<void> => {
      const trace = await runDrain(scenario, choices);
      note(tally, trace, [...brokenPromises(trace), ...also(trace)], choices.taken);
    };
    const { complete } = await exploreAll(run, limit);
    tally.scenarios += 1;
    if (complete) tally.exhausted += 1;
    for (let i = 0; i < limit && !complete; i += 1) await run(sample(number * 1_000_003 + i));
  }
  return tally;
}

function emptyTally(): Tally {
  return {
    runs: 0,
    exhausted: 0,
    scenarios: 0,
    lists: { cover: 0, count: 0, none: 0 },
    streamed: 0,
    problems: 0,
    lost: 0,
    parallel: 0,
    left: 0,
    broken: new Map(),
  };
}

function note(tally: Tally, trace: Trace, what: readonly string[], choices: readonly number[]): void {
  const claim = trace.left === undefined ? claimOf(trace) : undefined;
  tally.runs += 1;
  if (claim !== undefined) {
    tally.lists[claim] += 1;
    if (lostIn(trace).length > 0) tally.lost += 1;
  }
  if (trace.result?.kind === "long") tally.streamed += 1;
  if (trace.error !== undefined) tally.problems += 1;
  if (trace.most.atOnce > 1) tally.parallel += 1;
  if (trace.left !== undefined) tally.left += 1;
  for (const words of what) keep(tally, words, failureOf(trace, what, choices));
}

function failureOf(trace: Trace, what: readonly string[], choices: readonly number[]): Failure {
  const { scenario, steps, out } = trace;
  const told = [...steps, `list ${out.join("")}`, `there throughout ${[...trace.persistent].join("")}`];
  return { what, start: scenario.start, declared: scenario.declared, steps: told, choices: [...choices] };
}

function keep(tally: Tally, words: string, failure: Failure): void {
  const kind = words.split(":")[0] ?? words;
  const known = tally.broken.get(kind);
  const shorter = known === undefined || failure.steps.length < known.shortest.steps.length;
  tally.broken.set(kind, { times: (known?.times ?? 0) + 1, shortest: shorter ? failure : known.shortest });
}

/** Every list over `universe` with at least `least` records. */
export function listsOver(universe: string, least: number): readonly string[] {
  const lists = Array.from({ length: 2 ** universe.length }, (_, set) =>
    [...universe].filter((_key, i) => (set >> i) & 1).join(""),
  );
  return lists.filter((list) => list.length >= least);
}
