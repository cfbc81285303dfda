/**
 * Is every row of the catalogue held by something that does not come from the catalogue? Each is changed, one at a time;
 * only fixtures and the comparison with native v1 count as noticing. `npm run mutate` (all) or `MUTATE=group:` (those whose name
 * begins so); `MUTATE_EVERY=20` takes every twentieth, `MUTATE_FIXTURES_ONLY=1` leaves the comparison out, which is slow.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { type Recording, record } from "../comparison/replay.ts";
import { groupScenarios, otherScenarios } from "../comparison/scenarios.ts";
import { mutantsOf } from "./mutants.ts";
import { createHunt, touchedBy } from "./run.ts";

const catalogue = await loadCatalogue("v2beta1");
const wanted = process.env["MUTATE"] ?? "";
const every = Number(process.env["MUTATE_EVERY"] ?? "1");
const fixturesOnly = process.env["MUTATE_FIXTURES_ONLY"] !== undefined;
const share = Number(process.env["MUTATE_SHARE"] ?? "0");

describe("mutants of the catalogue", () => {
  let recordings: readonly Recording[] = [];
  let hunt: ReturnType<typeof createHunt>;
  beforeAll(async () => {
    recordings = fixturesOnly ? [] : await record([...groupScenarios, ...otherScenarios]);
    hunt = createHunt(recordings, await touchedBy(recordings, catalogue));
  }, 600_000);

  test("none goes unnoticed", async () => {
    const all = [...mutantsOf(catalogue)].filter(({ name }) => name.startsWith(wanted));
    const mutants = all.filter((_, index) => index % every === share);
    const unnoticed: string[] = [];
    for (const mutant of mutants) {
      const by = await hunt(mutant);
      if (process.env["MUTATE_TELL"] !== undefined) console.log(`${mutant.name} <- ${by ?? "NOBODY"}`);
      if (by === undefined) unnoticed.push(mutant.name);
    }
    console.log(`mutants: ${mutants.length} of ${all.length} tried, ${unnoticed.length} unnoticed`);
    expect(unnoticed).toEqual([]);
  }, 7_200_000);
});
