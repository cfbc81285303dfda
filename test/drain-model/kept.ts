/** Are all promises kept in every run, and how many runs were that? */
import { afterAll, expect } from "vitest";
import { type Also, explore, summaryOf, type Tally } from "./explore.ts";
import type { Scenario } from "./scenario.ts";
import { limitOf } from "./scenarios.ts";

/**
 * Promises that are known to be broken, so that a new break shows at once; each goes from here when the drain is mended.
 * Page one beside pages asked for on a guess, a repair, and a first reading that was given up are read beside a full set of
 * readers. Where every last page has a token, and tokens may be anything, the end is looked for again and again.
 */
const UNMENDED: ReadonlySet<string> = new Set(["more pages at a time than readers", "asks for too many pages"]);

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
    expect([...tally.broken].filter(([kind]) => !UNMENDED.has(kind))).toEqual([]);
    return tally;
  };
}
