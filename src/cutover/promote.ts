/** Has a rule's shadow been compared often enough to move on? (Design section 7: a bound, and who moves.) */
import type { PromoteSettings } from "../model/rules.ts";
import { upperBound } from "./bound.ts";
import { type Caller, type Crowd, NOBODY, sizeOf, withCaller } from "./counts.ts";

/** Comparisons without a difference that give a bound `b` are `3 / b`: a half holds four times as many, and old ones leave by halves. */
const COMPARISONS_PER_HALF = 12;
const SMALLEST_HALF = 100;
const LARGEST_HALF = 10_000_000;
/** What is counted for a rule that says nothing of moving on: its bound can be shown. */
const SHOWN: PromoteSettings = { differencesBelow: 0.001, minClients: 1, automatic: false };

export interface PromoteState {
  readonly settings: PromoteSettings;
  /** Distinct clients that must have been compared: what is set, or as many as the rule names. */
  readonly clientsNeeded: number;
  readonly older: Half;
  readonly newer: Half;
  /** True from `promote` on, whatever comes after; stepping back is `retreat.ts`. */
  readonly promoted: boolean;
}

interface Half {
  readonly comparisons: number;
  readonly differences: number;
  /** Who was compared, at most as many as are needed. */
  readonly crowd: Crowd;
}

/** What a bound rests on. */
export interface Evidence {
  readonly comparisons: number;
  readonly differences: number;
  /** Distinct; at most as many as are needed are counted. */
  readonly clients: number;
  /** Upper bound (95 %) of the share of differing answers; 1 without a comparison. */
  readonly bound: number;
}

const NOTHING: Half = { comparisons: 0, differences: 0, crowd: NOBODY };

/** `settings`: undefined where the rule never moves by itself; `named`: how many clients the rule names, undefined: all. */
export function initialPromotion(settings: PromoteSettings | undefined, named: number | undefined): PromoteState {
  const { minClients } = settings ?? SHOWN;
  return {
    settings: settings ?? SHOWN,
    clientsNeeded: Math.max(1, Math.min(minClients, named ?? minClients)),
    older: NOTHING,
    newer: NOTHING,
    promoted: false,
  };
}

/**
 * The state after one more comparison. Old differences age by number, not by time, and not by a run of luck: once the newer
 * half is full, the older one is forgotten. A state belongs to one identity of a rule; a rule that is changed begins afresh.
 */
export function reduce(state: PromoteState, seen: { readonly who: Caller; readonly differs: boolean }): PromoteState {
  const { newer, clientsNeeded } = state;
  const half: Half = {
    comparisons: newer.comparisons + 1,
    differences: newer.differences + (seen.differs ? 1 : 0),
    crowd: withCaller(newer.crowd, seen.who, clientsNeeded),
  };
  const full = half.comparisons >= halfOf(state.settings);
  return full ? { ...state, older: half, newer: NOTHING } : { ...state, newer: half };
}

/** The state of a rule that moves now, for it could, and no operation that it takes holds it back (`operation.ts`). */
export function promote(state: PromoteState): PromoteState {
  return { ...state, promoted: true };
}

/** What has been compared. */
export function evidence({ older, newer }: PromoteState): Evidence {
  const comparisons = older.comparisons + newer.comparisons;
  const differences = older.differences + newer.differences;
  const clients = sizeOf([older.crowd, newer.crowd]);
  return { comparisons, differences, clients, bound: upperBound(differences, comparisons) };
}

/** True when what has been compared is, all operations together, enough for the rule's settings. */
export function couldMove(state: PromoteState): boolean {
  const { differencesBelow } = state.settings;
  const { older, newer } = state;
  // The bound is never below (differences + 2.99) / comparisons: most of the time this is seen without working it out.
  const least = older.differences + newer.differences + 2.99;
  if (least >= differencesBelow * (older.comparisons + newer.comparisons)) return false;
  const { clients, bound } = evidence(state);
  return clients >= state.clientsNeeded && bound < differencesBelow;
}

function halfOf({ differencesBelow }: PromoteSettings): number {
  const wanted = Math.ceil(COMPARISONS_PER_HALF / differencesBelow);
  return Number.isFinite(wanted) ? Math.min(LARGEST_HALF, Math.max(SMALLEST_HALF, wanted)) : LARGEST_HALF;
}
