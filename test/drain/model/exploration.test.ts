import { describe, expect, it } from "vitest";
import { variants } from "../../support/tier.ts";
import { kept } from "./kept.ts";
import type { Trace } from "./scenario.ts";
import { long, MEMORIES, SEGMENTS, small, styles, THREES, WINDOWS } from "./scenarios.ts";

describe("nobody writes and the platform is honest", () => {
  it.each(styles())(
    "$tokens tokens, told $declared: every list is exact, and proved as far as it can be",
    async ({ tokens, declared }) => {
      const scenarios = [WINDOWS, SEGMENTS, THREES].flatMap((measures) =>
        MEMORIES.flatMap((remembered) => [
          ...small({ tokens }, measures, { declared, remembered }, "abcde"),
          ...long({ tokens }, measures, { declared, remembered }),
        ]),
      );
      const tally = await kept(scenarios, 40, exactAndProved);
      expect(tally.lists.cover + tally.lists.count).toBe(tally.runs);
    },
  );

  function exactAndProved(trace: Trace): readonly string[] {
    const { out, scenario: of, result, requests } = trace;
    const { pageSize, windowRecords } = of.measures;
    const provable = of.start.length <= pageSize || of.declared === "keyset" || of.start.length <= windowRecords;
    const enough = Math.max(of.start.length, of.remembered?.count ?? 0) + of.measures.readers + 1;
    const witness = result?.kind === "list" ? result.witness : undefined;
    return [
      ...(out.join("") === of.start ? [] : [`not exact: ${out}`]),
      ...(provable && witness !== "cover" ? [`no cover: ${witness}`] : []),
      ...(requests.length > enough ? [`needs too many pages: ${requests.length}`] : []),
    ];
  }
});

describe("records come and go while an honest platform is read", () => {
  it.each(styles())(
    "$tokens tokens, told $declared: every small list, one or two writes anywhere",
    async ({ tokens, declared }) => {
      const one = small({ tokens }, WINDOWS, { declared, writes: 1 });
      const two = small({ tokens }, WINDOWS, { declared, writes: 2, universe: "abcde" }, "abcde");
      // All runs of each list that is tried, so that no scenario is cut short.
      const scenarios = [...one, ...variants([], two)];
      const tally = await kept(scenarios, 4_000);
      expect(tally.exhausted).toBe(tally.scenarios);
      expect(tally.problems).toBe(0);
    },
  );

  it.each(styles())(
    "$tokens tokens, told $declared: windows in any order, up to three writes",
    async ({ tokens, declared }) => {
      const scenarios = [1, 2, 3].flatMap((writes) => [
        ...long({ tokens }, WINDOWS, { declared, writes }),
        ...long({ tokens }, WINDOWS, { declared, writes, remembered: { heedsSkip: true } }),
        ...long(
          { tokens },
          { ...WINDOWS, readers: 2 },
          { declared, writes, remembered: { heedsSkip: true, count: 7 } },
        ),
        ...long({ tokens }, THREES, { declared, writes, remembered: { heedsSkip: true } }),
      ]);
      const tally = await kept(scenarios, 30);
      expect(tally.parallel).toBeGreaterThan(0.9 * tally.runs);
      expect(tally.lists.cover).toBeGreaterThan(tally.runs / 2);
    },
  );

  it.each(styles())(
    "$tokens tokens, told $declared: stitched segments in any order, up to three writes",
    async ({ tokens, declared }) => {
      const scenarios = [1, 2, 3].flatMap((writes) => [
        ...long({ tokens }, SEGMENTS, { declared, writes }),
        ...long({ tokens }, SEGMENTS, { declared, writes, remembered: { heedsSkip: true } }),
        ...long(
          { tokens },
          { ...SEGMENTS, readers: 2, segmentPages: 3 },
          { declared, writes, remembered: { heedsSkip: true, count: 9 } },
        ),
        ...long({ tokens }, { ...THREES, windowRecords: 3 }, { declared, writes, remembered: { heedsSkip: true } }),
      ]);
      const tally = await kept(scenarios, 30);
      if (declared === "keyset") expect(tally.lists.cover).toBe(tally.runs);
      if (tokens === "offset" && declared === "unknown") expect(tally.lost).toBeGreaterThan(0);
    },
  );
});
