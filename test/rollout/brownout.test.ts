import { describe, expect, test } from "vitest";
import type { TimeSpan } from "../../src/model/rules.ts";
import {
  type BrownoutBlocker,
  type BrownoutEvent,
  type BrownoutState,
  initialBrownout,
  refusesAt,
  stepBrownout,
} from "../../src/rollout/brownout.ts";

const HOUR = 3_600_000;
const WINDOW = { start: 10 * HOUR, end: 10 * HOUR + 600_000 };
const LATER = { start: 11 * HOUR, end: 11 * HOUR + 600_000 };
const SETTINGS = { stopAbove: 0.5, minRequests: 4 };
const FORCED = { why: "carryover force native", passes: false };
const AWAY = { why: "the store does not respond", passes: true };
const NEXT: readonly TimeSpan[] = [];

/** A brownout with windows at ten and eleven. Returns the kinds of what it reports. */
function rig(state: BrownoutState = initialBrownout()) {
  const apply = (event: BrownoutEvent): readonly string[] => {
    const kinds: string[] = [];
    for (let steps = 0; steps < 3; steps++) {
      const after = stepBrownout(state, event, SETTINGS);
      if (after.report !== undefined) kinds.push(after.report.kind.replace("brownout-", ""));
      if (after.state === state) break;
      ({ state } = after);
      if (event.kind !== "look") break;
    }
    return kinds;
  };
  const look = (at: number, blocker?: BrownoutBlocker): readonly string[] => {
    const open = [WINDOW, LATER].find(({ start, end }) => at >= start && at < end);
    return apply({ kind: "look", at, open, next: NEXT, blocker });
  };
  return {
    apply,
    look,
    request: (refused: boolean, decides = true) => apply({ kind: "request", refused, decides }),
    together: (requests: number, refused: number, stopped?: string) =>
      apply({ kind: "together", start: WINDOW.start, counts: { requests, refused }, stopped }),
    refuses: (at: number) => refusesAt(state, at),
    why: () => (state.phase.kind === "waiting" ? "" : state.phase.why),
  };
}

const IN = WINDOW.start + 1_000;

describe("a brownout", () => {
  test("refuses within its window, and reports its beginning and end once", () => {
    const { look, refuses } = rig();
    expect(look(WINDOW.start - 1)).toEqual([]);
    expect(look(WINDOW.start)).toEqual(["began"]);
    expect(look(IN)).toEqual([]);
    expect([refuses(WINDOW.start), refuses(WINDOW.end - 1), refuses(WINDOW.end)]).toEqual([true, true, false]);
    expect(look(WINDOW.end)).toEqual(["ended"]);
  });

  test("whose next window follows at once ends and begins in one look", () => {
    const { look } = rig();
    look(IN);
    expect(look(LATER.start)).toEqual(["ended", "began"]);
  });

  test("does not start while something speaks against it, nor later in that window", () => {
    const { look, refuses } = rig();
    expect(look(IN, FORCED)).toEqual(["not-started"]);
    expect(look(IN + 1)).toEqual([]);
    expect(refuses(IN + 1)).toBe(false);
    look(WINDOW.end);
    expect(look(LATER.start)).toEqual(["began"]);
  });

  test("stops for the rest of its window once something speaks against it", () => {
    const { look, refuses, why } = rig();
    look(IN);
    expect(look(IN + 1, FORCED)).toEqual(["stopped"]);
    expect(why()).toBe(FORCED.why);
    expect(look(IN + 2)).toEqual([]);
    expect(refuses(IN + 2)).toBe(false);
    expect(look(WINDOW.end)).toEqual([]);
  });

  test("waits in silence for a store that responds soon, and starts then", () => {
    const { look } = rig();
    expect(look(IN, AWAY)).toEqual([]);
    expect(look(IN + 5_000, AWAY)).toEqual([]);
    expect(look(IN + 6_000)).toEqual(["began"]);
  });

  test("reports once that the store keeps it from its start", () => {
    const { look } = rig();
    look(IN, AWAY);
    expect(look(IN + 11_000, AWAY)).toEqual(["not-started"]);
    expect(look(IN + 12_000, AWAY)).toEqual([]);
  });

  test("pauses while the store does not respond", () => {
    const { look, refuses } = rig();
    look(IN);
    expect(look(IN + 1, AWAY)).toEqual(["stopped"]);
    expect(refuses(IN + 1)).toBe(false);
    expect(look(IN + 2)).toEqual(["began"]);
  });
});

describe("the share of refused requests", () => {
  test("stops the brownout above stopAbove, and not before minRequests", () => {
    const { look, request, why } = rig();
    look(IN);
    expect([request(true), request(true), request(true)]).toEqual([[], [], []]);
    expect(request(false)).toEqual(["stopped"]);
    expect(why()).toBe("3 of 4 v1 requests were refused (75 %), more than brownout.stopAbove: 50 %");
  });

  test("at stopAbove stops nothing", () => {
    const { look, request } = rig();
    look(IN);
    expect([true, true, false, false].flatMap((refused) => request(refused))).toEqual([]);
  });

  test("of one replica decides nothing if replicas share a store: their sum does", () => {
    const { look, request, together } = rig();
    look(IN);
    for (let i = 0; i < 10; i++) expect(request(true, false)).toEqual([]);
    expect(together(30, 10)).toEqual([]);
    expect(together(30, 20)).toEqual(["stopped"]);
  });

  test("is judged in the window of the counts only", () => {
    const { look, together } = rig();
    look(LATER.start);
    expect(together(30, 30)).toEqual([]);
  });
});

test("what stopped a brownout on one replica stops it on another", () => {
  const { look, together, why } = rig();
  look(IN);
  expect(together(1, 0, "carryover force native")).toEqual(["stopped"]);
  expect(why()).toBe("carryover force native");
});

describe("a clock that is set", () => {
  test("back by seconds, and forth again, interrupts the window and does not end it", () => {
    const { look, refuses } = rig();
    look(IN);
    expect(look(WINDOW.start - 5_000)).toEqual([]);
    expect(refuses(WINDOW.start - 5_000)).toBe(false);
    expect(look(IN)).toEqual([]);
    expect(refuses(IN)).toBe(true);
  });

  test("back after a window does not repeat it", () => {
    const { look, refuses } = rig();
    look(IN);
    look(WINDOW.end);
    expect(look(IN)).toEqual([]);
    expect(refuses(IN)).toBe(false);
  });

  test("ahead by an hour runs the window of that hour, and after its correction the right one", () => {
    const { look } = rig();
    expect(look(LATER.start)).toEqual(["began"]);
    expect(look(WINDOW.start)).toEqual(["ended", "began"]);
    expect(look(WINDOW.end)).toEqual(["ended"]);
    expect(look(LATER.start)).toEqual([]);
  });

  test("beyond a window skips it", () => {
    expect(rig().look(WINDOW.end + 1)).toEqual([]);
  });
});

test("a window that is open when the saved state is lost does not start, and the next one does", () => {
  const { look } = rig(initialBrownout(true));
  expect(look(IN)).toEqual(["not-started"]);
  look(WINDOW.end);
  expect(look(LATER.start)).toEqual(["began"]);
});
