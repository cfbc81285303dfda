/**
 * Can a v1 client tell native v1 from carryover over v2? (Design section 9.)
 * Calls written by hand, answers compared, then both stores, after every call. There is no list of exceptions.
 */
import { startCarryover } from "../support/carryover.ts";
import { compareScenario, type Variant } from "./run.ts";
import { groupScenarios, otherScenarios } from "./scenarios.ts";

const PLAIN: Variant = { name: "v2 as specified", second: {} };
const WITHOUT_ZEROS: Variant = { name: "v2 leaves zeros out", second: { omitZeros: true } };
const GROUPS_ONLY: readonly Variant[] = [
  { name: "tokens that are offsets", second: { tokens: "offset" } },
  { name: "skip is ignored", second: { ignoreSkip: true, omitTotalCount: true } },
  { name: "masks in snake case", second: { maskSpelling: "snake_case" } },
  { name: "masks in camel case", second: { maskSpelling: "camelCase" } },
];

for (const variant of [PLAIN, WITHOUT_ZEROS]) {
  for (const scenario of [...groupScenarios, ...otherScenarios]) compareScenario(startCarryover, variant, scenario);
}
for (const variant of GROUPS_ONLY) {
  for (const scenario of groupScenarios) compareScenario(startCarryover, variant, scenario);
}
// Both spellings of a mask differ only in what identities and role bindings have.
for (const maskSpelling of ["snake_case", "camelCase"] as const) {
  for (const scenario of otherScenarios.filter(({ name }) => name.includes("replacing"))) {
    compareScenario(startCarryover, { name: `masks in ${maskSpelling}`, second: { maskSpelling } }, scenario);
  }
}
