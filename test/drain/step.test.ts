/** What is asked for next, and what is made of a page: the step function driven by hand. */
import { describe, expect, it } from "vitest";
import { type DrainLimits, FIXED_LIMITS } from "../../src/drain/limits.ts";
import { planReadAhead } from "../../src/drain/read-ahead.ts";
import { type CallResult, type DrainSettings, type DrainState, notesOf, startOf } from "../../src/drain/state.ts";
import { nextState } from "../../src/drain/step.ts";
import type { ListPage, PageSelector } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import { DRAIN_LIMITS } from "../support/drains.ts";
import { keysOf, pageOf, planOf, raw, respond } from "./simulator.ts";
import { SMALL } from "./stage.ts";

const KEYS = keysOf(1000);
const MIB = 1024 * 1024;

function how({
  limits,
  ...more
}: Partial<Omit<DrainSettings, "limits">> & { readonly limits?: Partial<DrainLimits> } = {}): DrainSettings {
  return {
    resource: "groups",
    keyOrder: true,
    bareProvesNothing: false,
    limits: { ...DRAIN_LIMITS, ...SMALL, readers: 1, ...limits },
    tokens: "unknown",
    totals: "verify",
    require: "none",
    heedsSkip: true,
    expected: undefined,
    ...more,
  };
}

const got = (answer: Parameters<typeof respond>[0]): CallResult => ({
  kind: "page",
  page: planOf().read(respond(answer)),
});
/** A page that has no list of records at all. */
function bare(answer: Parameters<typeof respond>[0]): CallResult {
  const page = got(answer);
  return page.kind === "page" ? { kind: "page", page: { ...page.page, bare: true } } : page;
}
const asked = (state: DrainState): readonly Omit<PageSelector, "size">[] =>
  state.actions.flatMap((action) => (action.kind === "fetch" ? [action.place] : []));

/** The state after `answer` to the oldest call that waits. */
function came(state: DrainState, answer: CallResult): DrainState {
  const [call] = state.calls.filter(({ made }) => made);
  if (call === undefined) throw new Error("nothing was asked for");
  return nextState(state, { kind: "came", call: call.id, got: answer });
}

/** A list of `keys` whose first page has been taken, and whose next records are wanted. */
function begun(keys: readonly string[], given: DrainSettings, first: object = {}): DrainState {
  const page = got({ ...pageOf(keys, { size: given.limits.pageSize }, "keyset"), ...first });
  return nextState(came(nextState(startOf(given), { kind: "pull" }), page), { kind: "pull" });
}

describe("a list is read in parallel only", () => {
  const ten = keysOf(10);
  it.each<[string, readonly string[], number | undefined, Parameters<typeof how>[0], boolean]>([
    ["when it has an order, a count, and a first page to overlap with", ten, 11, {}, true],
    ["when its plan promises an order of keys", ten, 11, { keyOrder: false }, false],
    ["when the first page keeps that order", ["b", "a", ...ten.slice(2)], 11, {}, false],
    ...[undefined, 10, 5, -1, 11.5, 2 ** 70, Number.NaN].map(
      (total): [string, readonly string[], number | undefined, Parameters<typeof how>[0], boolean] => [
        `when it is counted as more than the first page, not as ${total}`,
        ten,
        total,
        {},
        false,
      ],
    ),
    ["when pages are no shorter than a quarter of what was asked for", keysOf(3), 11, {}, true],
    ["not when they are", keysOf(2), 11, {}, false],
    ["when they are of two records at least", keysOf(2), 11, { limits: { pageSize: 8 } }, true],
    ["not when they are of one", keysOf(1), 11, { limits: { pageSize: 4 } }, false],
    ["not when they are of none", [], 11, {}, false],
    ["unless the platform is known to ignore skip", ten, 11, { heedsSkip: false }, false],
    ["when nobody knows", ten, 11, { heedsSkip: undefined }, true],
  ])("%s", (_, keys, total, given, parallel) => {
    const page = { ...pageOf(keys, { size: 10 }, "keyset"), next: "more", total };
    const first = came(nextState(startOf(how(given)), { kind: "pull" }), got(page));
    expect(first.way).toBe(parallel ? "parallel" : "cursor");
    expect(
      asked(nextState(first, { kind: "pull" }))
        .concat(asked(first))
        .some(({ skip }) => skip !== undefined),
    ).toBe(parallel);
  });
});

describe("how a list is cut", () => {
  const windows = { from: 190, step: 190, overlap: 10, pages: 1, ahead: 8, readers: 4, aheadBytes: 4 * MIB };
  const segments = (pages: number) => ({ pages, step: pages * 200 - 10 });
  const sixth = Math.floor((4 * MIB) / 6);
  type Given = Partial<DrainLimits> & { readonly tokens?: DrainSettings["tokens"] };
  const cut = (
    total: number,
    first: { records: number; bytes: number },
    { tokens = "unknown", ...limits }: Given = {},
  ) => planReadAhead({ ...DRAIN_LIMITS, ...limits }, tokens, first, { rank: first.records, total });

  it.each<[string, number, bytes: number, Given, object]>([
    ["into overlapping windows of one page, two for each reader", 601, 80_000, {}, {}],
    ["into such windows up to ten thousand records", 10_000, 80_000, {}, {}],
    ["with one reader where the whole list is three pages", 600, 80_000, {}, { readers: 1, ahead: 2 }],
    ["with as many readers as the operator allows", 5000, 80_000, { readers: 8 }, { readers: 8, ahead: 16 }],
    ["beyond that into segments whose pages ahead fit into four MiB", 10_001, 80_000, {}, segments(6)],
    ["into segments of 16 pages at most", 10_001, 1000, {}, segments(16)],
    ["into short segments of large pages", 10_001, MIB / 4, {}, segments(2)],
    ["into segments as long as configured", 10_001, 80_000, { segmentPages: 3 }, segments(3)],
    ["into windows however long it is, where tokens are row numbers", 100_000, 80_000, { tokens: "offset" }, {}],
    ["with less ahead of large pages", 10_000, MIB, {}, { readers: 4, ahead: 4 }],
    ["with fewer readers of larger ones", 10_000, 1.5 * MIB, {}, { readers: 2, ahead: 2 }],
    ["with one reader of the largest", 10_001, 5 * MIB, {}, { readers: 1, ahead: 1 }],
    ["with less ahead where there is no room for two parts of each reader", 10_000, sixth, {}, { ahead: 6 }],
    ["for one reader", 10_001, sixth, { readers: 1 }, { readers: 1, ahead: 2, ...segments(3) }],
    ["by pages without a byte too", 10_000, 0, {}, {}],
  ])("%s", (_, total, bytes, given, differs) => {
    expect(cut(total, { records: 200, bytes }, given)).toEqual({ ...windows, ...differs });
  });

  it("with an overlap of at most half a page", () => {
    expect(cut(500, { records: 5, bytes: 100 })).toMatchObject({ from: 3, step: 3 });
    expect(cut(500, { records: 21, bytes: 100 })).toMatchObject({ from: 11, step: 11 });
    expect(FIXED_LIMITS).toEqual({ overlap: 10, windowRecords: 10_000, segmentPages: 16 });
  });
});

describe("calls of one list", () => {
  it("are bounded, and what the list waits for goes first", () => {
    const state = begun(KEYS, how({ limits: { readers: 3 } }));
    expect(state.calls.map(({ place, made }) => [place.skip, made])).toEqual([8, 16, 24].map((skip) => [skip, true]));
    // The gap before the second window is closed before a fourth is read.
    const first = came(state, got(pageOf(KEYS, { size: 10, skip: 8 }, "keyset")));
    const moved = KEYS.slice(5);
    const gap = came(nextState(first, { kind: "pull" }), got(pageOf(moved, { size: 10, skip: 16 }, "keyset")));
    expect(asked(gap)).toEqual([{ skip: 16 }]);
    expect(gap.calls.filter(({ made }) => made)).toHaveLength(3);
  });
});

describe("a page behind the first", () => {
  const window = (skip: number, more: object = {}): CallResult =>
    got({ ...pageOf(KEYS, { size: 10, skip }, "keyset"), ...more });
  const bad: CallResult = { kind: "failed", problem: new Problem("UPSTREAM_INVALID", "no page") };
  const status = (code: number): CallResult => ({ kind: "refused", response: raw(code, "{}") });

  it.each<[string, CallResult]>([
    ["that cannot be read", bad],
    ["that is answered 500", status(500)],
    ["that is answered 599", status(599)],
    ["that is longer than asked for", got(pageOf(KEYS, { size: 11, skip: 8 }, "keyset"))],
    ["that says nothing at all", got({ items: [], next: "", total: undefined })],
    ["without its records, though there are some by its count", bare({ items: [], next: "", total: "9" })],
  ])("%s is asked for once more, and no third time", (_, answer) => {
    const again = came(begun(KEYS, how()), answer);
    expect(asked(again)).toEqual([{ skip: 8 }]);
    expect(notesOf(again)).toEqual(["list-page-again"]);
    expect(asked(came(again, window(8)))).toEqual([{ skip: 16 }]);
    const twice = came(again, answer);
    expect([...asked(twice), twice.phase.kind]).not.toContainEqual({ skip: 8 });
  });

  it.each([307, 400, 403, 405, 408, 409, 413, 416, 431, 499, 500, 501, 503, 504])(
    "that is read by rank and answered %d leaves the list to the cursor",
    (code) => {
      const again = code >= 500;
      const first = came(begun(KEYS, how()), status(code));
      const state = again ? came(first, status(code)) : first;
      expect(asked(state)).toEqual([{ token: "k:u000009", rank: 10, chain: 0 }]);
      expect(notesOf(state)).toContain("list-way-left");
      // Only what will be refused again is remembered, and only where skip was never seen to work.
      const unknown = came(begun(KEYS, how({ heedsSkip: undefined })), status(code));
      const learned = (again ? came(unknown, status(code)) : unknown).actions.filter(
        ({ kind }) => kind === "learn-skip",
      );
      const lasting = code !== 307 && code !== 408 && (code < 500 || code === 501);
      expect(learned).toEqual(lasting ? [{ kind: "learn-skip", heeded: false }] : []);
    },
  );

  it.each([401, 429])("that is answered %d refuses the list", (code) => {
    const state = came(begun(KEYS, how()), status(code));
    expect(state.actions.at(-1)).toMatchObject({ kind: "refuse", response: { status: code } });
  });

  it("that did not come at all ends the list", () => {
    const problem = new Problem("UPSTREAM_UNREACHABLE", "gone");
    const state = came(begun(KEYS, how()), { kind: "failed", problem });
    expect(state.actions.at(-1)).toEqual({ kind: "fail", problem });
  });

  it("without its records has none, where it has a token", () => {
    const state = came(begun(KEYS, how()), bare({ items: [], next: "more", total: "1000" }));
    expect(asked(state)).toEqual([{ token: "more", rank: 8, chain: 8 }]);
    expect(notesOf(state)).toEqual([]);
  });

  it("that is `{}` is the end where all counted records came, and only there", () => {
    const nothing = bare({ items: [], next: "", total: undefined });
    const cursor = how({ heedsSkip: false });
    expect(came(begun(KEYS.slice(0, 10), cursor, { next: "more" }), nothing).list.ended).toBe(true);
    expect(notesOf(came(begun(KEYS.slice(0, 11), cursor), nothing))).toEqual(["list-page-again"]);
  });

  it("must have skipped what it was asked to, where the platform says it", () => {
    for (const skipped of [0, 9]) {
      const state = came(begun(KEYS, how()), window(8, { skipped }));
      expect(notesOf(state)).toEqual(["list-skip-ignored"]);
      expect(asked(state)).toEqual([{ token: "k:u000009", rank: 10, chain: 0 }]);
    }
    expect(notesOf(came(begun(KEYS, how()), window(8, { skipped: undefined })))).toEqual([]);
  });

  it("must be the first one where none was asked for: a first page skipped nothing", () => {
    expect(notesOf(begun(KEYS, how(), { skipped: 1 }))).toEqual(["list-read-again"]);
  });
});

describe("the commit point", () => {
  /** The places that are asked for one after another when the first `taken` records were taken and the list is `keys` now. */
  function sought(taken: number, keys: readonly string[], total: number | undefined = keys.length): readonly unknown[] {
    const limits = { pageSize: taken, overlap: 2, maxPages: 1e6 };
    const first = { ...pageOf(KEYS, { size: taken }, "keyset", taken), total: taken + 1 };
    let state = nextState(came(nextState(startOf(how({ limits })), { kind: "pull" }), got(first)), { kind: "pull" });
    // From here on pages are of ten records.
    state = { ...state, how: how({ limits: { ...limits, pageSize: 10 } }) };
    const places: unknown[] = [];
    for (let left = 40; left > 0 && state.list.distinct === taken && state.calls.length > 0; left -= 1) {
      const { place } = state.calls.find(({ made }) => made) ?? {};
      places.push(place?.skip ?? place?.token);
      const selector = {
        size: 10,
        ...(place?.skip === undefined ? { token: place?.token ?? "" } : { skip: place.skip }),
      };
      state = came(state, got({ ...pageOf(keys, selector, "keyset"), total }));
    }
    return places;
  }

  it("is looked for a little before its rank", () => {
    expect(sought(20, KEYS)).toEqual([18]);
    expect(sought(20, KEYS.toSpliced(19, 1))).toEqual([18]);
  });

  it("is looked for further back, four times as far each time, when many records before it are gone, and on from there", () => {
    expect(sought(400, KEYS.slice(5))).toEqual([398, 398, 388]);
    expect(sought(400, KEYS.slice(300)).slice(0, 8)).toEqual([398, 398, 388, 348, 188, 0, 8, 16]);
  });

  it("is looked for no further on than the list is counted to go", () => {
    expect(sought(400, KEYS.slice(380, 420))[2]).toBe(38);
  });

  it("is passed, step by step, when many records were put before it", () => {
    const more = [...Array.from({ length: 20 }, (_, i) => `a${i + 10}`), ...KEYS];
    expect(sought(20, more)).toEqual([18, 36]);
  });
});

describe("repairs", () => {
  it("have an end: a list whose gaps cannot be closed goes on by its token", () => {
    let state = begun(KEYS, how());
    let calls = 0;
    // Whatever is asked for by rank comes from far behind, but the very beginning.
    for (let skip = state.calls[0]?.place.skip; skip !== undefined && calls < 500; skip = state.calls[0]?.place.skip) {
      calls += 1;
      const page = pageOf(KEYS, { size: 10, skip: skip === 0 ? 0 : 500 }, "keyset");
      state = came(state, got({ ...page, skipped: skip }));
    }
    expect(calls).toBeLessThan(130);
    expect(notesOf(state)).toEqual(["list-repaired", "list-way-left"]);
    expect(asked(state)).toEqual([{ token: "k:u000009", rank: 10, chain: 0 }]);
  });
});

describe("a state", () => {
  it("is not changed by a step", () => {
    const freeze = <T extends object>(value: T): T => {
      for (const part of Object.values(value))
        if (part !== null && typeof part === "object" && !ArrayBuffer.isView(part)) freeze(part);
      return Object.freeze(value);
    };
    let state = freeze(nextState(startOf(how({ limits: { readers: 3 } })), { kind: "pull" }));
    const read = planOf().read;
    for (let calls = 0; state.phase.kind !== "over"; calls += 1) {
      const [call] = state.calls.filter(({ made }) => made);
      const { skip = 0 } = call?.place ?? {};
      const page: ListPage = read(respond(pageOf(keysOf(60), { size: 10, skip }, "keyset")));
      state = freeze(call === undefined ? nextState(state, { kind: "pull" }) : came(state, { kind: "page", page }));
      state = freeze(nextState(state, { kind: "pull" }));
      expect(calls).toBeLessThan(40);
    }
    expect(state.actions.at(-1)).toEqual({ kind: "finish", witness: "cover" });
  });
});
