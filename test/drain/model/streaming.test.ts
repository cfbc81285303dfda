import { describe, expect, it } from "vitest";
import { kept } from "./kept.ts";
import { LONG_STARTS, long, SEGMENTS, scenario, styles, THREES, WINDOWS } from "./scenarios.ts";

/** Nothing is held back; about three records are. */
const BUFFERS = [0, 33] as const;

describe("records come and go while a list is read and sent", () => {
  it.each(styles())("windows, $tokens tokens, told $declared", async ({ tokens, declared }) => {
    const scenarios = BUFFERS.flatMap((bufferBytes) =>
      (["long", "pulled"] as const).flatMap((as) =>
        [0, 1, 3].flatMap((writes) => [
          ...long({ tokens }, { ...WINDOWS, bufferBytes }, { declared, writes, as }),
          ...long({ tokens }, { ...WINDOWS, bufferBytes }, { declared, writes, as, remembered: { heedsSkip: true } }),
          ...long(
            { tokens },
            { ...THREES, bufferBytes, readers: 2 },
            { declared, writes, as, remembered: { heedsSkip: true, count: 8 } },
          ),
        ]),
      ),
    );
    const tally = await kept(scenarios, 6);
    expect(tally.streamed).toBeGreaterThan(tally.runs / 2);
    expect(tally.lists.cover).toBeGreaterThan(tally.runs / 2);
  });

  it.each(styles())("segments, $tokens tokens, told $declared", async ({ tokens, declared }) => {
    const scenarios = BUFFERS.flatMap((bufferBytes) =>
      (["long", "pulled"] as const).flatMap((as) =>
        [0, 1, 3].flatMap((writes) => [
          ...long({ tokens }, { ...SEGMENTS, bufferBytes }, { declared, writes, as }),
          ...long({ tokens }, { ...SEGMENTS, bufferBytes }, { declared, writes, as, remembered: { heedsSkip: true } }),
          ...long({ tokens }, { ...THREES, windowRecords: 3, bufferBytes }, { declared, writes, as }),
        ]),
      ),
    );
    const tally = await kept(scenarios, 6);
    expect(tally.streamed).toBeGreaterThan(tally.runs / 2);
    if (declared === "keyset") expect(tally.lists.cover).toBe(tally.runs);
  });

  it("the platform fails now and then, and skip or count cannot be trusted", async () => {
    const odd = [
      { faults: ["restart", "empty", "short", "same", "503", "gone", "torn"], faultBudget: 2 },
      { skip: "ignored" },
      { skip: "claimed" },
      { total: "wild" },
      { total: "low" },
      { trailing: "full" },
      { cap: 1 },
    ] as const;
    const scenarios = odd.flatMap((style) =>
      styles().flatMap(({ tokens, declared }) =>
        [WINDOWS, SEGMENTS].flatMap((measures) =>
          [1, 2].map((writes) =>
            scenario(
              "bdfhjlnp",
              { tokens, ...style },
              { ...measures, bufferBytes: 0 },
              { declared, writes, as: "pulled", remembered: { heedsSkip: writes === 1 } },
            ),
          ),
        ),
      ),
    );
    await kept(scenarios, 15);
  });
});

describe("what else a list can be asked", () => {
  it("only a list that is proved to be whole is given where nothing less will do", async () => {
    const scenarios = styles().flatMap(({ tokens, declared }) =>
      [WINDOWS, SEGMENTS].flatMap((measures) =>
        ([1e6, 0] as const).flatMap((bufferBytes) =>
          long({ tokens }, { ...measures, bufferBytes }, { declared, writes: 2, as: "pulled", require: "cover" }),
        ),
      ),
    );
    const tally = await kept(scenarios, 12);
    expect(tally.lists).toMatchObject({ count: 0, none: 0 });
    expect(tally.problems).toBeGreaterThan(0);
    expect(tally.lists.cover).toBeGreaterThan(0);
  });

  it("records that carryover filters out are not shown, and count for the proof", async () => {
    const scenarios = styles().flatMap(({ tokens, declared }) =>
      [WINDOWS, SEGMENTS].flatMap((measures) =>
        ([1e6, 0] as const).flatMap((bufferBytes) =>
          long({ tokens }, { ...measures, bufferBytes }, { declared, writes: 1, as: "pulled", hidden: "bcehln" }),
        ),
      ),
    );
    await kept(scenarios, 12);
  });
});

describe("T-DRN-21: the client leaves", () => {
  it.each(["whole", "long"] as const)(
    "%s lists: at any step, no page is asked for after it, and the slot is free",
    async (as) => {
      const scenarios = styles().flatMap(({ tokens, declared }) =>
        [WINDOWS, SEGMENTS].flatMap((measures) =>
          LONG_STARTS.slice(0, 2).flatMap((start) =>
            [0, 1].map((writes) =>
              scenario(
                start,
                { tokens },
                { ...measures, bufferBytes: 0 },
                { declared, writes, as, leaves: true, remembered: { heedsSkip: true } },
              ),
            ),
          ),
        ),
      );
      const tally = await kept(scenarios, 25);
      expect(tally.left).toBeGreaterThan(tally.runs / 3);
    },
  );
});
