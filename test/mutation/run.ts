/**
 * Finds mutants that no test detects. The fixtures run first, those of the mutant's own resource before the others. The
 * rest is left to the comparison, whose scenarios are replayed in memory.
 */

import type { SandboxOptions } from "../../sandbox/src/options.ts";
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { createRouter } from "../../src/router/router.ts";
import { inMemory, type StartFront } from "../end-to-end/comparison/harness.ts";
import { type Noticed, type Recording, replay } from "../end-to-end/comparison/replay.ts";
import { firstDifference } from "../fixtures/run.ts";
import { frontOf } from "../support/front.ts";
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

/**
 * Says by which fixture or call a mutant of `catalogue` is noticed; undefined when by none. For each resource the attempts are tried
 * in an order of its own, the one that noticed last first: neighbours are mostly noticed by the same calls. `record`: the scenarios
 * of the comparison, recorded when a mutant first gets past the fixtures.
 */
export function createHunt(
  catalogue: Catalogue,
  record: () => Promise<readonly Recording[]>,
  ask: AskFixtures = askFixtures,
) {
  const orders = new Map<string, Attempt[]>();
  const isSound = createSoundness(catalogue);
  let recorded: Promise<readonly Recording[]> | undefined;
  const orderOf = async (resource: string): Promise<Attempt[]> => {
    recorded ??= record();
    const order = orders.get(resource) ?? attemptsFor(resource, await recorded, catalogue);
    orders.set(resource, order);
    return order;
  };
  return async (mutant: Mutant): Promise<string | undefined> => {
    const changed = mutant.make();
    let front: StartFront;
    try {
      const difference = await ask(changed, mutant.resource);
      if (difference !== undefined) return `fixture: ${difference}`;
      front = inMemory(frontOf(changed));
    } catch (error) {
      // The translation cannot even be built: the process would not start.
      return `not built: ${error}`;
    }
    const order = await orderOf(mutant.resource);
    for (const [index, attempt] of order.entries()) {
      const noticed = await replay(attempt.recording, front, attempt.second);
      if (noticed === undefined) continue;
      await isSound(attempt);
      order.splice(index, 1);
      order.unshift(attempt);
      return `${noticed.scenario}: ${noticed.call}`;
    }
    return undefined;
  };
}

/** Rejects for an attempt at which the catalogue as it is differs from native v1, too: it tells nothing of mutants. */
function createSoundness(catalogue: Catalogue): (attempt: Attempt) => Promise<void> {
  const front = inMemory(frontOf(catalogue));
  const found = new Map<Attempt, Promise<Noticed | undefined>>();
  return async (attempt) => {
    const known = found.get(attempt) ?? replay(attempt.recording, front, attempt.second);
    found.set(attempt, known);
    const noticed = await known;
    if (noticed !== undefined) throw new Error(`without any mutant: ${JSON.stringify(noticed)}`);
  };
}

/** Those that ask anything of the resource come first, short ones before long ones; the others too, for rows that several resources share. */
function attemptsFor(resource: string, recordings: readonly Recording[], catalogue: Catalogue): Attempt[] {
  const { resources, natives, version } = catalogue;
  const route = createRouter({ resources, natives, version, extraPrefixes: [] });
  const asks = ({ calls }: Recording): boolean =>
    calls.some(({ call, path, answer }) => {
      // A path that v1 does not have may have no route either.
      if (answer.status !== 200) return false;
      const routed = route(call.method, path);
      return routed.kind === "match" && routed.match.resource.name === resource;
    });
  const far = new Map(recordings.map((recording) => [recording, asks(recording) ? 0 : 1]));
  const cost = ({ recording }: Attempt): number => (far.get(recording) ?? 1) * 1e6 + recording.calls.length;
  const attempts = recordings.flatMap((recording) => VARIANTS.map((second) => ({ recording, second })));
  return attempts.toSorted((a, b) => cost(a) - cost(b));
}
