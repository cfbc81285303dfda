/** Which scenarios are there? */
import type { Scenario } from "./call.ts";
import { readingGroups } from "./groups-read.calls.ts";

/** Those of groups, which are run against every kind of upstream. */
export const groupScenarios: readonly Scenario[] = [...readingGroups];

/** Those of everything else. */
export const otherScenarios: readonly Scenario[] = [];
