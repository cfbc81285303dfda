/** A list that is read while others write is whole where that can be proved, and says so where it cannot. T-DRN-02, 04, 27, 28. */
import { describe, expect, it } from "vitest";
import { casesFor, MODES, type Mode } from "./modes.ts";
import { faultsOf, type Outcome, witnessOf } from "./outcome.ts";
import type { Habits } from "./platform.ts";
import { BUFFERED, checkAfterEach, type Rig, rigFor, STREAMED } from "./rig.ts";
import { createDice, createShelf, newRow, rowsOf, type Shelf } from "./shelf.ts";

checkAfterEach();

const PROVABLE = MODES.filter(({ proof }) => proof !== "trusting");
const hows = [BUFFERED, STREAMED];

/** One list of `mode` while `habits` write to it. */
async function written(
  mode: Pick<Mode, "records" | "order" | "flags" | "target" | "habits">,
  flags: Readonly<Record<string, string>>,
  habits: Partial<Habits>,
): Promise<{ rig: Rig; outcome: Outcome; lost: number; twice: number }> {
  const shelf = createShelf(rowsOf(mode.records), mode.order);
  const rig = await rigFor({ habits: { ...mode.habits, ...habits }, shelf, flags: { ...mode.flags, ...flags } });
  const watch = shelf.watch();
  const outcome = await rig.list("alice", mode.target);
  const persistent = watch.persistent();
  return { rig, outcome, ...(outcome.kind === "whole" ? faultsOf(outcome.ids, persistent) : { lost: 0, twice: 0 }) };
}

/** Whatever happened: a list is without duplicates, and one that lost a record does not claim to be proved. */
function expectHonest(
  { outcome, lost, twice }: { outcome: Outcome; lost: number; twice: number },
  label: string,
): void {
  if (outcome.kind !== "whole") return;
  expect({ label, twice }).toEqual({ label, twice: 0 });
  if (lost > 0) expect({ label, lost, witness: witnessOf(outcome) }).not.toMatchObject({ witness: "cover" });
}

describe("T-DRN-02: CE1: one record more before the last page is read", () => {
  it.each(PROVABLE)("$name: the last record is there", async (mode) => {
    for (const flags of hows) {
      for (const share of casesFor(mode, [0.1, 0.6, 0.95])) {
        const state = { done: false };
        const dice = createDice(5);
        const result = await written(mode, flags, {
          before: ({ index }, shelf) => {
            if (state.done || index === 0) return;
            state.done = true;
            const at = shelf.rows[Math.floor(shelf.rows.length * share)]!;
            shelf.add({ ...newRow(dice), uid: `${at.uid}.` });
          },
        });
        expectHonest(result, `${share}`);
        expect([result.outcome.kind, result.lost]).toEqual(["whole", 0]);
      }
    }
  });
});

describe("T-DRN-04: deletes on the left, and tokens that are row numbers", () => {
  it("where nothing can be proved, a list that lost a record does not claim to be proved", async () => {
    const lists = { lossy: 0 };
    const cursors = MODES.filter(({ proof }) => proof === "trusting");
    for (const mode of cursors) {
      for (const flags of hows) {
        const result = await written(mode, flags, {
          tokens: "offset",
          after: (_, shelf) => void shelf.remove(shelf.rows[1]!.uid),
        });
        expectHonest(result, mode.name);
        if (result.lost > 0) lists.lossy += 1;
        if (result.outcome.kind === "whole") expect(witnessOf(result.outcome)).not.toBe("cover");
      }
    }
    // Nobody could do better here; a test that never lost a record would not have looked.
    expect(lists.lossy).toBeGreaterThan(0);
  });

  it.each(PROVABLE)("$name: nothing is lost where it can be proved", async (mode) => {
    for (const flags of hows) {
      const result = await written(mode, flags, { after: (_, shelf) => void shelf.remove(shelf.rows[1]!.uid) });
      expectHonest(result, mode.name);
      if (mode.proof === "always") expect([result.outcome.kind, result.lost]).toEqual(["whole", 0]);
    }
  });
});

describe("T-DRN-27: the first and last record of each page go while others are read", () => {
  it.each(PROVABLE)("$name: what stays is there, once", async (mode) => {
    for (const flags of hows) {
      const result = await written(mode, flags, {
        after: ({ skip, token }, shelf, page) => {
          if (skip === 0 && token === undefined) return;
          const ends = [page.rows[0], page.rows.at(-1)];
          for (const row of ends) if (row !== undefined) shelf.remove(row.uid);
          const next = shelf.rows[page.start + page.rows.length];
          if (next !== undefined) shelf.remove(next.uid);
        },
      });
      expectHonest(result, mode.name);
      if (mode.proof === "always") expect([result.outcome.kind, result.lost]).toEqual(["whole", 0]);
    }
  });

  it.each(PROVABLE)("$name: ten in a row at every border go, and nothing else is lost", async (mode) => {
    for (const flags of hows) {
      const result = await written(mode, flags, {
        after: ({ index }, shelf, page) => {
          if (index > 12) return;
          for (const row of page.rows.slice(-15)) shelf.remove(row.uid);
        },
      });
      expectHonest(result, mode.name);
      if (result.outcome.kind === "error") expect(result.outcome.status).toBe(502);
    }
  });
});

describe("T-DRN-28: nearly everything goes, or twice as much comes, in the middle", () => {
  const empty = (shelf: Shelf) => {
    for (const { uid } of [...shelf.rows]) shelf.remove(uid);
  };
  const dice = createDice(9);
  const double = (shelf: Shelf) => {
    const rows = [...shelf.rows];
    for (const row of rows) shelf.add({ ...newRow(dice, rows), name: row.name });
  };
  const thin = (shelf: Shelf) => {
    [...shelf.rows].forEach(({ uid }, index) => void (index % 20 > 0 && shelf.remove(uid)));
  };
  const writes = [
    { name: "all of it goes", write: empty },
    { name: "nineteen of twenty go", write: thin },
    { name: "twice as much comes", write: double },
  ];
  it.each(MODES)("$name: the list ends, and does not claim what it cannot know", async (mode) => {
    for (const { name, write } of casesFor(mode, writes)) {
      for (const flags of hows) {
        const state = { done: false };
        const result = await written(mode, flags, {
          before: ({ index }, shelf) => {
            if (state.done || index < Math.min(2, mode.records / 400)) return;
            state.done = true;
            write(shelf);
          },
        });
        expect(state.done).toBe(true);
        expectHonest(result, `${mode.name}: ${name}`);
        if (mode.proof === "always" && result.outcome.kind === "whole")
          expect({ name, lost: result.lost }).toEqual({ name, lost: 0 });
        expect(result.rig.platform.asked.length).toBeLessThanOrEqual(3 * (mode.records / 100) + 40);
      }
    }
  });
});
