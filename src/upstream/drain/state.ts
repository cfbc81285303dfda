/** One list while it is read: the value that steps change, and what they may ask for. */
import type { Witness } from "../../model/exchange.ts";
import type { ListPage } from "../../model/list.ts";
import type { ApiResponse } from "../../model/message.ts";
import type { Ahead, Place } from "./ahead.ts";
import { type Committed, emptyList, type Page } from "./committed.ts";
import { isMiscounted, type Shortfall, type Totals, witnessOf } from "./end.ts";
import type { DrainLimits } from "./limits.ts";

/**
 * What was odd about a list that is nevertheless whole, for `Exchange.notes`: begun anew; a gap that was closed; a page read
 * twice; keys out of the declared order; a key that came twice; a count that changed or was not met; `skip` without effect;
 * a token that began the list again; a way of reading that was left for the next.
 */
export type DrainNote =
  | "list-read-again"
  | "list-repaired"
  | "list-page-again"
  | "list-order"
  | "list-duplicate"
  | "list-total"
  | "list-skip-ignored"
  | "list-token-restarted"
  | "list-way-left";

/** What is said of a list before it is read; it never changes. */
export interface How {
  readonly resource: string;
  readonly keyOrder: boolean;
  /** A first page without any list of records proves nothing. */
  readonly bareProvesNothing: boolean;
  readonly limits: DrainLimits;
  readonly tokens: "keyset" | "offset" | "unknown";
  readonly totals: Totals;
  readonly require: Witness;
  /** Whether `skip` was lately heeded; undefined: nobody knows. */
  readonly heedsSkip: boolean | undefined;
  /** Records that the list had the last time; undefined: nobody knows. */
  readonly expected: number | undefined;
}

export type Event =
  /** The next records are wanted: the client has taken what came before. */
  | { readonly kind: "pull" }
  /** A call has ended. `read`: what its response held, before anything of it was checked. */
  | { readonly kind: "came"; readonly call: number; readonly got: Got }
  /** The list begins to go out with what was emitted so far, and promises `witness`. */
  | { readonly kind: "announced"; readonly witness: Witness };

/** What a call brought. */
export type Got =
  | { readonly kind: "page"; readonly page: ListPage }
  | { readonly kind: "refused"; readonly response: ApiResponse }
  | { readonly kind: "failed"; readonly problem: unknown };

export type Action =
  | { readonly kind: "fetch"; readonly call: number; readonly place: Place }
  | { readonly kind: "cancel"; readonly call: number }
  /** Records of reading number `reading`: what an earlier reading emitted is void unless it was announced. */
  | { readonly kind: "emit"; readonly chunk: Uint8Array; readonly reading: number }
  | { readonly kind: "finish"; readonly witness: Witness }
  /** The platform refused a page: its response is the answer. */
  | { readonly kind: "refuse"; readonly response: ApiResponse }
  | { readonly kind: "fail"; readonly problem: unknown }
  | { readonly kind: "learn-skip"; readonly heeded: boolean }
  | { readonly kind: "learn-count"; readonly count: number };

/** A call that is under way, or waits until one of the list's `readers` is free. */
export interface Call {
  readonly id: number;
  readonly place: Place;
  /** The rank that was asked for first: pages after empty ones stand for it. */
  readonly skip: number | undefined;
  /** For which part; undefined: the list waits for it. */
  readonly part: number | undefined;
  readonly made: boolean;
  readonly again: boolean;
  readonly empties: number;
}

/** Looking for the commit point by rank. */
export interface Seek {
  readonly kind: "seek";
  readonly skip: number;
  /** How much further back the next try begins. */
  readonly back: number;
  /** The page that did not join on, to be taken when the gap before it is closed. */
  readonly held: Page | undefined;
  /** Readings of the last page, when its being the last is in doubt. */
  readonly tries: number;
  readonly short: Shortfall | undefined;
  /** The page that seemed to be the last. */
  readonly last: Page | undefined;
  /** The parts have run out, and are to be planned anew. */
  readonly planAgain: boolean;
}

export type Phase =
  | { readonly kind: "start" | "first" | "ahead" | "cursor" | "over" }
  /** The page behind a token is asked for; `ahead`: because the parts have run out. */
  | { readonly kind: "token"; readonly ahead: boolean }
  | Seek
  /** Does the token of a short page with nothing new lead to an empty end? */
  | { readonly kind: "behind"; readonly page: Page; readonly seek: Seek };

export interface State {
  readonly how: How;
  readonly list: Committed;
  /** 0, and 1 when the list was begun anew. */
  readonly reading: number;
  /** The count that an earlier reading fell short of. */
  readonly missed: number | undefined;
  readonly phase: Phase;
  /** Somebody waits for the next records. */
  readonly wanted: boolean;
  readonly way: "parallel" | "cursor";
  readonly ahead: Ahead | undefined;
  /** Windows were asked for together with the first page. */
  readonly guessed: boolean;
  readonly firstPage: { readonly records: number; readonly bytes: number };
  readonly calls: readonly Call[];
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
  /** Pages that count for `maxPages` on the way by cursor, and empty ones in a row. */
  readonly cursorPages: number;
  readonly emptyPages: number;
  readonly notes: ReadonlySet<DrainNote>;
  /** What to do after this step, in order. */
  readonly actions: readonly Action[];
}

/** Repairs that any list may take; longer ones may take as many more as they have pages. */
export const REPAIRS = 16;

/** Nothing is asked for until the first pull. */
export function startOf(how: How): State {
  return {
    how,
    list: emptyList(how.keyOrder),
    reading: 0,
    missed: undefined,
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
    emptyPages: 0,
    notes: new Set(),
    actions: [],
  };
}

/** What the head of a response may promise now, so that the end keeps it or breaks the list off. A count is promised only where it is required. */
export function floorOf({ list, provable, how }: State): Witness {
  if (list.ended) return witnessOf(list);
  if (provable && list.proved && list.ascending) return "cover";
  return how.require === "count" ? "count" : "none";
}

/** What was odd so far. */
export function notesOf({ how, list, notes }: State): readonly DrainNote[] {
  const order = how.keyOrder && !list.ascending ? (["list-order"] as const) : [];
  const twice = list.repeated ? (["list-duplicate"] as const) : [];
  const total = list.ended && isMiscounted(list) ? (["list-total"] as const) : [];
  return [...new Set([...notes, ...order, ...twice, ...total])];
}

export function noted(state: State, note: DrainNote): State {
  return state.notes.has(note) ? state : { ...state, notes: new Set(state.notes).add(note) };
}

/** Stops all calls that `leave` does not spare. */
export function cancelled(state: State, spare: (call: Call) => boolean = () => false): State {
  if (state.calls.every(spare)) return state;
  const actions = state.calls.filter((call) => call.made && !spare(call)).map(cancelOf);
  return { ...state, calls: state.calls.filter(spare), actions: [...state.actions, ...actions] };
}

function cancelOf({ id }: Call): Action {
  return { kind: "cancel", call: id };
}

/** Nothing is read ahead any more. */
export function closed(state: State): State {
  if (state.ahead === undefined) return state;
  return { ...cancelled(state, (call) => call.part === undefined), ahead: undefined };
}

export function over(state: State, end: Action): State {
  const stopped = cancelled(state);
  return { ...stopped, phase: { kind: "over" }, ahead: undefined, actions: [...stopped.actions, end] };
}
