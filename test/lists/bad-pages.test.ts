/** A page that is none is never part of a list, nor the end of one (promise 1). T-DRN-17, 18, 26. */
import { describe, expect, it } from "vitest";
import { variants } from "../support/tier.ts";
import { LONG_MODES, MODES, type Mode } from "./modes.ts";
import type { Outcome } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, type Rig, rigFor, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { onRank, refusal, SPOILED, type Spoiled } from "./spoil.ts";

checkAfterEach();

/** Spoiled pages are too many for every way of reading: by cursor, in windows, and some of them in long lists. */
const WAYS = MODES.filter(({ name }) => name.startsWith("by cursor") || name.startsWith("in windows"));

interface Case {
  readonly mode: Mode;
  readonly flags: Readonly<Record<string, string>>;
  /** Which page: the one that holds the record so far on. */
  readonly share: number;
}

function rigOf({ mode, flags, share }: Case, spoiled: Pick<Spoiled, "fault" | "wire">, times?: number): Promise<Rig> {
  const rank = Math.floor((mode.records - 1) * share);
  const setting = {
    habits: { ...mode.habits, fault: onRank(rank, spoiled.fault, times) },
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

const CERTAIN = SPOILED.filter(({ plausible }) => plausible === undefined);
/** In `npm test` each of them in one way of reading, by turns. */
const waysOf = (spoiled: Spoiled) => variants([WAYS[CERTAIN.indexOf(spoiled) % WAYS.length]!], WAYS);

describe("T-DRN-17: a page that is always spoiled", () => {
  it.each(CERTAIN)("$name: is an error before the first byte, and breaks the stream after it", async (spoiled) => {
    for (const mode of waysOf(spoiled)) {
      for (const share of variants([0, 0.6], [0, 0.6, 1])) {
        const buffered = await rigOf({ mode, flags: BUFFERED, share }, spoiled);
        const outcome = await buffered.list("alice", mode.target);
        expect(outcome.kind).toBe("error");
        expectNoList(outcome, `${mode.name} at ${share}`);
        expect(buffered.platform.asked.length).toBeLessThanOrEqual(2 * (mode.records / 200) + 20);
      }
      for (const share of variants([0.6], [0, 0.6, 1])) {
        const streamed = await rigOf({ mode, flags: STREAMED, share }, spoiled);
        const outcome = await streamed.list("alice", mode.target);
        expectNoList(outcome, `${mode.name} at ${share}, streamed`);
        if (share === 0) expect(outcome.kind).toBe("error");
      }
    }
  });

  it.each(variants(LONG_MODES.slice(0, 1), LONG_MODES))(
    "$name: far on in a long list is an error, or breaks the stream",
    async (mode) => {
      for (const flags of [BUFFERED, STREAMED]) {
        for (const spoiled of CERTAIN.filter((_, index) => index % variants(16, 5) === 0)) {
          expectNoList(
            await (await rigOf({ mode, flags, share: 0.7 }, spoiled)).list(),
            `${mode.name}, ${spoiled.name}`,
          );
        }
      }
    },
  );
});

describe("T-DRN-17: a page that is spoiled once", () => {
  it.each(CERTAIN)("$name: is asked for again, and the list is whole", async (spoiled) => {
    for (const mode of waysOf(spoiled)) {
      for (const flags of variants([STREAMED], [BUFFERED, STREAMED])) {
        const rig = await rigOf({ mode, flags, share: 0.6 }, spoiled, 1);
        expectWhole(await rig.list("alice", mode.target), uidsOf(rig.platform.shelf), mode.name);
      }
    }
  });
});

describe("T-DRN-17: a page that could be taken for an empty one", () => {
  it.each(SPOILED.filter(({ plausible }) => plausible))("$name: is never a short list", async (spoiled) => {
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
  it.each([BUFFERED, STREAMED])("of 7 MB is a whole list or a clean error (%o)", async (flags) => {
    const shelf = createShelf(rowsOf(1));
    const rig = await wireRigFor({ shelf, habits: { filler: 7 * 1024 ** 2 }, flags });
    const outcome = await rig.list();
    if (outcome.kind === "whole") expectWhole(outcome, uidsOf(shelf));
    else expect(outcome).toMatchObject({ kind: "error", status: 502 });
  });

  it("of 9 MB is refused", async () => {
    const rig = await wireRigFor({ shelf: createShelf(rowsOf(1)), habits: { filler: 9 * 1024 ** 2 }, flags: BUFFERED });
    expect(await rig.list()).toMatchObject({ kind: "error", status: 502, reason: "UPSTREAM_INVALID" });
  });
});

describe("T-DRN-18: a platform that refuses", () => {
  it.each([400, 401, 403, 404])(
    "in the middle with %i: the client gets that response, or a broken stream",
    async (status) => {
      for (const mode of [...WAYS, ...variants([], LONG_MODES)]) {
        const buffered = await rigOf({ mode, flags: BUFFERED, share: 0.6 }, { fault: refusal(status) });
        expect(await buffered.list("alice", mode.target)).toMatchObject({ kind: "error", status, reason: undefined });
        const streamed = await rigOf({ mode, flags: STREAMED, share: 0.6 }, { fault: refusal(status) });
        const outcome = await streamed.list("alice", mode.target);
        if (outcome.kind === "error") expect([mode.name, outcome.status]).toEqual([mode.name, status]);
        else expect([mode.name, outcome.kind]).toEqual([mode.name, "broken"]);
        if (mode === WAYS[0]) expect(outcome.kind).toBe("broken");
      }
    },
  );

  it.each([401, 403, 404])(
    "on page one with %i: the client gets that response, and little else is asked",
    async (status) => {
      for (const flags of [BUFFERED, STREAMED]) {
        const rig = await rigFor({ habits: { fault: refusal(status) }, flags });
        expect(await rig.list()).toMatchObject({ kind: "error", status, reason: undefined });
        // What is known of this list from before is asked for at the same time.
        expect(rig.platform.asked.length).toBeLessThanOrEqual(4);
      }
    },
  );
});
