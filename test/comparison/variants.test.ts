/** Can a v1 client tell of what kind the platform's v2 is? */
import { startCarryover } from "../support/carryover.ts";
import { compareScenario, type Variant } from "./run.ts";
import { groupScenarios, otherScenarios } from "./scenarios.ts";

const MASKS: readonly Variant[] = [
  { name: "masks in snake case", second: { maskSpelling: "snake_case" } },
  { name: "masks in camel case", second: { maskSpelling: "camelCase" } },
];
const LISTS: readonly Variant[] = [
  { name: "tokens that are offsets", second: { tokens: "offset" } },
  { name: "skip is ignored and nothing counted", second: { ignoreSkip: true, omitTotalCount: true } },
];

for (const variant of [...LISTS, ...MASKS]) {
  for (const scenario of groupScenarios) compareScenario(startCarryover, variant, scenario);
}
// A group's mask is spelled alike in both ways; identities and role bindings have members that are not.
for (const variant of MASKS) {
  for (const scenario of otherScenarios.filter(({ name }) => name.includes("replacing"))) {
    compareScenario(startCarryover, variant, scenario);
  }
}
