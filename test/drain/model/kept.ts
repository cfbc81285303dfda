import { expect } from "vitest";
import { type Also, explore, type Tally } from "./explore.ts";
import type { Scenario } from "./scenario.ts";
import { limitOf } from "./scenarios.ts";

/** Explores scenarios, up to `limit` runs each, and expects every promise kept. */
export async function kept(scenarios: readonly Scenario[], limit: number, also?: Also): Promise<Tally> {
  const tally = await explore(scenarios, limitOf(limit), also);
  expect([...tally.broken]).toEqual([]);
  return tally;
}
