/** What does the platform hold before anybody called it? */
import type { Context } from "../context.ts";
import { createBuilder } from "./build.ts";
import { seedFleet, seedGroups } from "./groups.ts";
import { createRandom } from "./prng.ts";

/** Uids worth naming in documentation, tests and curl lines; a function of the seed alone. */
export interface WellKnown {
  /** The organisation `acme`: verified, more than 1,000 groups. */
  readonly rootGroup: string;
  /** Another organisation, to see what a scoped caller must not see. */
  readonly otherRootGroup: string;
  /** A team with ten groups below it. */
  readonly someGroup: string;
  /** A group with nothing in it: it can be deleted. */
  readonly emptyGroup: string;
}

/** Fills the store. */
export function seedStore(context: Context): WellKnown {
  const { seed, size, organisation } = context.settings;
  const build = createBuilder(createRandom(seed));
  const groups = seedGroups(build, organisation);
  context.store.collection("groups").load([...groups.records, ...seedFleet(build, groups.root, size)]);
  return {
    rootGroup: groups.root,
    otherRootGroup: groups.otherRoot,
    someGroup: groups.teams[0] ?? groups.root,
    emptyGroup: groups.leaves.at(-1) ?? groups.otherRoot,
  };
}
