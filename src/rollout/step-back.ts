/** When a rule goes back to native by itself, and when it returns to `translate`: a pure state and its reducer. */
import type { StepBackSettings } from "../model/rules.ts";
import {
  addObservation,
  affectedCallers,
  affectedClients,
  type CallerIdentity,
  countCallers,
  countsIn,
  type DistinctCallers,
  type ElapsedTime,
  type EvidenceWindow,
  elapse,
  emptyWindow,
  type Observation,
  requestingClients,
  UNSTARTED,
  type WindowCounts,
} from "./evidence-window.ts";
import type { FailureCounts } from "./guard.ts";
import type { Slowness } from "./slowness.ts";

/** Shares of a rule's clients that are translated again, step by step. */
export const STEPS = [0.1, 0.3, 1] as const;
/** The quiet time grows to at most this many times `returnAfter`. */
export const LONGEST_WAIT = 16;
/** A step that sees too few requests ends after this many times `returnAfter`. */
export const MAX_QUIET_TIMES_PER_STEP = 4;

export interface StepBackConfig extends StepBackSettings {
  /** How many clients the rule names; undefined: it is for all. */
  readonly named: number | undefined;
  /** Quiet time after a step back by the guard. Absent if the guard steps nothing back. */
  readonly guard?: { readonly returnAfter: number } | undefined;
}

/**
 * `request`: a translated request that counts as evidence is over. `compared`: a comparison is over; `isSick`: v2 failed where native served.
 * `alarm`: v2 fails clients, or another replica stepped back. `at`: milliseconds of any clock.
 */
export type StepBackEvent =
  | { readonly kind: "request"; readonly at: number; readonly who: CallerIdentity; readonly failed: boolean }
  | {
      readonly kind: "compared";
      readonly at: number;
      readonly who: CallerIdentity;
      readonly differs: boolean;
      readonly isSick?: boolean | undefined;
    }
  /** Clients of a returning rule meet failures of v2. */
  | { readonly kind: "failing"; readonly at: number }
  /** A comparison failed because v2 did. */
  | { readonly kind: "sick"; readonly at: number }
  | { readonly kind: "alarm"; readonly at: number; readonly cause: StepBackCause }
  | { readonly kind: "tick"; readonly at: number };

/** `bad` of `all`, met by at least this many clients. */
interface CauseCounts {
  readonly bad: number;
  readonly all: number;
  readonly clients: number;
  /** The replica that found it, if it was another one. */
  readonly replica?: string | undefined;
  /** How many replicas counted it together; absent: one alone. */
  readonly together?: number | undefined;
}

/** The translation failed or differed, counted in the window. */
interface TranslationCause extends CauseCounts {
  readonly what: "failures" | "differences";
}

/** v2 failed what native v1 would have served, counted since the failures began. */
export interface GuardCause extends CauseCounts {
  readonly what: "guard";
  /** `group list`, or absent for several operations together. */
  readonly operation?: string | undefined;
  readonly write: boolean;
  readonly kinds: FailureCounts;
  /** Failed reads that were repeated on native, and how many of those it served. */
  readonly pairs: { readonly asked: number; readonly served: number };
  /** The rate limit that v2 named. */
  readonly rateLimit?: string | undefined;
}

/** v2 was much slower than native v1. The counts say nothing. */
export interface SlowCause extends CauseCounts, Slowness {
  readonly what: "slow";
}

/** Why a rule stepped back. */
export type StepBackCause = TranslationCause | GuardCause | SlowCause;

/** True for what v2 did to clients, not the translation. */
export function isOfGuard({ what }: StepBackCause): boolean {
  return what === "guard" || what === "slow";
}

/** Times on the state's own clock. `quietSince`: since when no threshold has been exceeded. */
export type StepBackPhase =
  | { readonly kind: "forward"; readonly since: number }
  | {
      readonly kind: "back";
      readonly since: number;
      readonly quietSince: number;
      readonly cause: StepBackCause;
      /** Comparisons since `quietSince` that v2 responded to. */
      readonly clean: number;
    }
  | {
      readonly kind: "returning";
      readonly step: number;
      readonly since: number;
      readonly quietSince: number;
      /** In this step. */
      readonly requests: number;
      /** Why it had stepped back. */
      readonly cause: StepBackCause;
    };

export interface StepBack {
  readonly settings: StepBackConfig;
  readonly time: ElapsedTime;
  readonly window: EvidenceWindow;
  readonly phase: StepBackPhase;
  /** How many times `returnAfter` the present (or last) quiet time is; 0: the rule never stepped back. */
  readonly factor: number;
  readonly stepBacks: number;
}

/** A rule that translates. */
export function initialStepBack(settings: StepBackConfig): StepBack {
  return {
    settings,
    time: UNSTARTED,
    window: freshWindow(settings),
    phase: { kind: "forward", since: 0 },
    factor: 0,
    stepBacks: 0,
  };
}

/** A step back as it is saved: without the settings, which the rules file says. */
export type StepBackMemory = Omit<StepBack, "settings">;

/**
 * What was learnt `before`, under the settings of `fresh`. A rule that stepped back stays back, unless what made it step back no longer
 * exceeds a threshold. A window of another length counts from 0.
 */
export function continuedStepBack(fresh: StepBack, before: StepBackMemory): StepBack {
  const { settings } = fresh;
  const { time, phase, factor, stepBacks } = before;
  const isSameLength = before.window.slice === fresh.window.slice;
  // Without `returnAfter` no step would ever follow.
  const isStuck = phase.kind === "returning" && returnAfter(settings, phase.cause) === undefined;
  const isMoot = phase.kind === "back" && !isCause(phase.cause, settings);
  return {
    settings,
    time,
    window: isSameLength ? { ...before.window, keep: fresh.window.keep } : fresh.window,
    phase: isMoot
      ? { kind: "forward", since: time.now }
      : isStuck
        ? { kind: "back", since: time.now, quietSince: time.now, clean: 0, cause: phase.cause }
        : phase,
    factor,
    stepBacks,
  };
}

export function stepBackMemory({ time, window, phase, factor, stepBacks }: StepBack): StepBackMemory {
  return { time, window, phase, factor, stepBacks };
}

/** The state stepped back, with a made-up cause that exceeds every threshold. `isHeldBack` recognizes it: no client met it. */
export function heldBack(state: StepBack): StepBack {
  const { settings, time, phase } = state;
  if (phase.kind === "back") return state;
  const counts = { bad: 1, all: 1, clients: 0 };
  const what = settings.failures === undefined ? "differences" : "failures";
  const unknown = { write: false, kinds: {}, pairs: { asked: 0, served: 0 } };
  const cause: StepBackCause =
    settings[what] === undefined ? { what: "guard", ...counts, ...unknown } : { what, ...counts };
  return {
    ...state,
    phase: { kind: "back", since: time.now, quietSince: time.now, clean: 0, cause },
    factor: LONGEST_WAIT,
    stepBacks: Math.max(1, state.stepBacks),
  };
}

/** True for what `heldBack` made, whatever an earlier version did with it since: a real step back has at least one client. */
export function isHeldBack({ phase }: StepBackMemory): boolean {
  return phase.kind !== "forward" && phase.cause.clients === 0;
}

/** The state after `event`; the phase changes at most once. Events of the same time may come in any order. */
export function reduceStepBack(state: StepBack, event: StepBackEvent): StepBack {
  const { phase, settings } = state;
  // Without a threshold for failures nothing is judged by them, and counting costs time.
  if (event.kind === "request" && phase.kind === "forward" && settings.failures === undefined) return state;
  const timed = { ...state, time: elapse(state.time, event.at, state.settings.window) };
  switch (event.kind) {
    case "tick":
      return judge(timed);
    case "request":
      // It was sent while the rule was still forward.
      if (timed.phase.kind === "back") return judge(timed);
      return judge(withObservation(withRequest(timed), { of: "requests", bad: event.failed, who: event.who }));
    case "compared": {
      const compared = event.isSick === true ? notQuiet(timed) : withClean(timed);
      return judge(withObservation(compared, { of: "comparisons", bad: event.differs, who: event.who }));
    }
    case "sick":
      return judge(notQuiet(timed));
    case "failing":
      return timed.phase.kind === "returning"
        ? { ...timed, phase: { ...timed.phase, quietSince: timed.time.now } }
        : timed;
    case "alarm":
      return timed.phase.kind === "back" ? timed : stepBack(timed, event.cause);
    default:
      return event satisfies never;
  }
}

/** v2's failures end the quiet time only of a rule that stepped back for them. */
function notQuiet(state: StepBack): StepBack {
  const { phase, time } = state;
  if (phase.kind !== "back" || !isOfGuard(phase.cause)) return state;
  return { ...state, phase: { ...phase, quietSince: time.now, clean: 0 } };
}

function withClean(state: StepBack): StepBack {
  const { phase } = state;
  return phase.kind === "back" ? { ...state, phase: { ...phase, clean: phase.clean + 1 } } : state;
}

/** Clients that a returning rule translated lately; exact up to as many as must be affected. */
export function recentClients({ window, time }: StepBack): number {
  return requestingClients(window, time.now);
}

/** Share of the rule's clients that are translated. */
export function translatedShare({ phase }: StepBack): number {
  if (phase.kind === "forward") return 1;
  return phase.kind === "back" ? 0 : (STEPS[phase.step] ?? 1);
}

/** Milliseconds of quiet after which the rule takes its next step; undefined: it takes none by itself. */
export function quietNeeded({ settings, phase, factor }: StepBack): number | undefined {
  if (phase.kind === "forward") return undefined;
  const quiet = returnAfter(settings, phase.cause);
  return phase.kind === "back" && quiet !== undefined ? quiet * factor : quiet;
}

function returnAfter({ returnAfter, guard }: StepBackConfig, cause: StepBackCause): number | undefined {
  return isOfGuard(cause) ? guard?.returnAfter : returnAfter;
}

/** Whether the rule still steps back for it. */
function isCause(cause: StepBackCause, settings: StepBackConfig): boolean {
  if (cause.what === "guard" || cause.what === "slow") return settings.guard !== undefined;
  return exceeds(cause.bad, cause.all, settings[cause.what]);
}

function freshWindow(settings: StepBackConfig): EvidenceWindow {
  return emptyWindow(settings.window, clientsNeeded(settings));
}

function clientsNeeded({ minClients, named }: StepBackConfig): number {
  return Math.max(1, Math.min(minClients, named ?? minClients));
}

function withRequest(state: StepBack): StepBack {
  const { phase } = state;
  return phase.kind === "returning" ? { ...state, phase: { ...phase, requests: phase.requests + 1 } } : state;
}

/** A failure or difference that exceeds a threshold for enough clients ends the quiet time, however few requests there are. */
function withObservation(state: StepBack, observation: Observation): StepBack {
  const { phase, time } = state;
  const asking = phase.kind === "returning";
  const after = { ...state, window: addObservation(state.window, time.now, { ...observation, asking }) };
  if (!observation.bad || phase.kind === "forward" || !isAboveThreshold(after, observation.of)) return after;
  return { ...after, phase: { ...phase, quietSince: time.now } };
}

function isAboveThreshold(state: StepBack, of: Observation["of"]): boolean {
  const { bad, all, threshold } = sharesOf(state, countsIn(state.window, state.time.now), of);
  return (
    affectedClients(state.window, state.time.now, of) >= clientsToAffect(state, of) && exceeds(bad, all, threshold)
  );
}

function sharesOf({ settings }: StepBack, counts: WindowCounts, of: Observation["of"]) {
  return of === "requests"
    ? { bad: counts.failures, all: counts.requests, threshold: settings.failures }
    : { bad: counts.differences, all: counts.comparisons, threshold: settings.differences };
}

/**
 * How many clients must be affected: one client's own trouble is no reason to step back for all. While the rule returns, fewer
 * clients are translated than it names, and then all of those are enough.
 */
function clientsToAffect(state: StepBack, of: Observation["of"]): number {
  const needed = clientsNeeded(state.settings);
  if (of === "comparisons" || state.phase.kind !== "returning") return needed;
  return Math.max(1, Math.min(needed, recentClients(state)));
}

function exceeds(bad: number, all: number, threshold: number | undefined): boolean {
  return threshold !== undefined && all > 0 && bad / all > threshold;
}

function judge(state: StepBack): StepBack {
  const { phase } = state;
  if (phase.kind === "back") return isQuiet(state) ? goTo(state, 0, phase.cause) : state;
  const cause = causeOf(state);
  if (cause !== undefined) return stepBack(state, cause);
  return phase.kind === "returning" ? stepOn(state, phase) : state;
}

function isQuiet(state: StepBack): boolean {
  const needed = quietNeeded(state);
  const { phase, time } = state;
  if (needed === undefined || phase.kind === "forward") return false;
  // Silence shows nothing of v2: only a response of its own does.
  const isShown = phase.kind !== "back" || !isOfGuard(phase.cause) || phase.clean > 0;
  return isShown && time.now - phase.quietSince >= needed;
}

function causeOf(state: StepBack): StepBackCause | undefined {
  const { window, time } = state;
  return causeIn(state, {
    counts: countsIn(window, time.now),
    affected: (of) => affectedClients(window, time.now, of),
    needed: (of) => clientsToAffect(state, of),
  });
}

/** What is judged: counts, how many clients are affected, and how many have to be. */
interface Judged {
  readonly counts: WindowCounts;
  readonly affected: (of: Observation["of"]) => number;
  readonly needed: (of: Observation["of"]) => number;
}

/** A threshold that is exceeded, for enough clients, after enough requests or comparisons. */
function causeIn(state: StepBack, { counts, affected, needed }: Judged): StepBackCause | undefined {
  const { minRequests, minComparisons } = state.settings;
  // A share of the clients makes a share of the requests. Comparisons are made for all clients.
  const least = { requests: Math.ceil(minRequests * translatedShare(state)), comparisons: minComparisons };
  for (const what of ["requests", "comparisons"] as const) {
    const { bad, all, threshold } = sharesOf(state, counts, what);
    if (all < Math.max(1, least[what]) || !exceeds(bad, all, threshold)) continue;
    const clients = affected(what);
    if (clients < needed(what)) continue;
    return { what: what === "requests" ? "failures" : "differences", bad, all, clients };
  }
  return undefined;
}

/** What one replica counted of a rule within its window. */
export interface WindowShare extends WindowCounts {
  readonly failing: DistinctCallers;
  readonly differing: DistinctCallers;
}

export function windowShare({ window, time: { now } }: StepBack): WindowShare {
  const [failing, differing] = [affectedCallers(window, now, "requests"), affectedCallers(window, now, "comparisons")];
  return { ...countsIn(window, now), failing, differing };
}

/** Why the rule must step back by what several replicas counted together; undefined if it need not. */
export function causeTogether(state: StepBack, shares: readonly WindowShare[]): StepBackCause | undefined {
  if (state.phase.kind === "back") return undefined;
  const sum = (of: keyof WindowCounts): number => shares.reduce((all, share) => all + share[of], 0);
  const cause = causeIn(state, {
    counts: {
      requests: sum("requests"),
      failures: sum("failures"),
      comparisons: sum("comparisons"),
      differences: sum("differences"),
    },
    affected: (of) => countCallers(shares.map((one) => (of === "requests" ? one.failing : one.differing))),
    needed: () => clientsNeeded(state.settings),
  });
  return cause && { ...cause, together: shares.length };
}

function stepBack(state: StepBack, cause: StepBackCause): StepBack {
  const { now } = state.time;
  return {
    ...state,
    window: freshWindow(state.settings),
    phase: { kind: "back", since: now, quietSince: now, clean: 0, cause },
    factor: nextFactor(state, cause),
    stepBacks: state.stepBacks + 1,
  };
}

/** Doubles each time. A rule that has been forward for the longest wait begins with the shortest again. */
function nextFactor({ factor, phase, settings, time }: StepBack, cause: StepBackCause): number {
  const longest = LONGEST_WAIT * (returnAfter(settings, cause) ?? 0);
  if (factor === 0 || (phase.kind === "forward" && time.now - phase.since >= longest)) return 1;
  return Math.min(LONGEST_WAIT, factor * 2);
}

function goTo(state: StepBack, step: number, cause: StepBackCause): StepBack {
  const { now } = state.time;
  if (step >= STEPS.length) return { ...state, phase: { kind: "forward", since: now } };
  const phase: StepBackPhase = { kind: "returning", step, since: now, quietSince: now, requests: 0, cause };
  // Comparisons made while native responded say nothing of what the translation does now.
  return { ...state, phase, window: step === 0 ? freshWindow(state.settings) : state.window };
}

/** Takes the next step after the quiet time, once enough requests have gone well, or too few came for too long. */
function stepOn(state: StepBack, phase: StepBackPhase & { kind: "returning" }): StepBack {
  const { settings, time } = state;
  const quiet = returnAfter(settings, phase.cause);
  if (quiet === undefined || !isQuiet(state)) return state;
  const shown = phase.requests >= Math.ceil(settings.minRequests * translatedShare(state));
  const waited = time.now - phase.since >= MAX_QUIET_TIMES_PER_STEP * quiet;
  return shown || waited ? goTo(state, phase.step + 1, phase.cause) : state;
}
