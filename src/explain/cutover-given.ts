/** Who would serve what, as a rules file and the configuration have it? (For the command: nothing was learnt yet.) */
import type { Config } from "../config.ts";
import { createBucket } from "../control/bucket.ts";
import { createControl } from "../control/control.ts";
import { createIdentity } from "../ledger/identity.ts";
import type { Rules } from "../model/rules.ts";
import { unclear } from "./request.ts";
import type { ExplainCutover } from "./rule.ts";

/** At the instant `at`, milliseconds since 1970, in a carryover that has just been started. */
export function cutoverGiven(config: Config, rules: Rules | undefined, at: number): ExplainCutover {
  const { mode, salt } = config.cutover;
  const bucketOf = createBucket(salt);
  const wall = () => at;
  return {
    control: createControl({ rules, mode, bucketOf, wall, told: () => {} }),
    bucketOf,
    nameOf: createIdentity({ ...config.clients, key: salt }).nameOf,
    wall,
  };
}

/** A day, or a day and a time; UTC unless it says otherwise, as in rules. Throws `Problem` INVALID_REQUEST. */
export function instantOf(text: string): number {
  const [, day, time = "T00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const at = Date.parse(`${day}${time}${zone}`);
  // Date.parse takes the 30th of February for a day in March.
  const real =
    day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (Number.isNaN(at) || !real) {
    throw unclear(`--at: ${JSON.stringify(text)} is no instant; expected one such as 2026-12-01 or 2026-12-01T09:30Z`);
  }
  return at;
}
