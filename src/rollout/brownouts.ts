/** The brownouts of the rules in force: when they are looked at, what keeps them from running, and whom they refuse. */
import { type Exchange, isTurnedAway } from "../model/exchange.ts";
import type { TimeSpan } from "../model/rules.ts";
import { NO_WINDOW, type WhyNotRefused } from "../rules/choose.ts";
import type { Rule } from "../rules/rule.ts";
import { createSchedule, type Schedule } from "../rules/schedule.ts";
import type { ForceState } from "../rules/status.ts";
import { type BrownoutBlocker, type BrownoutState, refusesAt } from "./brownout.ts";
import { trouble } from "./guard.ts";
import type { RuleEvent, RuleState } from "./rule-state.ts";
import { isOfGuard } from "./step-back.ts";

/** Why a client may not be refused: what is known of it speaks against a brownout. Undefined: nothing does. */
export type Spared = (client: string) => string | undefined;

interface BrownoutsParts {
  /** Of the rules in force. */
  readonly states: () => ReadonlyMap<string, RuleState>;
  readonly apply: (state: RuleState, event: RuleEvent) => RuleState;
  readonly force: () => ForceState;
  /** Other replicas count, too, and all decide together. */
  readonly isShared: boolean;
  readonly isStoreUp: (() => boolean) | undefined;
  readonly spared: Spared | undefined;
  /** Of the clock of the guard. */
  readonly second: () => number;
}

/** A schedule, and its windows as long as they stay the same. */
interface Timetable {
  readonly rule: Rule;
  readonly schedule: Schedule;
  open: TimeSpan | undefined;
  next: readonly TimeSpan[];
  /** The windows are those for times from `from` until `until`. */
  from: number;
  until: number;
}

const UNHEARD: BrownoutBlocker = { why: "the store has not said yet whether another replica stopped it", passes: true };
/** Windows to come that are shown. */
const SHOWN = 3;
/** Steps of one look: a window ends, and another begins. */
const MOST_STEPS = 3;

export function createBrownouts({ states, apply, force, isShared, isStoreUp, spared, second }: BrownoutsParts) {
  let timetables: readonly Timetable[] = [];
  /** Nothing changes by itself between these times. */
  let [lookedAt, lookAt] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const replaced = (): void => {
    timetables = [...states().values()].flatMap(({ rule }) => {
      if (rule.brownout === undefined) return [];
      const known = timetables.find((one) => one.rule.brownout === rule.brownout);
      const schedule = known?.schedule ?? createSchedule(rule.brownout.schedule);
      const never = { open: undefined, next: [], from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
      return [{ rule, schedule, ...never }];
    });
    [lookedAt, lookAt] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  };
  const blocker = (): BrownoutBlocker | undefined => {
    const { effective, command, reason } = force();
    if (effective !== "none") {
      const who = command === effective ? `carryover force ${command}` : `force: ${effective} of the rules file`;
      return { why: reason === undefined ? who : `${who}: ${reason}`, passes: false };
    }
    const sick = [...states().values()].find((state) => isSick(state, second()));
    if (sick !== undefined) return { why: `v2 fails clients of rule ${sick.rule.name}`, passes: false };
    if (!isShared || isStoreUp?.() !== false) return undefined;
    return { why: "the store at state.url does not respond, and other replicas cannot be told to stop", passes: true };
  };
  /** Another replica may have stopped the window before this one looked at it. */
  const unheard = ({ brownout }: RuleState): BrownoutBlocker | undefined => {
    const isKnown = brownout === undefined || brownout.phase.kind === "running" || brownout.together !== undefined;
    return isShared && !isKnown ? UNHEARD : undefined;
  };
  const lookAgain = (at: number): void => {
    if (timetables.length === 0) return;
    const why = blocker();
    for (const timetable of timetables) {
      bringUpToDate(timetable, at);
      const { rule, open, next } = timetable;
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        const state = states().get(rule.name);
        if (state === undefined) break;
        const event = { kind: "look", at, open, next, blocker: why ?? unheard(state) } as const;
        if (apply(state, { kind: "brownout", at, event }) === state) break;
      }
    }
    lookedAt = at;
    lookAt = Math.min(...timetables.map(({ until }) => until));
  };
  replaced();
  return {
    /** The rules in force are others. */
    replaced,
    /** Takes no time unless a window begins or ends, or the clock was set back. */
    look: (at: number): void => {
      if (at >= lookAt || at < lookedAt) lookAgain(at);
    },
    /** The same, and what keeps brownouts from running is asked again. */
    lookAgain,
    whyNotRefused: ((rule, client, at) => {
      const brownout = states().get(rule.name)?.brownout;
      if (rule.brownout?.exempt.has(client) === true) return `client ${client} is exempt`;
      if (brownout === undefined || !refusesAt(brownout, at)) return NO_WINDOW;
      const failed = spared?.(client);
      return failed === undefined ? undefined : `client ${client} failed its exam: ${failed}`;
    }) satisfies WhyNotRefused,
    /** Counts v1 requests of windows. */
    observe: (exchange: Exchange, at: number): void => {
      if (timetables.length === 0 || exchange.apiVersion !== "v1" || isTurnedAway(exchange)) return;
      for (const { rule } of timetables) {
        const state = states().get(rule.name);
        if (state?.brownout?.phase.kind !== "running") continue;
        const refused = exchange.reason === "BROWNOUT" && exchange.rule === rule.name;
        apply(state, { kind: "brownout", at, event: { kind: "request", refused, decides: !isShared } });
      }
    },
    states: (): ReadonlyMap<string, BrownoutState> =>
      new Map([...states()].flatMap(([name, { brownout }]) => (brownout === undefined ? [] : [[name, brownout]]))),
  };
}

/** v2 fails clients of the rule, or did until the rule stepped back. */
function isSick({ guard, stepBack }: RuleState, second: number): boolean {
  const phase = stepBack?.phase;
  const isBack = phase !== undefined && phase.kind !== "forward" && isOfGuard(phase.cause);
  return isBack || trouble(guard, second)?.isCertain === true;
}

function bringUpToDate(timetable: Timetable, at: number): void {
  if (at >= timetable.from && at < timetable.until) return;
  const { schedule } = timetable;
  timetable.open = schedule.open(at);
  timetable.next = schedule.after(timetable.open?.end ?? at, SHOWN);
  timetable.from = at;
  timetable.until = timetable.open?.end ?? timetable.next[0]?.start ?? Number.POSITIVE_INFINITY;
}
