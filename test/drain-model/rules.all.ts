/** Do the rules of a drain hold in every interleaving of small lists? (Design: drains; T-DRN-32.) */
import { describe, expect, it } from "vitest";
import { figure } from "../support/figures.ts";
import { exploreChains } from "./chains.ts";
import { exploreCursor } from "./cursors.ts";
import {
  byEquality,
  byEqualityOnce,
  counted,
  exploreOrders,
  type OrderSpace,
  type Records,
  readInOrder,
  readWithTies,
} from "./orders.ts";
import { comparator, comparatorAndEnd, containmentAndEnd, equalityAndEnd, literalClaim } from "./rules.ts";
import { exploreWindows, type Space } from "./windows.ts";

describe("T-DRN-32: windows in any order, inserts and deletes anywhere", () => {
  it.each([
    [{ keys: 6, size: 2, writes: 3 }, 286],
    [{ keys: 6, size: 3, writes: 3 }, 719],
  ])("equal records at the borders are not enough: %o breaks at interleaving %i", (space, runs) => {
    const [verdict] = exploreWindows({ ...space, first: true }, [literalClaim]);
    expect(verdict).toMatchObject({ runs, violations: 1 });
  });

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

describe("T-DRN-32: one cursor, one write", () => {
  it("tokens that are places in the order lose nothing and bring nothing twice", () => {
    expect(exploreCursor("keyset")).toEqual({ runs: 180, lost: 0, twice: 0 });
  });

  it("tokens that count records lose one in 28 of 180 runs, and bring one twice in 28", () => {
    expect(exploreCursor("offset")).toEqual({ runs: 180, lost: 28, twice: 28 });
  });
});

describe("T-DRN-32: orders that are not strict, or not fixed", () => {
  const byOwnKey = (ids: readonly number[]): Records => new Map(ids.map((id) => [id, id]));
  const mutable = { size: 2, read: readInOrder };
  const renamed: OrderSpace = {
    ...mutable,
    starts: [byOwnKey([0, 1, 2]), byOwnKey([0, 1, 2, 3])],
    writes: 2,
    events: (records) => renames(records, [-1, 0, 1, 2, 3, 4, 5, 6]),
    accept: byEquality,
  };
  const mixed: OrderSpace = {
    ...mutable,
    starts: [byOwnKey([0, 1, 2, 3])],
    writes: 3,
    events: (records) => [...deletes(records), ...renames(records, [-1, 4.5]), ...insert(records, 9, 5)],
    accept: byEqualityOnce,
  };
  const ties: OrderSpace = {
    starts: [
      new Map([0, 1, 2].map((id) => [id, 0])),
      new Map([0, 1, 2, 3].map((id) => [id, id === 0 ? 0 : 1])),
      new Map([0, 1, 2, 3, 4].map((id) => [id, id < 2 ? 0 : 1])),
    ],
    size: 2,
    writes: 0,
    read: readWithTies,
    events: () => [],
    accept: byEquality,
  };

  it("renames break borders and end: 197 of 1,660 accepted runs are wrong", () => {
    expect(exploreOrders(renamed)).toEqual({ runs: 5_281, accepted: 1_660, violations: 197 });
  });

  it("a rename, a delete and an insert break them without a duplicate, and with all counts equal", () => {
    expect(exploreOrders(mixed)).toEqual({ runs: 13_608, accepted: 1_728, violations: 320 });
    expect(exploreOrders({ ...mixed, accept: counted })).toEqual({ runs: 13_608, accepted: 729, violations: 50 });
  });

  it("ties break them without any write: 3,486 of 6,972 accepted runs are wrong; counts show it while nothing is written", () => {
    expect(exploreOrders(ties)).toEqual({ runs: 124_884, accepted: 6_972, violations: 3_486 });
    expect(exploreOrders({ ...ties, accept: counted })).toEqual({ runs: 124_884, accepted: 3_486, violations: 0 });
  });

  it("counts do not show it once something is written: 912 of 2,096 accepted runs are wrong", () => {
    const starts = ties.starts.slice(1, 2);
    const events: OrderSpace["events"] = (records) => [
      ...deletes(records),
      ...[0, 1, 2, 3, 4, 5].flatMap((id) => insert(records, id, id < 3 ? 0 : 1)),
    ];
    const verdict = exploreOrders({ ...ties, starts, writes: 2, events, accept: counted });
    expect(verdict).toEqual({ runs: 535_608, accepted: 2_096, violations: 912 });
  });
});

function renames(records: Records, keys: readonly number[]): { records: Records }[] {
  return [...records].flatMap(([id, own]) =>
    keys.filter((key) => key !== own).map((key) => ({ records: new Map(records).set(id, key) })),
  );
}

function deletes(records: Records): { records: Records; gone: number }[] {
  return [...records.keys()].map((gone) => ({ records: new Map([...records].filter(([id]) => id !== gone)), gone }));
}

function insert(records: Records, id: number, key: number): { records: Records }[] {
  return records.has(id) ? [] : [{ records: new Map(records).set(id, key) }];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
