/**
 * Checks that every row of the catalogue is covered by something that does not come from the catalogue. Each is
 * changed, one at a time; only fixtures and the comparison with native v1 count as detecting it.
 * `npm run real -- mutation` tries all, `MUTATE=group:` those whose name begins so. `MUTATE_EVERY=20` takes every
 * twentieth, `MUTATE_TELL=1` prints what detected each.
 */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { record } from "../end-to-end/comparison/replay.ts";
import { scenarios } from "../end-to-end/comparison/scenarios.ts";
import { firstDifference } from "../fixtures/run.ts";
import { mutantsOf } from "./mutants.ts";
import { createHunt } from "./run.ts";

const catalogue = await loadCatalogue("v2beta1");
const wanted = process.env["MUTATE"] ?? "";
const every = Number(process.env["MUTATE_EVERY"] ?? "1");
const share = Number(process.env["MUTATE_SHARE"] ?? "0");

const hunt = createHunt(catalogue, () => Promise.all(scenarios.map((scenario) => record(scenario))));

describe("mutants of the catalogue", () => {
  test("as it is, no fixture speaks against it", async () => {
    expect(await firstDifference(catalogue)).toBeUndefined();
    // The hunt asks those of one resource alone: one that cannot be kept so would notice every mutant.
    for (const { name } of catalogue.resources) expect(await firstDifference(catalogue, name)).toBeUndefined();
  });

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
