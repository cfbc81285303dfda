import { expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { record } from "../end-to-end/comparison/replay.ts";
import { groupScenarios } from "../end-to-end/comparison/scenarios.ts";
import { mutantsOf } from "./mutants.ts";
import { createHunt } from "./run.ts";

const catalogue = await loadCatalogue("v2beta1");

test("a wrong row is noticed by a fixture and by a call", async () => {
  const recordings = () => Promise.all(groupScenarios.slice(6, 11).map((scenario) => record(scenario)));
  const mutant = [...mutantsOf(catalogue)].find(({ name }) => name === "group: names: items renamed");
  expect(mutant && (await createHunt(catalogue, recordings)(mutant))).toContain("fixture");
  const withoutFixtures = createHunt(catalogue, recordings, async () => undefined);
  expect(mutant && (await withoutFixtures(mutant))).toContain("groups");
}, 60_000);
