import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { exploreChains } from "./chains.ts";
import { comparator, comparatorAndEnd, containmentAndEnd, equalityAndEnd, literalClaim } from "./rules.ts";
import { exploreWindows, type Space } from "./windows.ts";

describe("T-DRN-32: windows in any order, inserts and deletes anywhere", () => {
  it.each([
    ["the literal claim", literalClaim],
    ["the comparator rule", comparator],
  ])("%s without a proof of the end loses the last record to one insert before it", (_, rule) => {
    const [verdict] = exploreWindows({ keys: 6, size: 2, writes: 1, first: true }, [rule]);
    expect(verdict?.example).toEqual({
      start: [0, 1, 3],
      steps: ["read w0 (0,1)", "ins 2", "read w1 (1,2)"],
      out: [0, 1, 2],
      persistent: [0, 1, 3],
    });
  });

  const spaces: readonly (readonly [Space, number, readonly [number, number, number]])[] = [
    [{ keys: 6, size: 2, writes: 3 }, 233_891, [28_689, 33_214, 42_738]],
    [{ keys: 6, size: 3, writes: 3 }, 7_450, [1_634, 2_142, 2_466]],
    [{ keys: 5, size: 2, writes: 4 }, 109_681, [11_411, 13_227, 16_976]],
    [{ keys: 5, size: 3, writes: 4 }, 4_711, [1_027, 1_251, 1_363]],
    [{ keys: 6, size: 3, writes: 4 }, 47_626, [8_628, 11_256, 13_058]],
  ];

  it.each(spaces)(
    "%o: no violation of any rule with a proof of the end in %i interleavings",
    (space, runs, accepted) => {
      const verdicts = exploreWindows(space, [equalityAndEnd, containmentAndEnd, comparatorAndEnd]);
      expect(verdicts).toEqual(accepted.map((some) => ({ runs, accepted: some, violations: 0, example: undefined })));
    },
  );

  it("these are 403,359 interleavings, 51,389 of them accepted by equality", () => {
    expect(sum(spaces.map(([, runs]) => runs))).toBe(403_359);
    expect(sum(spaces.map(([, , [equality]]) => equality))).toBe(51_389);
    figure("T-DRN-32", "interleavings of windows and writers, all of them kept the rules", 403_359, "interleavings");
  });
});

describe("T-DRN-32: stitched chains, advancing in any order, inserts and deletes anywhere", () => {
  const spaces = [
    [{ keys: 6, size: 2, writes: 2, skips: [0, 3] }, 6_496],
    [{ keys: 6, size: 2, writes: 2, skips: [0, 2, 4] }, 15_412],
    [{ keys: 7, size: 2, writes: 3, skips: [0, 4] }, 237_277],
  ] as const;

  it.each(spaces)("%o: no violation in %i interleavings when tokens are places in the order", (space, runs) => {
    expect(exploreChains({ ...space, tokens: "keyset" })).toEqual({ runs, violations: 0, example: undefined });
  });

  it.each(spaces.slice(0, 2))("%o: tokens that count records lose some in silence", (space) => {
    expect(exploreChains({ ...space, tokens: "offset" }).violations).toBeGreaterThan(0);
  });

  it("these are 259,185 interleavings", () => {
    expect(sum(spaces.map(([, runs]) => runs))).toBe(259_185);
    figure("T-DRN-32", "interleavings of chains and writers, all of them kept the rules", 259_185, "interleavings");
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
