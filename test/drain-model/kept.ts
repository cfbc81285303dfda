/** Are all promises kept in every run, and how many runs were that? */
import { afterAll, expect } from "vitest";
import { type Also, explore, summaryOf, type Tally } from "./explore.ts";
import type { Scenario } from "./scenario.ts";
import { limitOf } from "./scenarios.ts";

/** Explores scenarios, up to `limit` runs each, and expects every promise kept; `name` is for the report. */
export type Kept = (name: string, scenarios: readonly Scenario[], limit: number, also?: Also) => Promise<Tally>;

/** For one test file: prints what was explored when its tests are over. */
export function keeper(): Kept {
  const report: string[] = [];
  const total = { runs: 0 };
  afterAll(() => console.log([...report, `${total.runs} runs in all`].join("\n")));
  return async (name, scenarios, limit, also) => {
    const tally = await explore(scenarios, limitOf(limit), also);
    total.runs += tally.runs;
    report.push(`${name}: ${summaryOf(tally)}`);
    expect([...tally.broken]).toEqual([]);
    return tally;
  };
}
