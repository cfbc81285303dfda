/**
 * The state of a brownout rule: one value, and one pure step from what happens to the next value. A window runs at most once. What stopped it, or
 * kept it from its start, holds until its end.
 */
import type { EventKind } from "../model/event.ts";
import type { BrownoutSettings, TimeSpan } from "../model/rules.ts";
import type { BrownoutStatus } from "../rules/status.ts";
import { counted, percent } from "../rules/words.ts";

/** Requests of a window: all of v1, and those of them that were refused. */
export interface BrownoutCounts {
  readonly requests: number;
  readonly refused: number;
}

export type BrownoutPhase =
  | { readonly kind: "waiting" }
  /** A cause that may pass keeps it from refusing. `hasRun`: it began before. `isTold`: that was reported. */
  | (InWindow & { readonly kind: "held"; readonly since: number; readonly hasRun: boolean; readonly isTold: boolean })
  | (InWindow & { readonly kind: "running" })
  /** It refuses nothing more in this window. */
  | (InWindow & { readonly kind: "stopped"; readonly hasRun: boolean });

interface InWindow {
  readonly window: TimeSpan;
  /** Why it is held or stopped; empty while it runs. */
  readonly why: string;
  /** Of this process. */
  readonly counts: BrownoutCounts;
}

export interface BrownoutState {
  readonly phase: BrownoutPhase;
  /** The beginnings of windows that are over: a clock that is set back does not repeat them. */
  readonly over: readonly number[];
  /** The next windows. */
  readonly next: readonly TimeSpan[];
  /** What was saved of it cannot be read: a window that is open now may have been stopped. */
  readonly isLost: boolean;
  /** What all replicas counted in the window; undefined while that is not known. */
  readonly together: BrownoutCounts | undefined;
}

/** Why a brownout may not run now. `passes`: the window goes on once the cause is gone. */
export interface BrownoutBlocker {
  readonly why: string;
  readonly passes: boolean;
}

/** `at`: milliseconds since 1970. */
export type BrownoutEvent =
  /** `open`: the window that includes `at`. `next`: those after it. */
  | {
      readonly kind: "look";
      readonly at: number;
      readonly open: TimeSpan | undefined;
      readonly next: readonly TimeSpan[];
      readonly blocker: BrownoutBlocker | undefined;
    }
  /** A v1 request is over. `decides`: this process counts for all. */
  | { readonly kind: "request"; readonly refused: boolean; readonly decides: boolean }
  /** What all replicas counted in the window that begins at `start`. `stopped`: why one of them stopped it. */
  | {
      readonly kind: "together";
      readonly start: number;
      readonly counts: BrownoutCounts;
      readonly stopped: string | undefined;
    };

export type BrownoutEventKind = Extract<EventKind, `brownout-${string}`>;

export interface BrownoutStep {
  readonly state: BrownoutState;
  readonly report?: {
    readonly kind: BrownoutEventKind;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  };
}

const NO_COUNTS: BrownoutCounts = { requests: 0, refused: 0 };
const WAITING: BrownoutPhase = { kind: "waiting" };
const MOST_OVER = 16;
/** A start of carryover may take as long as this until the store responds. */
const HELD_IN_SILENCE_MS = 10_000;

/** `isLost`: what was saved of it cannot be read. */
export function initialBrownout(isLost = false): BrownoutState {
  return { phase: WAITING, over: [], next: [], isLost, together: undefined };
}

/** The state after `event`. A look may lead to two steps: `step` is to be called until it returns the same state. */
export function stepBrownout(
  state: BrownoutState,
  event: BrownoutEvent,
  settings: Pick<BrownoutSettings, "stopAbove" | "minRequests">,
): BrownoutStep {
  switch (event.kind) {
    case "look":
      return look(event.next === state.next ? state : { ...state, next: event.next }, event);
    case "request":
      return afterRequest(state, event, settings);
    case "together":
      return afterTogether(state, event, settings);
    default:
      return event satisfies never;
  }
}

/** True if v1 is refused at `at`. A clock that was set back to a time before the window waits for it. */
export function refusesAt({ phase }: BrownoutState, at: number): boolean {
  return phase.kind === "running" && at >= phase.window.start && at < phase.window.end;
}

type Look = BrownoutEvent & { readonly kind: "look" };

function look(state: BrownoutState, event: Look): BrownoutStep {
  const { phase } = state;
  const { at, open } = event;
  if (phase.kind === "waiting") return begin(state, event);
  if (open?.start === phase.window.start) return inWindow(state, phase, open, event);
  const isBefore = open === undefined && at < phase.window.start;
  return isBefore ? { state } : end(state, phase);
}

function begin(state: BrownoutState, { at, open, blocker }: Look): BrownoutStep {
  if (open === undefined || state.over.includes(open.start)) return { state: known(state) };
  const in_ = { window: open, counts: NO_COUNTS };
  if (state.isLost) {
    const why = "its saved state cannot be read, and this window may have been stopped";
    return notStarted({ ...known(state), phase: { kind: "stopped", ...in_, why, hasRun: false } }, why);
  }
  if (blocker === undefined) return began({ ...state, phase: { kind: "running", ...in_, why: "" } }, open);
  const { why, passes } = blocker;
  if (!passes) return notStarted({ ...state, phase: { kind: "stopped", ...in_, why, hasRun: false } }, why);
  return { state: { ...state, phase: { kind: "held", ...in_, why, since: at, hasRun: false, isTold: false } } };
}

/** Of an open window. `open`: its end may be another one after a change of the rule. */
function inWindow(
  state: BrownoutState,
  before: Exclude<BrownoutPhase, { kind: "waiting" }>,
  open: TimeSpan,
  { at, blocker }: Look,
): BrownoutStep {
  const phase = before.window.end === open.end ? before : { ...before, window: open };
  const same = phase === before ? state : { ...state, phase };
  switch (phase.kind) {
    case "stopped":
      return { state: same };
    case "running": {
      if (blocker === undefined) return { state: same };
      const { why, passes } = blocker;
      return stopped(
        {
          ...same,
          phase: passes ? { ...phase, kind: "held", why, since: at, hasRun: true, isTold: true } : ended(phase, why),
        },
        why,
      );
    }
    case "held": {
      const { since: _, isTold, hasRun, ...rest } = phase;
      if (blocker === undefined) return began({ ...same, phase: { ...rest, kind: "running", why: "" } }, open);
      const { why, passes } = blocker;
      if (!passes) {
        const after: BrownoutState = { ...same, phase: { ...rest, kind: "stopped", hasRun, why } };
        return isTold ? { state: after } : notStarted(after, why);
      }
      if (isTold || at - phase.since < HELD_IN_SILENCE_MS) return { state: same };
      return notStarted({ ...same, phase: { ...phase, why, isTold: true } }, why);
    }
    default:
      return phase satisfies never;
  }
}

/** The window is over. */
function end(state: BrownoutState, phase: Exclude<BrownoutPhase, { kind: "waiting" }>): BrownoutStep {
  const over = [phase.window.start, ...state.over].slice(0, MOST_OVER);
  const after = { ...known(state), phase: WAITING, over, together: undefined };
  if (phase.kind !== "running") return { state: after };
  const reason = `its window is over: ${countsText(state.together ?? phase.counts)}`;
  return { state: after, report: { kind: "brownout-ended", from: "brownout", to: "nothing", reason } };
}

function afterRequest(
  state: BrownoutState,
  { refused, decides }: BrownoutEvent & { readonly kind: "request" },
  settings: Pick<BrownoutSettings, "stopAbove" | "minRequests">,
): BrownoutStep {
  const { phase } = state;
  if (phase.kind !== "running") return { state };
  const counts = { requests: phase.counts.requests + 1, refused: phase.counts.refused + Number(refused) };
  const after = { ...state, phase: { ...phase, counts } };
  return decides ? judged(after, counts, settings) : { state: after };
}

function afterTogether(
  state: BrownoutState,
  { start, counts, stopped: why }: BrownoutEvent & { readonly kind: "together" },
  settings: Pick<BrownoutSettings, "stopAbove" | "minRequests">,
): BrownoutStep {
  const { phase } = state;
  if (phase.kind === "waiting" || phase.window.start !== start) return { state };
  const after = { ...state, together: counts };
  if (phase.kind !== "running" && phase.kind !== "held") return { state: after };
  if (why === undefined) return judged(after, counts, settings);
  return stopped({ ...after, phase: ended(phase, why) }, why);
}

/** Stops a brownout that refuses more than it may. */
function judged(
  state: BrownoutState,
  counts: BrownoutCounts,
  { stopAbove, minRequests }: Pick<BrownoutSettings, "stopAbove" | "minRequests">,
): BrownoutStep {
  const { phase } = state;
  const { requests, refused } = counts;
  if (phase.kind !== "running" || requests < minRequests || refused <= stopAbove * requests) return { state };
  const why = `${countsText(counts)}, more than brownout.stopAbove: ${percent(stopAbove)}`;
  return stopped({ ...state, phase: ended(phase, why) }, why);
}

function ended({ window, counts, ...phase }: Exclude<BrownoutPhase, { kind: "waiting" }>, why: string): BrownoutPhase {
  const hasRun = phase.kind === "running" || phase.hasRun;
  return { kind: "stopped", window, counts, why, hasRun };
}

function known(state: BrownoutState): BrownoutState {
  return state.isLost ? { ...state, isLost: false } : state;
}

function began(state: BrownoutState, { end }: TimeSpan): BrownoutStep {
  const reason = `v1 is refused until ${new Date(end).toISOString()}`;
  return { state, report: { kind: "brownout-began", from: "nothing", to: "brownout", reason } };
}

function stopped(state: BrownoutState, reason: string): BrownoutStep {
  return { state, report: { kind: "brownout-stopped", from: "brownout", to: "nothing", reason } };
}

function notStarted(state: BrownoutState, reason: string): BrownoutStep {
  return { state, report: { kind: "brownout-not-started", from: "nothing", to: "nothing", reason } };
}

/** What a brownout does now, for people. Its next windows are shown apart. */
export function brownoutText({ phase, window, why, counts = NO_COUNTS }: BrownoutStatus): string {
  if (window === undefined) return "waits for its next window";
  const until = `${new Date(window.end).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (phase === "running") return `refuses v1 until ${until}: ${countsText(counts)}`;
  return `refuses nothing until ${until}, in its window: ${why ?? "it is held"}`;
}

/** `12 of 340 v1 requests were refused (3.5 %)`. */
function countsText({ requests, refused }: BrownoutCounts): string {
  const share = requests === 0 ? "" : ` (${percent(refused / requests, 3)})`;
  return `${refused} of ${counted(requests, "v1 request")} were refused${share}`;
}
