/** A list is whole or an error when page tokens lead nowhere, in circles, or back to the beginning (design section 5). */
import { describe, expect, it } from "vitest";
import { variants } from "../support/tier.ts";
import { casesFor, LONG_MODES, MODES, type Mode, SHORT_MODES } from "./modes.ts";
import { type Outcome, witnessOf } from "./outcome.ts";
import { type Ask, cut, type Page, positionOf, tokenAt } from "./pages.ts";
import { type Fault, type Habits, HONEST } from "./platform.ts";
import { BUFFERED, checkAfterEach, expectWhole, INVITES, type Rig, rigFor, STREAMED, uidsOf } from "./rig.ts";
import { createShelf, newestFirst, type Row, rowsOf, type Shelf } from "./shelf.ts";

checkAfterEach();

const buffered = (mode: Mode) => ({ ...mode, name: `${mode.name}, buffered`, flags: { ...mode.flags, ...BUFFERED } });
const streamed = (mode: Mode) => ({ ...mode, name: `${mode.name}, streamed`, flags: { ...mode.flags, ...STREAMED } });
/** Each mode, buffered and streamed; long lists only streamed, unless there is time. */
const WAYS: readonly Mode[] = [...[...SHORT_MODES, ...variants([], LONG_MODES)].map(buffered), ...MODES.map(streamed)];

async function rigOf(mode: Mode, fault: Fault): Promise<Rig> {
  const shelf = createShelf(rowsOf(mode.records), mode.order);
  return rigFor({ ...mode, habits: { ...mode.habits, fault }, shelf });
}

/** Throws unless the list is whole, or it is known that it is not. */
function wholeOrNone(outcome: Outcome, rig: Rig): "whole" | "none" {
  if (outcome.kind === "whole") expectWhole(outcome, uidsOf(rig.platform.shelf));
  else if (outcome.kind === "error") expect([502, outcome.reason]).toEqual([outcome.status, "DRAIN_INCOMPLETE"]);
  return outcome.kind === "whole" ? "whole" : "none";
}

const tokensOf = (mode: Mode) => mode.habits.tokens ?? "keyset";
const pagesOf = (mode: Mode) => Math.ceil(mode.records / 200);
const withToken = (page: Page, nextPageToken: unknown): Page => ({
  ...page,
  members: { ...page.members, nextPageToken },
});

describe("T-DRN-07: tokens that expire: the list restarts in silence", () => {
  /** Page one for the first `times` tokens that lead to `rank` or beyond. */
  function restarting(mode: Mode, rank: number, times: number): Fault {
    const state = { left: times };
    return (page, ask, shelf) => {
      if (ask.token === undefined || page.start < rank || state.left === 0) return page;
      state.left -= 1;
      return cut(shelf, 0, ask, { ...HONEST, ...mode.habits });
    };
  }
  it.each(WAYS)("$name: once costs no record", async (mode) => {
    for (const share of casesFor(mode, [0, 0.5, 0.9])) {
      const rig = await rigOf(mode, restarting(mode, Math.floor(mode.records * share), 1));
      const outcome = await rig.list("alice", mode.target);
      // A stream that nobody can skip in cannot go back to where it was.
      const stuck = mode.name.endsWith("streamed") && mode.proof === "trusting";
      if (!stuck) expectWhole(outcome, uidsOf(rig.platform.shelf), `at ${share}`);
      wholeOrNone(outcome, rig);
    }
  });

  it.each(WAYS)("$name: always is a whole list or an error, soon", async (mode) => {
    const rig = await rigOf(mode, restarting(mode, 1, Number.POSITIVE_INFINITY));
    const ended = wholeOrNone(await rig.list("alice", mode.target), rig);
    if (mode.proof === "trusting") expect(ended).toBe("none");
    // Each of three ways of reading may be tried once, none of them twice.
    expect(rig.platform.asked.length).toBeLessThanOrEqual(3 * pagesOf(mode) + 10);
  });
});

describe("T-DRN-08: tokens that lead in circles", () => {
  /** From the page that holds `rank` on, each token leads `back` pages back. */
  function circle(mode: Mode, rank: number, back: number): Fault {
    return (page, _, shelf) => {
      if (page.start + page.rows.length <= rank || page.members["nextPageToken"] === "") return page;
      return withToken(page, tokenAt(shelf, Math.max(1, page.start - back * 200), tokensOf(mode)));
    };
  }
  const circles = [
    { name: "A,A", back: 0 },
    { name: "A,B,A,B", back: 1 },
    { name: "A,B,C,A", back: 2 },
  ];
  it.each(WAYS)("$name: is a whole list or an error, within one round", async (mode) => {
    for (const { name, back } of casesFor(mode, circles)) {
      const rig = await rigOf(mode, circle(mode, Math.floor(mode.records * 0.6), back));
      const ended = wholeOrNone(await rig.list("alice", mode.target), rig);
      if (mode.proof === "trusting") expect([name, ended]).toEqual([name, "none"]);
      // A round and three pages more, and once another way of reading.
      expect(rig.platform.asked.length).toBeLessThanOrEqual(2 * (pagesOf(mode) + back + 3) + 10);
    }
  });
});

describe("T-DRN-09: empty pages with tokens", () => {
  /** Before the page that `rank` is on, `count` empty ones. */
  function emptyBefore(mode: Mode, rank: number, count: number): Fault {
    return (page, ask, shelf) => {
      const empty = ask.token === undefined ? 0 : positionOf(ask.token).empty;
      const hit = page.start <= rank && rank < page.start + page.rows.length;
      if (!hit || empty >= count) return page;
      return withToken({ ...page, rows: [] }, tokenAt(shelf, page.start, tokensOf(mode), empty + 1));
    };
  }
  it.each(WAYS)("$name: three in a row leave nothing out", async (mode) => {
    for (const share of casesFor(mode, [0, 0.5, 0.99])) {
      const rig = await rigOf(mode, emptyBefore(mode, Math.floor(mode.records * share), 3));
      expectWhole(await rig.list("alice", mode.target), uidsOf(rig.platform.shelf), `at ${share}`);
    }
  });

  it.each(WAYS)("$name: a thousand are given up long before, and no list", async (mode) => {
    for (const share of casesFor(mode, [0, 0.5, 0.99])) {
      const rig = await rigOf(mode, emptyBefore(mode, Math.floor(mode.records * share), 1_000));
      expect(wholeOrNone(await rig.list("alice", mode.target), rig)).toBe("none");
      expect(rig.platform.asked.length).toBeLessThanOrEqual(600 + 4);
    }
  });

  it("after the last record end a list as well", async () => {
    const fault: Fault = (page, ask, shelf) => {
      const empty = ask.token === undefined ? 0 : positionOf(ask.token).empty;
      if (page.members["nextPageToken"] !== "" || empty >= 2) return page;
      return withToken(page, tokenAt(shelf, page.start + page.rows.length, "keyset", empty + 1));
    };
    for (const length of [150, 450, 2_000]) {
      const shelf = createShelf(rowsOf(length));
      const rig = await rigFor({ habits: { fault }, shelf });
      expectWhole(await rig.list(), uidsOf(shelf));
    }
  });
});

describe("T-DRN-05: ties, and nobody writes", () => {
  /** All made at the same moment; every answer puts them in another order. */
  function tied(habits: Partial<Habits>, count: number): { habits: Partial<Habits>; shelf: Shelf } {
    const shelf = createShelf(rowsOf(count));
    const fault: Fault = (page, ask) => {
      const rows = uneven(shelf.rows, ask.index);
      const start = Math.min(page.start, rows.length);
      return { ...page, rows: rows.slice(start, start + Math.min(ask.size, 200)) };
    };
    return { habits: { ...habits, fault }, shelf };
  }
  function uneven(rows: readonly Row[], call: number): readonly Row[] {
    return call % 2 === 0 ? rows : rows.toReversed();
  }

  it.each(["keyset", "offset"] as const)("never give a list that claims to be proved (%s tokens)", async (tokens) => {
    for (const target of [undefined, INVITES]) {
      const rig = await rigFor({ habits: { tokens }, fresh: true });
      for (const count of [3, 201, 450, 2_000]) {
        const { habits, shelf } = tied({ tokens }, count);
        rig.platform.reset(habits, shelf);
        const outcome = await rig.list("alice", target);
        if (outcome.kind !== "whole") continue;
        expect(new Set(outcome.ids).size).toBe(outcome.ids.length);
        if (outcome.ids.length < count) expect([count, witnessOf(outcome)]).toEqual([count, "none"]);
      }
    }
  });

  it("that stay as they are within a list leave nothing out", async () => {
    const shelf = createShelf(
      rowsOf(1_000).map((row) => ({ ...row, created: row.created % 3 })),
      newestFirst,
    );
    const rig = await rigFor({ shelf });
    expectWhole(await rig.list("alice", INVITES), uidsOf(shelf));
  });
});

describe("T-DRN-06: an order that writers change", () => {
  it("is read by its cursor alone, and never proved", async () => {
    const rig = await rigFor({ shelf: createShelf(rowsOf(2_000), newestFirst) });
    const outcome = await rig.list("alice", INVITES);
    expectWhole(outcome, uidsOf(rig.platform.shelf));
    expect(witnessOf(outcome)).not.toBe("cover");
    expect(rig.platform.asked.filter(({ skip }: Ask) => skip > 0)).toEqual([]);
    expect(rig.platform.busy.most).toBe(1);
  });
});
