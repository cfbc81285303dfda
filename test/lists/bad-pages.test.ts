/** Is a page that is none ever part of a list, or the end of one? (Issue: bad input; promise 1.) T-DRN-17, T-DRN-26. */
import { describe, expect, it } from "vitest";
import { MODES, type Mode } from "./modes.ts";
import type { Outcome } from "./outcome.ts";
import { BUFFERED, checkAfterEach, expectWhole, type Rig, rigFor, STREAMED, uidsOf } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { onRank, refusal, SPOILED, type Spoiled } from "./spoil.ts";

checkAfterEach();

const named = (...names: string[]) => MODES.filter(({ name }) => names.includes(name));
/** Each way of reading a list once; spoiled pages are too many for all of them. */
const WAYS = named("by cursor, keyset tokens", "in windows, offset tokens").map((mode) => ({ ...mode, records: 900 }));
const LONG_WAYS = named("long, tokens known as keyset", "long, keyset tokens, not known");

interface Case {
  readonly mode: Mode;
  readonly flags: Readonly<Record<string, string>>;
  /** Which page: the one that holds the record so far on. */
  readonly share: number;
}

function rigOf({ mode, flags, share }: Case, { fault }: Pick<Spoiled, "fault">, times?: number): Promise<Rig> {
  const rank = Math.floor((mode.records - 1) * share);
  const shelf = createShelf(rowsOf(mode.records), mode.order);
  const habits = { ...mode.habits, fault: onRank(rank, fault, times) };
  return rigFor({ habits, shelf, flags: { ...mode.flags, ...flags } });
}

/** What must never be: a list with status 200 that is not whole. */
function expectNoList(outcome: Outcome, label: string): void {
  if (outcome.kind === "whole") throw new Error(`${label}: a list of ${outcome.ids.length} records`);
  if (outcome.kind !== "error") return;
  expect([label, outcome.status >= 500]).toEqual([label, true]);
  expect(["UPSTREAM_INVALID", "UPSTREAM_UNREACHABLE", "DRAIN_INCOMPLETE"]).toContain(outcome.reason);
}

const CERTAIN = SPOILED.filter(({ plausible }) => plausible === undefined);
const PLACES = [0, 0.6, 1];

describe("T-DRN-17: a page that is spoiled for ever", () => {
  it.each(CERTAIN)("$name: is an error, wherever it comes", async (spoiled) => {
    for (const mode of WAYS) {
      for (const share of PLACES) {
        const rig = await rigOf({ mode, flags: BUFFERED, share }, spoiled);
        const outcome = await rig.list("alice", mode.target);
        expect(outcome.kind).toBe("error");
        expectNoList(outcome, `${mode.name} at ${share}`);
        expect(rig.platform.asked.length).toBeLessThanOrEqual(2 * (mode.records / 200) + 20);
      }
    }
  });

  it.each(CERTAIN)(
    "$name: in a stream is an error before the first byte, a broken answer behind it",
    async (spoiled) => {
      for (const mode of WAYS) {
        for (const share of [0, 0.6]) {
          const rig = await rigOf({ mode, flags: STREAMED, share }, spoiled);
          const outcome = await rig.list("alice", mode.target);
          expectNoList(outcome, `${mode.name} at ${share}`);
          if (share === 0) expect(outcome.kind).toBe("error");
        }
      }
    },
  );

  it.each(LONG_WAYS)("$name: far on in a long list is an error, or breaks the stream", async (mode) => {
    for (const flags of [BUFFERED, STREAMED]) {
      for (const spoiled of CERTAIN.filter((_, index) => index % 5 === 0)) {
        const rig = await rigOf({ mode, flags, share: 0.7 }, spoiled);
        expectNoList(await rig.list(), `${mode.name}, ${spoiled.name}`);
      }
    }
  });
});

describe("T-DRN-17: a page that is spoiled once", () => {
  it.each(CERTAIN)("$name: is asked for again, and the list is whole", async (spoiled) => {
    for (const mode of WAYS) {
      for (const flags of [BUFFERED, STREAMED]) {
        const rig = await rigOf({ mode, flags, share: 0.6 }, spoiled, 1);
        expectWhole(await rig.list("alice", mode.target), uidsOf(rig.platform.shelf), mode.name);
      }
    }
  });
});

describe("T-DRN-17: a page that could be taken for an empty one", () => {
  it.each(SPOILED.filter(({ plausible }) => plausible))("$name: is never a short list", async (spoiled) => {
    for (const mode of [...WAYS, ...LONG_WAYS]) {
      for (const flags of [BUFFERED, STREAMED]) {
        // Page one with nothing in it is what an empty list looks like where zeros are left out.
        for (const share of spoiled.name === "an empty object" ? [0.6, 1] : PLACES) {
          const rig = await rigOf({ mode, flags, share }, spoiled);
          const outcome = await rig.list("alice", mode.target);
          if (outcome.kind !== "whole") continue;
          expectWhole(outcome, uidsOf(rig.platform.shelf), `${mode.name}, ${JSON.stringify(flags)}, at ${share}`);
        }
      }
    }
  });
});

describe("T-DRN-26: a record of 7 MB", () => {
  it("is a whole list or a clean error", async () => {
    for (const flags of [BUFFERED, STREAMED]) {
      const shelf = createShelf(rowsOf(1));
      const rig = await rigFor({ shelf, habits: { filler: 7 * 1024 ** 2 }, flags });
      const outcome = await rig.list();
      if (outcome.kind === "whole") expectWhole(outcome, uidsOf(shelf));
      else expect(outcome).toMatchObject({ kind: "error", status: 502 });
    }
  });

  it("of 9 MB is refused", async () => {
    const rig = await rigFor({ shelf: createShelf(rowsOf(1)), habits: { filler: 9 * 1024 ** 2 }, flags: BUFFERED });
    expect(await rig.list()).toMatchObject({ kind: "error", status: 502, reason: "UPSTREAM_INVALID" });
  });
});

describe("T-DRN-18: a platform that refuses in the middle", () => {
  it.each([400, 401, 403, 404])(
    "with %i: its answer is passed on while nothing was sent, later the stream breaks",
    async (status) => {
      for (const mode of [...WAYS, ...LONG_WAYS]) {
        const whole = await rigOf({ mode, flags: BUFFERED, share: 0.6 }, { fault: refusal(status) });
        expect(await whole.list("alice", mode.target)).toMatchObject({ kind: "error", status, reason: undefined });
        const streamed = await rigOf({ mode, flags: STREAMED, share: 0.6 }, { fault: refusal(status) });
        const outcome = await streamed.list("alice", mode.target);
        if (outcome.kind === "error") expect([mode.name, outcome.status]).toEqual([mode.name, status]);
        else expect([mode.name, outcome.kind]).toEqual([mode.name, "broken"]);
        if (mode === WAYS[0]) expect(outcome.kind).toBe("broken");
      }
    },
  );

  it.each([401, 403, 404])("with %i on page one: its answer is passed on, and little else is asked", async (status) => {
    for (const flags of [BUFFERED, STREAMED]) {
      const rig = await rigFor({ habits: { fault: refusal(status) }, flags });
      expect(await rig.list()).toMatchObject({ kind: "error", status, reason: undefined });
      // What is known of this list from before is asked for at the same time.
      expect(rig.platform.asked.length).toBeLessThanOrEqual(4);
    }
  });
});
