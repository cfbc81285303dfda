/** Does carryover in memory answer as native v1, and does the hunt notice a mutant? */
import { expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { record } from "../comparison/replay.ts";
import { groupScenarios } from "../comparison/scenarios.ts";
import { mutantsOf } from "./mutants.ts";
import { createHunt, touchedBy } from "./run.ts";

const catalogue = await loadCatalogue("v2beta1");

test("the catalogue as it is differs from native v1 nowhere, and a wrong row is noticed by a fixture and by a call", async () => {
  const recordings = await record(groupScenarios.slice(6, 11));
  const prepare = () => touchedBy(recordings, catalogue);
  const mutant = [...mutantsOf(catalogue)].find(({ name }) => name === "group: names: items renamed");
  expect(mutant && (await createHunt(prepare)(mutant))).toContain("fixture");
  const withoutFixtures = createHunt(prepare, async () => undefined);
  expect(mutant && (await withoutFixtures(mutant))).toContain("groups");
}, 60_000);
