/** The calls of one list: how many are under way, which are made again, and whether a page is the one that was asked for. */
import type { ListPage } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { type Fetched, type Place, plan } from "./ahead.ts";
import { type Committed, plausible } from "./committed.ts";
import { type Action, type Call, type Got, noted, type State } from "./state.ts";

/** AIP-158 allows empty pages with a token; a platform that sends nothing else must not hold a client for ever. */
export const MAX_EMPTY_PAGES = 3;

/** What came of a call; without `delivered` it is made once more, or was not waited for. */
interface Received {
  readonly state: State;
  readonly delivered?: { readonly call: Call; readonly fetched: Fetched };
}

export function ask(state: State, place: Place): State {
  const call = { place, skip: place.skip, part: undefined, made: false, again: false, empties: 0 };
  return enlisted(state, call);
}

function enlisted(state: State, call: Omit<Call, "id">): State {
  const { calls, nextCall } = state;
  const entry = { ...call, id: nextCall };
  // What the list waits for goes before what is read ahead.
  const all = call.part === undefined || call.again || call.empties > 0 ? [entry, ...calls] : [...calls, entry];
  return { ...state, calls: all, nextCall: nextCall + 1 };
}

/** Makes as many calls as may be under way at a time. */
export function dispatched(from: State): State {
  let state = from;
  if (state.phase.kind === "over") return state;
  if (state.ahead !== undefined) {
    const { ahead, calls } = plan(state.ahead);
    state = { ...state, ahead };
    for (const { part, place } of calls)
      state = enlisted(state, { place, skip: place.skip, part, made: false, again: false, empties: 0 });
  }
  let open = state.calls.reduce((count, call) => (call.made ? count + 1 : count), 0);
  if (open === state.calls.length) return state;
  const actions: Action[] = [];
  const calls = state.calls.map((call) => {
    if (call.made || open >= state.how.limits.readers) return call;
    open += 1;
    actions.push({ kind: "fetch", call: call.id, place: call.place });
    return { ...call, made: true };
  });
  return { ...state, calls, actions: [...state.actions, ...actions] };
}

/** What came of a call: one that cannot be read, or is answered 5xx, is made once more while there are repairs. */
export function received(before: State, id: number, got: Got): Received {
  const call = before.calls.find((one) => one.id === id);
  if (call === undefined) return { state: before };
  const state = { ...before, calls: before.calls.filter((one) => one !== call) };
  const fetched = checked(state, call, got);
  const isStart = call.place.token === undefined && call.place.skip === undefined;
  if (isBad(fetched) && !isStart && !call.again && state.repairs > 0) {
    return {
      state: enlisted(noted({ ...state, repairs: state.repairs - 1 }, "list-page-again"), {
        ...call,
        made: false,
        again: true,
      }),
    };
  }
  if (fetched.kind !== "page") return { state, delivered: { call, fetched } };
  const { page } = fetched;
  const last = page.keys.at(-1);
  const { greatest = "" } = state;
  const seen = last !== undefined && last > greatest ? { ...state, greatest: last } : state;
  if (call.skip !== undefined && isEmpty(page) && page.nextPageToken !== "" && call.empties < MAX_EMPTY_PAGES) {
    // The records that begin at a rank may come behind the token of an empty page.
    const place = { token: page.nextPageToken, rank: call.skip };
    return { state: enlisted(seen, { ...call, place, made: false, again: false, empties: call.empties + 1 }) };
  }
  // Nothing comes before rank 0, whatever is read there: of a page behind a token that cannot be said.
  const stands = call.empties > 0 && call.skip !== undefined && call.skip > 0;
  const own = stands ? ({ kind: "page", page: { ...page, skip: call.skip } } as const) : fetched;
  return { state: seen, delivered: { call, fetched: own } };
}

function isBad(got: Fetched): boolean {
  if (got.kind === "refused") return got.response.status >= 500;
  return got.kind === "failed" && got.problem instanceof Problem && got.problem.reason === "UPSTREAM_INVALID";
}

export function isEmpty({ keys }: ListPage): boolean {
  return keys.length === 0;
}

/** Is this the page that was asked for? */
function checked(state: State, { place }: Call, got: Got): Fetched {
  if (got.kind !== "page") return got;
  const { how, list } = state;
  const { page } = got;
  const atStart = place.token === undefined && place.skip === undefined;
  const skip = atStart ? 0 : place.skip;
  if (place.skip !== undefined && page.skipped !== undefined && page.skipped !== place.skip)
    return { kind: "unskipped" };
  if (page.keys.length > how.limits.pageSize) {
    return invalid(`a page of ${how.resource} holds more than the ${how.limits.pageSize} records asked for`);
  }
  // No skip was asked for, so an echoed one means records left out.
  if (place.skip === undefined && page.skipped !== undefined && page.skipped !== 0) {
    return invalid(`a page of ${how.resource} skipped records that were asked for`);
  }
  if (saysNothing(list, page)) return invalid(`a page of ${how.resource} behind the first one says nothing at all`);
  if (page.bare === true) {
    // Zeros may be left out, and an empty list with them: but not where records are to come.
    const rank = skip ?? place.rank;
    const counted = rank !== undefined && (plausible(page.totalCount) ?? 0) > rank;
    if (counted || page.nextPageToken !== "") return invalid(`a page of ${how.resource} is without its records`);
  }
  return { kind: "page", page: { ...page, skip } };
}

/**
 * True when `page`, behind the first one, is as good as `{}`: no record, no token, and no count where the list had one. A
 * front may have answered it; of a list that was emptied meanwhile a second reading shows the same in its first page.
 */
export function saysNothing({ pages, firstTotal = 0 }: Committed, page: ListPage): boolean {
  return pages > 0 && firstTotal > 0 && page.totalCount === undefined && isEmpty(page) && page.nextPageToken === "";
}

function invalid(what: string): Fetched {
  return { kind: "failed", problem: new Problem("UPSTREAM_INVALID", what) };
}
