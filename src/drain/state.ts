/** One list while it is read: the value that steps change, the actions they ask for, and the calls under way. */

import type { LIST_NOTES, Witness } from "../model/exchange.ts";
import type { ApiResponse } from "../model/http.ts";
import type { ListPage } from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import {
  atRank,
  type CommittedList,
  emptyList,
  highestTotal,
  isMiscounted,
  plausible,
  type RankedPage,
  rankedPage,
  type Shortfall,
  type TotalsPolicy,
  witnessOf,
} from "./committed-list.ts";
import { checkPages, type DrainLimits } from "./limits.ts";
import { type FetchResult, nextCalls, type ReadAhead, type ReadPosition } from "./read-ahead.ts";

/** docs/errors.md explains each. */
export type DrainNote = (typeof LIST_NOTES)[number];

/** What is known before a list is read; it never changes. */
export interface DrainSettings {
  readonly resource: string;
  readonly keyOrder: boolean;
  /** A first page without any list of records proves nothing. */
  readonly bareProvesNothing: boolean;
  readonly limits: DrainLimits;
  readonly tokens: "keyset" | "offset" | "unknown";
  readonly totals: TotalsPolicy;
  readonly require: Witness;
  /** Whether `skip` was heeded lately; undefined: not known. */
  readonly heedsSkip: boolean | undefined;
  /** Records that the list had the last time; undefined: not known. */
  readonly expected: number | undefined;
}

/** Whether windows are asked for together with the first page: the list was long the last time, though not so long that it is read in segments. */
export function guessesWindows({ keyOrder, heedsSkip, expected = 0, limits }: DrainSettings): boolean {
  return keyOrder && heedsSkip === true && expected > limits.pageSize && expected <= limits.windowRecords;
}

export type DrainEvent =
  /** The client has taken all records so far and wants the next ones. */
  | { readonly kind: "pull" }
  /** A call has ended; `got` is not checked yet. */
  | { readonly kind: "came"; readonly call: number; readonly got: CallResult }
  /** The list begins to go out with what was emitted so far, and promises `witness`. */
  | { readonly kind: "announced"; readonly witness: Witness };

/** What a call brought. */
export type CallResult =
  | { readonly kind: "page"; readonly page: ListPage }
  | Extract<FetchResult, { readonly kind: "refused" | "failed" }>;

export type DrainAction =
  | { readonly kind: "fetch"; readonly call: number; readonly place: ReadPosition }
  | { readonly kind: "cancel"; readonly call: number }
  /** Records of reading number `reading`. Those of an earlier reading are void unless it was announced. */
  | { readonly kind: "emit"; readonly chunk: Uint8Array; readonly reading: number }
  | { readonly kind: "finish"; readonly witness: Witness }
  /** The platform refused a page: its refusal is the response. */
  | { readonly kind: "refuse"; readonly response: ApiResponse }
  | { readonly kind: "fail"; readonly problem: unknown }
  | { readonly kind: "learn-skip"; readonly heeded: boolean }
  | { readonly kind: "learn-count"; readonly count: number };

/** A call under way, or one that waits until one of the list's `readers` is free. */
export interface PageCall {
  readonly id: number;
  readonly place: ReadPosition;
  /** The rank that was asked for first: pages after empty ones stand for it. */
  readonly skip: number | undefined;
  /** For which part; undefined: the list waits for it. */
  readonly part: number | undefined;
  readonly made: boolean;
  readonly again: boolean;
  readonly empties: number;
}

/** Looking for the commit point by rank. */
export interface CommitPointSeek {
  readonly kind: "seek";
  readonly skip: number;
  /** How much further back the next try begins. */
  readonly back: number;
  /** The page that did not join on, to be taken when the gap before it is closed. */
  readonly held: RankedPage | undefined;
  /** Readings of the last page, when its being the last is in doubt. */
  readonly tries: number;
  readonly short: Shortfall | undefined;
  /** The page that seemed to be the last. */
  readonly last: RankedPage | undefined;
  /** The parts are used up and must be planned again. */
  readonly planAgain: boolean;
}

export type DrainPhase =
  | { readonly kind: "start" | "first" | "ahead" | "cursor" | "over" }
  /** Request the page of a token; `ahead`: because the parts have run out. */
  | { readonly kind: "token"; readonly ahead: boolean }
  | CommitPointSeek
  /** Does the token of a short page with nothing new lead to an empty end? */
  | { readonly kind: "after-short"; readonly page: RankedPage; readonly seek: CommitPointSeek };

export interface DrainState {
  readonly how: DrainSettings;
  readonly list: CommittedList;
  /** How often the list was restarted. */
  readonly reading: number;
  /** Read by the cursor alone: in parallel, the pages contradicted each other. */
  readonly serial: boolean;
  /** The count that an earlier reading fell short of. */
  readonly missed: number | undefined;
  /** What had been counted before an earlier reading ended with a count below what was read; `confirmed`: the list did shrink. */
  readonly sank: number | "confirmed" | undefined;
  readonly phase: DrainPhase;
  /** Somebody waits for the next records. */
  readonly wanted: boolean;
  readonly way: "parallel" | "cursor";
  readonly ahead: ReadAhead | undefined;
  /** Windows were asked for together with the first page. */
  readonly guessed: boolean;
  readonly firstPage: { readonly records: number; readonly bytes: number };
  readonly calls: readonly PageCall[];
  readonly nextCall: number;
  /** Calls that may still be repeated, or made to close a gap. */
  readonly repairs: number;
  /** The greatest last key of any page, taken or not. */
  readonly greatest: string | undefined;
  readonly heedsSkip: boolean | undefined;
  /** The list is read in the hope that `skip` is heeded: nothing may go out yet. */
  readonly trying: boolean;
  /** The way in which the rest is being read can prove it. */
  readonly provable: boolean;
  /** What the head of the response promised; undefined while nothing has gone out. */
  readonly announced: Witness | undefined;
  /** Tokens that were followed one after another. */
  readonly followed: ReadonlySet<string>;
  /** Pages that count for `maxPages` on the way by cursor. */
  readonly cursorPages: number;
  readonly notes: ReadonlySet<DrainNote>;
  /** What to do after this step, in order. */
  readonly actions: readonly DrainAction[];
}

/** Repairs of any list; longer lists get one more for each page. */
export const REPAIRS = 16;

/** Nothing is requested before the first pull. */
export function startOf(how: DrainSettings): DrainState {
  return {
    how,
    list: emptyList(how.keyOrder),
    reading: 0,
    serial: false,
    missed: undefined,
    sank: undefined,
    phase: { kind: "start" },
    wanted: false,
    way: "cursor",
    ahead: undefined,
    guessed: false,
    firstPage: { records: 0, bytes: 0 },
    calls: [],
    nextCall: 0,
    repairs: REPAIRS,
    greatest: undefined,
    heedsSkip: how.heedsSkip,
    trying: false,
    provable: true,
    announced: undefined,
    followed: new Set(),
    cursorPages: 0,
    notes: new Set(),
    actions: [],
  };
}

/** `state` with `changes`. Its members are listed, because the engine copies objects that were made in many places fifty times as slowly. */
export function changed(state: DrainState, changes: Partial<DrainState>): DrainState {
  const copy: DrainState = {
    how: state.how,
    list: state.list,
    reading: state.reading,
    serial: state.serial,
    missed: state.missed,
    sank: state.sank,
    phase: state.phase,
    wanted: state.wanted,
    way: state.way,
    ahead: state.ahead,
    guessed: state.guessed,
    firstPage: state.firstPage,
    calls: state.calls,
    nextCall: state.nextCall,
    repairs: state.repairs,
    greatest: state.greatest,
    heedsSkip: state.heedsSkip,
    trying: state.trying,
    provable: state.provable,
    announced: state.announced,
    followed: state.followed,
    cursorPages: state.cursorPages,
    notes: state.notes,
    actions: state.actions,
  };
  return Object.assign(copy, changes);
}

/** What may be promised now: the end keeps it, or the list is aborted. A count is promised only where it is required. */
export function guaranteedWitness({ list, provable, how }: DrainState): Witness {
  if (list.ended) return witnessOf(list);
  if (provable && list.proved && list.ascending) return "cover";
  return how.require === "count" ? "count" : "none";
}

/** What was odd so far. */
export function notesOf({ how, list, notes }: DrainState): readonly DrainNote[] {
  const all = new Set(notes);
  if (how.keyOrder && !list.ascending) all.add("list-order");
  if (list.repeated) all.add("list-duplicate");
  if (list.ended && isMiscounted(list)) all.add("list-total");
  return [...all];
}

export function noted(state: DrainState, note: DrainNote): DrainState {
  return state.notes.has(note) ? state : changed(state, { notes: new Set(state.notes).add(note) });
}

/** Stops all calls except those to `spare`. */
export function cancelled(state: DrainState, spare: (call: PageCall) => boolean = () => false): DrainState {
  if (state.calls.every(spare)) return state;
  const stopped = state.calls.filter((call) => call.made && !spare(call));
  const cancels = stopped.map(({ id }): DrainAction => ({ kind: "cancel", call: id }));
  return changed(state, { calls: state.calls.filter(spare), actions: [...state.actions, ...cancels] });
}

export function stopReadAhead(state: DrainState): DrainState {
  if (state.ahead === undefined) return state;
  return changed(
    cancelled(state, (call) => call.part === undefined),
    { ahead: undefined },
  );
}

export function ended(state: DrainState, end: DrainAction): DrainState {
  const stopped = cancelled(state);
  return changed(stopped, { phase: { kind: "over" }, ahead: undefined, actions: [...stopped.actions, end] });
}

/** What came of a call; without `delivered` it is made once more, or was not awaited. */
interface EndedCall {
  readonly state: DrainState;
  readonly delivered?: { readonly call: PageCall; readonly fetched: FetchResult };
}

export function requestPage(state: DrainState, place: ReadPosition): DrainState {
  const call = { place, skip: place.skip, part: undefined, made: false, again: false, empties: 0 };
  return withCall(state, call);
}

function withCall(state: DrainState, call: Omit<PageCall, "id">): DrainState {
  const { calls, nextCall } = state;
  const { place, skip, part, made, again, empties } = call;
  const entry = { id: nextCall, place, skip, part, made, again, empties };
  // What the list waits for goes before what is read ahead.
  const all = call.part === undefined || call.again || call.empties > 0 ? [entry, ...calls] : [...calls, entry];
  return changed(state, { calls: all, nextCall: nextCall + 1 });
}

/** Makes as many calls as may be under way at a time. */
export function dispatchCalls(from: DrainState): DrainState {
  let state = from;
  if (state.phase.kind === "over") return state;
  if (state.ahead !== undefined) {
    const { ahead, calls } = nextCalls(state.ahead);
    state = changed(state, { ahead });
    for (const { part, place } of calls)
      state = withCall(state, { place, skip: place.skip, part, made: false, again: false, empties: 0 });
  }
  let open = state.calls.reduce((count, call) => (call.made ? count + 1 : count), 0);
  if (open === state.calls.length) return state;
  const actions: DrainAction[] = [];
  const calls = state.calls.map((call) => {
    if (call.made || open >= state.how.limits.readers) return call;
    open += 1;
    actions.push({ kind: "fetch", call: call.id, place: call.place });
    return { ...call, made: true };
  });
  return changed(state, { calls, actions: [...state.actions, ...actions] });
}

/** Takes the result of a call. A page that cannot be read, or a 5xx, is requested once more while there are repairs. */
export function receiveResult(before: DrainState, id: number, got: CallResult): EndedCall {
  const call = before.calls.find((one) => one.id === id);
  if (call === undefined) return { state: before };
  const state = changed(before, { calls: before.calls.filter((one) => one !== call) });
  const fetched = checkPage(state, call, got);
  const isStart = call.place.token === undefined && call.place.skip === undefined;
  // A list that goes out can hardly be restarted, so a refused page is worth another try.
  const bad = isBad(fetched) || (state.announced !== undefined && isPageRefused(fetched));
  if (bad && !isStart && !call.again && state.repairs > 0) {
    const repaired = noted(changed(state, { repairs: state.repairs - 1 }), "list-page-again");
    return { state: withCall(repaired, { ...call, made: false, again: true }) };
  }
  if (fetched.kind !== "page") return { state, delivered: { call, fetched } };
  const { page } = fetched;
  const last = page.keys.at(-1);
  const { greatest = "" } = state;
  const seen = last !== undefined && last > greatest ? changed(state, { greatest: last }) : state;
  // The records at a rank may follow the token of an empty page. A new token is progress.
  const mayFollow = call.skip !== undefined || state.phase.kind === "after-short";
  const { nextPageToken: token } = page;
  if (mayFollow && isEmpty(page) && token !== "" && token !== call.place.token) {
    const empties = call.empties + 1;
    const problem = checkPages(state.how.resource, empties, state.how.limits);
    if (problem !== undefined) return { state: seen, delivered: { call, fetched: { kind: "failed", problem } } };
    const rank = call.skip ?? call.place.rank ?? state.list.rank;
    const place = { token, rank, chain: page.chain };
    return { state: withCall(seen, { ...call, place, made: false, again: false, empties }) };
  }
  // Nothing comes before rank 0, which cannot be said of a page after a token.
  const stands = call.empties > 0 && call.skip !== undefined && call.skip > 0;
  const own = stands ? ({ kind: "page", page: atRank(page, call.skip) } as const) : fetched;
  return { state: seen, delivered: { call, fetched: own } };
}

function isBad(got: FetchResult): boolean {
  if (got.kind === "refused") return got.response.status >= 500;
  return got.kind === "failed" && got.problem instanceof Problem && got.problem.reason === "UPSTREAM_INVALID";
}

/** Refusals of a page behind the first one that do not concern the client, which asked for no page. */
const REFUSES_PAGE: ReadonlySet<number> = new Set([400, 404, 410]);

export function isPageRefused(got: FetchResult): boolean {
  return got.kind === "refused" && REFUSES_PAGE.has(got.response.status);
}

export function isEmpty({ keys }: ListPage): boolean {
  return keys.length === 0;
}

/** Checks that a page is the one that was requested. */
function checkPage(state: DrainState, { place, again }: PageCall, got: CallResult): FetchResult {
  if (got.kind !== "page") return got;
  const { how, list } = state;
  const { page } = got;
  const { skipped } = page;
  const atStart = place.token === undefined && place.skip === undefined;
  const skip = atStart ? 0 : place.skip;
  const rank = skip ?? place.rank ?? list.rank;
  if (page.keys.length > how.limits.pageSize) {
    return invalidPage(`a page of ${how.resource} holds more than the ${how.limits.pageSize} records asked for`);
  }
  if (isBlank(list, page, rank))
    return invalidPage(`a later page of ${how.resource} holds neither records nor a token nor a total`);
  if (!again && place.skip === undefined && how.totals === "verify" && isSunken(list, page, rank))
    return invalidPage(`a later page of ${how.resource} holds no records and counts fewer than came before it`);
  // A platform that leaves out zeros leaves out empty lists, but not lists with records.
  if (page.bare === true && page.nextPageToken === "" && (plausible(page.totalCount) ?? 0) > rank)
    return invalidPage(`a page of ${how.resource} is without its records`);
  const chain = skip ?? place.chain ?? 0;
  if (skipped === undefined || skipped === chain) return { kind: "page", page: rankedPage(page, skip, chain) };
  // No skip was requested, so an echoed one means that records were left out.
  if (atStart) return invalidPage(`a page of ${how.resource} skipped records that were asked for`);
  // A page beyond the end may say how many records there were to skip.
  if (place.skip !== undefined && !isEmpty(page)) return { kind: "unskipped" };
  // Behind a token, platforms repeat the skip of the chain, or state only their own, or the position of the page.
  if (skipped === 0 || skipped === rank || isEmpty(page)) return { kind: "page", page: rankedPage(page, skip, chain) };
  // Any other number may mean that each page of the chain skips again. Without a skip it can only be read at the end.
  return chain > 0 ? { kind: "unskipped" } : { kind: "page", page: rankedPage(page, skip, chain, skipped) };
}

/**
 * True when `page`, not the first one, is as good as `{}`: no record, no token, and no count although the list had one
 * above `rank`. A proxy may have responded; of a list that was emptied meanwhile, a second reading shows the same in its
 * first page.
 */
export function isBlank({ pages, lastTotal = 0 }: CommittedList, page: ListPage, rank: number): boolean {
  return pages > 0 && lastTotal > rank && page.totalCount === undefined && isEmpty(page) && page.nextPageToken === "";
}

/** True when `page`, not the first one, is empty, has no token and counts fewer records than come before it, and the list had more. */
function isSunken(list: CommittedList, page: ListPage, rank: number): boolean {
  const total = plausible(page.totalCount);
  if (list.pages === 0 || total === undefined || !isEmpty(page) || page.nextPageToken !== "") return false;
  return total < rank && rank < highestTotal(list);
}

function invalidPage(what: string): FetchResult {
  return { kind: "failed", problem: new Problem("UPSTREAM_INVALID", what, { options: [] }) };
}
