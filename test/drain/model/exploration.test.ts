import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { variants } from "../../support/tier.ts";
import { kept } from "./kept.ts";
import type { Measures, Trace } from "./scenario.ts";
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
  const everywhere = (style: ReturnType<typeof styles>[number], measures: Measures, writes: number, keys = "abcdef") =>
    small({ tokens: style.tokens }, measures, { declared: style.declared, writes, universe: keys }, keys);
  const count = ({ runs }: { readonly runs: number }) =>
    figure("T-DRN-32", "interleavings of a drain and writers that kept every promise", runs, "interleavings");

  it.each(styles())(
    "T-DRN-32: $tokens tokens, told $declared: every small list, one or two writes anywhere",
    async (style) => {
      const scenarios = [
        ...everywhere(style, WINDOWS, 1),
        ...variants([], everywhere(style, WINDOWS, 2, scale(0, 1) === 1 ? "abcdef" : "abcde")),
      ];
      // All runs of each list that is tried, so that no scenario is cut short.
      const tally = await kept(scenarios, 4_000);
      expect(tally.exhausted).toBe(tally.scenarios);
      expect(tally.problems).toBe(0);
      count(tally);
    },
  );

  it.runIf(scale(0, 1) === 1).each(styles())(
    "T-DRN-32: $tokens tokens, told $declared: every small list, three writes anywhere, by windows and by segments",
    { timeout: 1_200_000 },
    async (style) => {
      const tally = await kept([...everywhere(style, WINDOWS, 3), ...everywhere(style, SEGMENTS, 3)], 60_000);
      expect(tally.exhausted).toBe(tally.scenarios);
      // With this many writes at the worst moments, a list may be an error but never a short one.
      expect(tally.problems).toBeLessThan(tally.runs / 1_000);
      count(tally);
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
