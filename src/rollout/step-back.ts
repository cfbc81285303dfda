/** When does a rule give up `translate` by itself, and when does it try again? (Design section 7: step back.) */
import type { StepBackSettings } from "../model/rules.ts";
import {
  addObservation,
  affectedClients,
  type CallerIdentity,
  countsIn,
  type ElapsedTime,
  type EvidenceWindow,
  elapse,
  emptyWindow,
  type Observation,
  requestingClients,
  UNSTARTED,
} from "./evidence-window.ts";

/** Shares of a rule's clients that translation serves again, one after the other. */
export const STEPS = [0.1, 0.3, 1] as const;
/** Comparisons that decide, where the rule asks for more requests: a sample of a tenth makes 20 of 200 requests. */
export const DECISIVE_COMPARISONS = 20;
/** The quiet time at most grows to so many times what was configured. */
export const LONGEST_WAIT = 16;
/** A step that too few requests meet is over after so many quiet times. */
export const MAX_QUIET_TIMES_PER_STEP = 4;

export interface StepBackConfig extends StepBackSettings {
  /** How many clients the rule names; undefined: it is for all. */
  readonly named: number | undefined;
}

/**
 * `request`: a translated request is over that speaks for or against translation (the platform's and the client's own errors
 * are not told). `compared`: a comparison is over. `return`: somebody wants it back now. `at`: milliseconds of any clock.
 */
export type StepBackEvent =
  | { readonly kind: "request"; readonly at: number; readonly who: CallerIdentity; readonly failed: boolean }
  | { readonly kind: "compared"; readonly at: number; readonly who: CallerIdentity; readonly differs: boolean }
  | { readonly kind: "tick" | "return"; readonly at: number };

/** Why a rule stepped back: `bad` of `all` in the window, and at least so many clients. */
export interface StepBackCause {
  readonly what: "failures" | "differences";
  readonly bad: number;
  readonly all: number;
  readonly clients: number;
}

/** Times on the state's own clock. `quietSince`: when something last spoke against going on. */
export type StepBackPhase =
  | { readonly kind: "forward"; readonly since: number }
  | { readonly kind: "back"; readonly since: number; readonly quietSince: number; readonly cause: StepBackCause }
  | {
      readonly kind: "returning";
      readonly step: number;
      readonly since: number;
      readonly quietSince: number;
      /** Requests in this step. */
      readonly seen: number;
    };

export interface StepBack {
  readonly settings: StepBackConfig;
  readonly time: ElapsedTime;
  readonly window: EvidenceWindow;
  readonly phase: StepBackPhase;
  /** By how much the quiet time before the present (or last) return is longer than configured; 0: it never stepped back. */
  readonly factor: number;
  readonly stepBacks: number;
}

/** A rule that does as it says. */
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

/**
 * The state after `event`; the phase changes at most once. Events of one time may come in any order: the window holds the
 * same in the end, and what is over a threshold then is seen by whichever event is the last of them.
 */
export function reduceStepBack(state: StepBack, event: StepBackEvent): StepBack {
  const timed = { ...state, time: elapse(state.time, event.at, state.settings.window) };
  switch (event.kind) {
    case "tick":
      return judge(timed);
    case "return":
      return {
        ...initialStepBack(state.settings),
        time: timed.time,
        phase: forward(timed),
        stepBacks: state.stepBacks,
      };
    case "request":
      // Sent while the rule was still forward: known already.
      if (timed.phase.kind === "back") return judge(timed);
      return judge(noted(counted(timed), { of: "requests", bad: event.failed, who: event.who }));
    case "compared":
      return judge(noted(timed, { of: "comparisons", bad: event.differs, who: event.who }));
    default:
      return event satisfies never;
  }
}

/** Share of the rule's clients that translation serves. */
export function translatedShare({ phase }: StepBack): number {
  if (phase.kind === "forward") return 1;
  return phase.kind === "back" ? 0 : (STEPS[phase.step] ?? 1);
}

/** Milliseconds of quiet after which it goes on from where it is; undefined: it never does by itself. */
export function quietNeeded({ settings, phase, factor }: StepBack): number | undefined {
  if (settings.returnAfter === undefined || phase.kind === "forward") return undefined;
  return phase.kind === "back" ? settings.returnAfter * factor : settings.returnAfter;
}

function freshWindow(settings: StepBackConfig): EvidenceWindow {
  return emptyWindow(settings.window, clientsNeeded(settings));
}

function clientsNeeded({ minClients, named }: StepBackConfig): number {
  return Math.max(1, Math.min(minClients, named ?? minClients));
}

function forward(state: StepBack): StepBackPhase {
  return state.phase.kind === "forward" ? state.phase : { kind: "forward", since: state.time.now };
}

function counted(state: StepBack): StepBack {
  const { phase } = state;
  return phase.kind === "returning" ? { ...state, phase: { ...phase, seen: phase.seen + 1 } } : state;
}

/** With `seen` in the window; what puts a share over its threshold, by however few requests of enough clients, ends the quiet. */
function noted(state: StepBack, seen: Observation): StepBack {
  const { now } = state.time;
  const asking = state.phase.kind === "returning";
  const after = { ...state, window: addObservation(state.window, now, { ...seen, asking }) };
  if (!seen.bad || after.phase.kind === "forward" || !isAboveThreshold(after, seen.of)) return after;
  return { ...after, phase: { ...after.phase, quietSince: now } };
}

function isAboveThreshold(state: StepBack, of: Observation["of"]): boolean {
  const counts = countsIn(state.window, state.time.now);
  if (affectedClients(state.window, state.time.now, of) < mustMeet(state, of)) return false;
  return of === "requests"
    ? exceeds(counts.failures, counts.requests, state.settings.failures)
    : exceeds(counts.differences, counts.comparisons, state.settings.differences);
}

/**
 * How many clients must have met what is bad: one client's own trouble is no reason to turn back for all. While the rule
 * returns, fewer are translated than it names: then all of them, where those are less.
 */
function mustMeet({ settings, phase, window, time }: StepBack, of: Observation["of"]): number {
  const needed = clientsNeeded(settings);
  if (of === "comparisons" || phase.kind !== "returning") return needed;
  return Math.max(1, Math.min(needed, requestingClients(window, time.now)));
}

function exceeds(bad: number, all: number, threshold: number | undefined): boolean {
  return threshold !== undefined && all > 0 && bad / all > threshold;
}

function judge(state: StepBack): StepBack {
  const { phase } = state;
  if (phase.kind === "back") return isQuiet(state) ? goTo(state, 0) : state;
  const cause = causeOf(state);
  if (cause !== undefined) return stepBack(state, cause);
  return phase.kind === "returning" ? stepOn(state, phase) : state;
}

function isQuiet(state: StepBack): boolean {
  const needed = quietNeeded(state);
  const { phase, time } = state;
  return needed !== undefined && phase.kind !== "forward" && time.now - phase.quietSince >= needed;
}

/** What is over a threshold with enough behind it. */
function causeOf(state: StepBack): StepBackCause | undefined {
  const { settings, window, time } = state;
  const counts = countsIn(window, time.now);
  // A share of the clients makes a share of the requests. Comparisons are made for all of them.
  const share = translatedShare(state);
  const requests = Math.max(1, Math.ceil(settings.minRequests * share));
  if (counts.requests >= requests && exceeds(counts.failures, counts.requests, settings.failures)) {
    const clients = affectedClients(window, time.now, "requests");
    const cause: StepBackCause = { what: "failures", bad: counts.failures, all: counts.requests, clients };
    if (clients >= mustMeet(state, "requests")) return cause;
  }
  const comparisons = Math.max(1, Math.min(settings.minRequests, DECISIVE_COMPARISONS));
  if (counts.comparisons >= comparisons && exceeds(counts.differences, counts.comparisons, settings.differences)) {
    const clients = affectedClients(window, time.now, "comparisons");
    const cause: StepBackCause = { what: "differences", bad: counts.differences, all: counts.comparisons, clients };
    if (clients >= mustMeet(state, "comparisons")) return cause;
  }
  return undefined;
}

function stepBack(state: StepBack, cause: StepBackCause): StepBack {
  const { now } = state.time;
  return {
    ...state,
    window: freshWindow(state.settings),
    phase: { kind: "back", since: now, quietSince: now, cause },
    factor: nextFactor(state),
    stepBacks: state.stepBacks + 1,
  };
}

/** Doubles each time; a rule that has stood forward for the longest wait begins with the shortest again. */
function nextFactor({ factor, phase, settings, time }: StepBack): number {
  const longest = LONGEST_WAIT * (settings.returnAfter ?? 0);
  if (factor === 0 || (phase.kind === "forward" && time.now - phase.since >= longest)) return 1;
  return Math.min(LONGEST_WAIT, factor * 2);
}

function goTo(state: StepBack, step: number): StepBack {
  const { now } = state.time;
  if (step >= STEPS.length) return { ...state, phase: { kind: "forward", since: now } };
  const phase: StepBackPhase = { kind: "returning", step, since: now, quietSince: now, seen: 0 };
  // What was compared while native answered is another matter than what translation does now.
  return { ...state, phase, window: step === 0 ? freshWindow(state.settings) : state.window };
}

/** On to the next step after the quiet time, once requests have shown that this one holds, or there are none to do so. */
function stepOn(state: StepBack, phase: StepBackPhase & { kind: "returning" }): StepBack {
  const { settings, time } = state;
  if (settings.returnAfter === undefined || !isQuiet(state)) return state;
  const shown = phase.seen >= Math.ceil(settings.minRequests * translatedShare(state));
  const waited = time.now - phase.since >= MAX_QUIET_TIMES_PER_STEP * settings.returnAfter;
  return shown || waited ? goTo(state, phase.step + 1) : state;
}
