/**
 * Which mutants does nobody notice? The fixtures are asked first, those of the mutant's own resource before the others; what they
 * do not notice is left to the comparison, whose scenarios are replayed in memory.
 */
import type { Catalogue } from "../../src/catalogue.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type MemoryFront, type Recording, replay } from "../comparison/replay.ts";
import { firstDifference } from "../fixtures/run.ts";
import { frontOf } from "./front.ts";
import type { Mutant } from "./mutants.ts";

/** What the second platform does otherwise, in ways that v1 clients must not notice: each shows what the other hides. */
const VARIANTS: readonly SandboxOptions[] = [{}, { omitZeros: true }];

interface Attempt {
  readonly recording: Recording;
  readonly second: SandboxOptions;
}

/** What a catalogue says otherwise than the fixtures, those of `resource` first; undefined when nothing. */
type AskFixtures = (catalogue: Catalogue, resource: string) => Promise<string | undefined>;

const askFixtures: AskFixtures = async (catalogue, resource) =>
  (await firstDifference(catalogue, resource)) ?? (await firstDifference(catalogue));

/** What the scenarios of the comparison were answered by native v1, and of which resources each asks. */
export type Prepared = ReadonlyMap<Recording, ReadonlySet<string>>;

/**
 * Says by which fixture or call a mutant is noticed; undefined when by none. For each resource the attempts are tried in an order of
 * its own, the one that noticed last first: neighbours are mostly noticed by the same calls. `prepare`: the comparison, recorded
 * when a mutant first gets past the fixtures.
 */
export function createHunt(prepare: () => Promise<Prepared>, ask: AskFixtures = askFixtures) {
  const orders = new Map<string, Attempt[]>();
  let prepared: Promise<Prepared> | undefined;
  return async (mutant: Mutant): Promise<string | undefined> => {
    const catalogue = mutant.make();
    let front: MemoryFront;
    try {
      const difference = await ask(catalogue, mutant.resource);
      if (difference !== undefined) return `fixture: ${difference}`;
      front = frontOf(catalogue);
    } catch (error) {
      // The translation cannot even be built: the process would not start.
      return `not built: ${error}`;
    }
    prepared ??= prepare();
    const order = orders.get(mutant.resource) ?? attemptsFor(mutant.resource, await prepared);
    orders.set(mutant.resource, order);
    for (const [index, attempt] of order.entries()) {
      const noticed = await replay([attempt.recording], front, attempt.second);
      if (noticed === undefined) continue;
      order.splice(index, 1);
      order.unshift(attempt);
      return `${noticed.scenario}: ${noticed.call}`;
    }
    return undefined;
  };
}

/** Those that ask anything of the resource come first; the others too, for rows that several resources share. */
function attemptsFor(resource: string, touched: Prepared): Attempt[] {
  const near = (recording: Recording): number => (touched.get(recording)?.has(resource) === true ? 0 : 1);
  const attempts = VARIANTS.flatMap((second) => [...touched.keys()].map((recording) => ({ recording, second })));
  return attempts.toSorted((a, b) => near(a.recording) - near(b.recording));
}

/** Which resources each recording asks of. Throws when the catalogue as it is differs from native v1: then nothing can be told of mutants. */
export async function touchedBy(recordings: readonly Recording[], catalogue: Catalogue): Promise<Prepared> {
  const touched = new Map<Recording, ReadonlySet<string>>();
  for (const recording of recordings) {
    const resources = new Set<string>();
    for (const second of VARIANTS) {
      const front = frontOf(catalogue, ({ resource }) => resources.add(resource));
      const noticed = await replay([recording], front, second);
      if (noticed !== undefined) throw new Error(`without any mutant: ${JSON.stringify(noticed)}`);
    }
    touched.set(recording, resources);
  }
  return touched;
}
