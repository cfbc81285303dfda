/** A page that is none is never part of a list, nor the end of one (promise 1). T-DRN-17, 26. */
import { describe, expect, it } from "vitest";
import { variants } from "../../support/tier.ts";
import { LONG_MODES, MODES, type Mode } from "./modes.ts";
import type { Outcome } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, type Rig, rigFor, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { onRank, PLAUSIBLE, SPOILED, type Spoiled } from "./spoil.ts";

checkAfterEach();

/** Spoiled pages are too many for every way of reading: by cursor, in windows, and some of them in long lists. */
const WAYS = MODES.filter(({ name }) => name.startsWith("by cursor") || name.startsWith("in windows"));

interface Case {
  readonly mode: Mode;
  readonly flags: Readonly<Record<string, string>>;
  /** Which page: the one that holds the record so far on. */
  readonly share: number;
}

function rigOf({ mode, flags, share }: Case, spoiled: Spoiled): Promise<Rig> {
  const rank = Math.floor((mode.records - 1) * share);
  const setting = {
    habits: { ...mode.habits, fault: onRank(rank, spoiled.fault) },
    shelf: createShelf(rowsOf(mode.records), mode.order),
    flags: { ...mode.flags, ...flags },
  };
  return spoiled.wire === true ? wireRigFor(setting) : rigFor(setting);
}

/** What must never be: a list with status 200 that is not whole. */
function expectNoList(outcome: Outcome, label: string): void {
  if (outcome.kind === "whole") throw new Error(`${label}: a list of ${outcome.ids.length} records`);
  if (outcome.kind !== "error") return;
  expect([label, outcome.status >= 500]).toEqual([label, true]);
  expect(["UPSTREAM_INVALID", "UPSTREAM_UNREACHABLE", "DRAIN_INCOMPLETE"]).toContain(outcome.reason);
}

/** In `npm test` each of them in one way of reading, by turns. */
const waysOf = (spoiled: Spoiled) => variants([WAYS[SPOILED.indexOf(spoiled) % WAYS.length]!], WAYS);

describe("T-DRN-17: a page that is always spoiled", () => {
  it.each(SPOILED)("$name: is an error before the first byte, and breaks the stream after it", async (spoiled) => {
    for (const mode of waysOf(spoiled)) {
      for (const share of [0, 0.6]) {
        const buffered = await rigOf({ mode, flags: BUFFERED, share }, spoiled);
        const outcome = await buffered.list("alice", mode.target);
        expect(outcome.kind).toBe("error");
        expectNoList(outcome, `${mode.name} at ${share}`);
        expect(buffered.platform.asked.length).toBeLessThanOrEqual(2 * (mode.records / 200) + 20);
      }
      const streamed = await rigOf({ mode, flags: STREAMED, share: 0.6 }, spoiled);
      expectNoList(await streamed.list("alice", mode.target), `${mode.name}, streamed`);
    }
  });
});

describe("T-DRN-17: a page that could be taken for an empty one", () => {
  it.each(PLAUSIBLE)("$name: is never a short list", async (spoiled) => {
    for (const mode of [...WAYS, ...variants([], LONG_MODES)]) {
      for (const flags of [BUFFERED, STREAMED]) {
        // Page one with nothing in it is what an empty list looks like where zeros are left out.
        for (const share of spoiled.name === "an empty object" ? [0.6, 1] : [0, 0.6, 1]) {
          const rig = await rigOf({ mode, flags, share }, spoiled);
          const outcome = await rig.list("alice", mode.target);
          if (outcome.kind !== "whole") continue;
          expectWhole(outcome, uidsOf(rig.platform.shelf), `${mode.name}, ${JSON.stringify(flags)}, at ${share}`);
        }
      }
    }
  });
});

describe("T-DRN-26: a very large record", () => {
  it("of 9 MB is refused", async () => {
    const rig = await wireRigFor({ shelf: createShelf(rowsOf(1)), habits: { filler: 9 * 1024 ** 2 }, flags: BUFFERED });
    expect(await rig.list()).toMatchObject({ kind: "error", status: 502, reason: "UPSTREAM_INVALID" });
  });
});
