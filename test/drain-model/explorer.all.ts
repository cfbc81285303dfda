/** Would the exploration see a drain that breaks its promises? */
import { describe, expect, it } from "vitest";
import { again } from "./choices.ts";
import { explore, listsOver, type Tally } from "./explore.ts";
import { brokenPromises } from "./judge.ts";
import { naiveCursor, naiveWindows } from "./naive.ts";
import type { Style } from "./platform.ts";
import { runDrain } from "./run.ts";
import type { MakeDrains, Scenario } from "./scenario.ts";

const MEASURES = { pageSize: 2, readers: 3, overlap: 1, windowRecords: 100, segmentPages: 2, bufferBytes: 1e6 };

function scenario(make: MakeDrains, start: string, style: Style, more: Partial<Scenario> = {}): Scenario {
  const rest = { measures: MEASURES, declared: "keyset", universe: "abcde", writes: 1, as: "whole" } as const;
  return { make, start, style, ...rest, ...more };
}

async function exploreOver(make: MakeDrains, style: Style, more: Partial<Scenario> = {}): Promise<Tally> {
  const starts = listsOver("abcde", 3).filter((list) => list.length < 5);
  return explore(
    starts.map((start) => scenario(make, start, style, more)),
    2_000,
  );
}

describe("the exploration", () => {
  it("finds that equal borders alone lose the last record, and the shortest run that shows it", async () => {
    const { broken } = await exploreOver(naiveWindows, { tokens: "keyset" });
    expect(broken.get("claims cover and lost")?.shortest.steps).toEqual([
      "ask 2",
      "answer 2 of abd",
      "ask 2 skip 1",
      "insert c",
      "answer 2 skip 1 of abcd",
      "list abc",
      "there throughout abd",
    ]);
  });

  it("repeats a run from its choices", async () => {
    const { broken } = await exploreOver(naiveWindows, { tokens: "keyset" });
    const failure = broken.get("claims cover and lost")?.shortest;
    const trace = await runDrain(
      scenario(naiveWindows, failure?.start ?? "", { tokens: "keyset" }),
      again(failure?.choices ?? []),
    );
    expect(brokenPromises(trace)).toEqual(failure?.what);
  });

  it("finds that a cursor whose tokens count records loses one to a delete before it", async () => {
    const { broken } = await exploreOver(naiveCursor, { tokens: "offset" });
    expect([...broken.keys()].filter((kind) => kind.startsWith("claims cover and lost"))).not.toEqual([]);
  });

  it("finds nothing to say against a cursor whose tokens are places in the order", async () => {
    const tally = await exploreOver(naiveCursor, { tokens: "keyset" }, { writes: 2 });
    expect(tally.broken).toEqual(new Map());
    expect(tally.exhausted).toBe(tally.scenarios);
  });

  it("finds that such a cursor never ends when a token leads to itself", async () => {
    const { broken } = await exploreOver(naiveCursor, { tokens: "keyset", faults: ["same"], faultBudget: 99 });
    expect([...broken.keys()]).toContain("it does not end");
  });
});
