/** Do the calls of the comparison do what their names say, before anything translates them? */

import { directly } from "./harness.ts";
import { compareScenario } from "./run.ts";
import { groupScenarios, newScenarios, otherScenarios } from "./scenarios.ts";

const untranslated = { name: "untranslated", second: {} };

for (const scenario of [...groupScenarios, ...otherScenarios, ...newScenarios])
  compareScenario(directly, untranslated, scenario);
