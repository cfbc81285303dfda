/**
 * Can a v1 client tell native v1 from carryover over v2? (Design section 9.)
 * Calls written by hand, answers compared, then, after a write, both stores. There is no list of exceptions.
 */
import { startCarryover } from "../support/carryover.ts";
import { compareScenario, startTally } from "./run.ts";
import { groupScenarios, otherScenarios } from "./scenarios.ts";

const tally = startTally("comparison");

for (const variant of [
  { name: "v2 as specified", second: {} },
  { name: "v2 leaves zeros out", second: { omitZeros: true } },
]) {
  for (const scenario of [...groupScenarios, ...otherScenarios])
    compareScenario(startCarryover, variant, scenario, tally);
}
