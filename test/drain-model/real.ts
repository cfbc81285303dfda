/** How is the drain of carryover put under exploration? */
import { createDrains } from "../../src/upstream/drain/drain.ts";
import type { DrainMemory } from "../../src/upstream/drain/run.ts";
import type { MakeDrains, Remembered } from "./scenario.ts";

/** The drains of carryover, with limits that no small list reaches. */
export const realDrains: MakeDrains = ({ send, signal, measures, tokens, require, remembered, now, claim, report }) =>
  createDrains({
    send,
    reads: send,
    signal,
    limits: { ...measures, maxPages: 60, maxRecords: 10_000, maxBytes: 1e6, maxSeconds: 60 },
    tokens,
    memory: memoryOf(remembered),
    require: () => require,
    now,
    claim: async () => claim(),
    turn: async () => {},
    report,
  });

function memoryOf({ count, heedsSkip }: Remembered): DrainMemory {
  return {
    heedsSkip: () => heedsSkip,
    sawSkip: () => {},
    miscounts: () => false,
    sawMiscount: () => {},
    countOf: () => count,
    learnCount: () => {},
  };
}
