/** Chooses what happens next in a run: every possibility in turn, or a seeded sample. */
import { randomOf } from "../../support/random.mjs";

/** Asked at each fork of a run; the same answers make the same run. */
export interface Choices {
  /** A number below `options`. A sample takes 0 with probability `first` (uniformly, when it is left out). */
  choose(options: number, first?: number): number;
  /** Everything chosen so far: what repeats this run. */
  readonly taken: readonly number[];
}

/** What an exploration went through. */
export interface Explored {
  readonly runs: number;
  /** True when no other run is possible. */
  readonly complete: boolean;
}

/** Every run of `run`, by starting again and again and changing the last fork that has something left; at most `limit`. */
export async function exploreAll(run: (choices: Choices) => Promise<void>, limit: number): Promise<Explored> {
  let prefix: readonly number[] | undefined = [];
  let runs = 0;
  while (prefix !== undefined && runs < limit) {
    const forks: number[] = [];
    const taken: number[] = [];
    const before: readonly number[] = prefix;
    await run({
      taken,
      choose: (options) => {
        const pick = before[taken.length] ?? 0;
        if (pick >= options) throw new Error(`fork ${taken.length} has ${options} ways now, not more than ${pick}`);
        forks.push(options);
        taken.push(pick);
        return pick;
      },
    });
    runs += 1;
    prefix = following(taken, forks);
  }
  return { runs, complete: prefix === undefined };
}

function following(taken: readonly number[], forks: readonly number[]): readonly number[] | undefined {
  const last = taken.findLastIndex((pick, i) => pick + 1 < (forks[i] ?? 0));
  return last < 0 ? undefined : [...taken.slice(0, last), (taken[last] ?? 0) + 1];
}

/** One run out of all, found by its seed. */
export function sample(seed: number): Choices {
  const random = randomOf(seed);
  const taken: number[] = [];
  const choose = (options: number, first = 1 / options): number => {
    const drawn = random();
    const pick = options < 2 || drawn < first ? 0 : 1 + Math.floor(((drawn - first) / (1 - first)) * (options - 1));
    taken.push(pick);
    return pick;
  };
  return { choose, taken };
}
