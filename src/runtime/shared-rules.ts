/**
 * What replicas know of rules together. Each keeps what it counted in a row for each rule, and reads the rows of all. While something goes wrong on one of them, all also tell
 * what they saw of the rule in the last minute, and each judges the sum: a rule steps back by evidence that no single replica has. Two versions of carryover, or two
 * configurations that make other responses, do not add up.
 */
import { beginFleetGuard, type FleetGuard, KEPT_SECONDS, stepFleetGuard } from "../rollout/fleet-guard.ts";
import { alarmEvidence, type GuardSecond, guardAlarm } from "../rollout/guard.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { causeOf, type Promotes, type RuleState, translates } from "../rollout/rule-state.ts";
import {
  type Hide,
  isBack,
  isInTrouble,
  readRuleShare,
  readTroubleShare,
  ruleShareOf,
  type TroubleShare,
  togetherOf,
  troubleShareOf,
} from "../rollout/shares.ts";
import { causeTogether, type StepBackCause } from "../rollout/step-back.ts";
import type { Rule } from "../rules/rule.ts";
import type { TickReply } from "../state/shared/protocol.ts";
import type { Rows } from "../state/shared/rows.ts";
import { createRuleKeys } from "./rule-keys.ts";

/** Rows of what was counted that are written with one tick: a process that is killed loses the counts of a second if it has no more rules in use. */
const WRITTEN_RULES = 50;
/** Rows of what was counted are read with every fifth tick, those of ten rules in turn. */
const [READ_TICKS, READ_RULES] = [5, 10];
/** Rules in trouble that are looked at with one tick. */
const TROUBLED_RULES = 8;
/** A row of trouble has the seconds of the last minute until every replica has read it, and then those that one may not have counted yet. */
const [FIRST_TICKS, RECENT_SECONDS] = [5, 10];
/** A replica that last told what it sees longer ago is not asked. */
const STALE_MS = 10_000;
/** The clocks of this process and of the store are compared again when they are this far apart, in seconds. */
const DRIFT_SECONDS = 2;

type Answers = ReadonlyMap<string, TickReply["answers"][number]>;

interface SharedRulesParts {
  readonly rollout: Pick<Rollout, "ruleStates" | "together" | "adopt">;
  /** Digest of what responses depend on besides the rules. */
  readonly basis: string;
  readonly hide: Hide;
  /** Milliseconds of the clock of the guard's seconds, which is never set. */
  readonly now: () => number;
  readonly rows: Pick<Rows, "put">;
  /** All replicas together know enough to promote operations of the rule. */
  readonly promote: (rule: Rule, promotes: Promotes) => void;
}

/** Of a rule in trouble. */
interface Watched {
  readonly guard: FleetGuard;
  readonly wasBack: boolean;
  readonly replicas: number;
}

/** What the replicas' seconds say together of a rule in trouble. */
export interface GuardTogether {
  readonly replicas: number;
  /** How near the evidence is to an alarm: 0 to 1. */
  readonly evidence: number;
}

export function createSharedRules({ rollout, basis, hide, now, rows, promote }: SharedRulesParts) {
  /** By key: the seconds of the last minute, by the clock of this process. */
  const seconds = new Map<string, readonly GuardSecond[]>();
  /** By key: the state whose counts its row has. */
  const told = new Map<string, RuleState>();
  /** By key: the ticks since there is a row of trouble. */
  const troubled = new Map<string, number>();
  const watched = new Map<string, Watched>();
  /** Seconds by which the clock of the store is ahead. */
  let ahead: number | undefined;
  let ticks = 0;
  let turn = 0;
  const keyOf = createRuleKeys(basis);
  const since = (ago: number) => Math.floor(now() / 1_000) - ago;
  const latest = (key: string): readonly GuardSecond[] => {
    const kept = (seconds.get(key) ?? []).filter(({ second }) => second > since(KEPT_SECONDS));
    if (kept.length === 0) seconds.delete(key);
    else seconds.set(key, kept);
    return kept;
  };
  const present = (): readonly (readonly [string, RuleState])[] =>
    rollout.ruleStates().map((state) => [keyOf(state.rule), state] as const);
  /** A few of many, others with each call. */
  const inTurn = <T>(all: readonly T[], most: number): readonly T[] => {
    const begin = all.length <= most ? 0 : (turn * most) % all.length;
    return all.slice(begin, begin + most);
  };
  const forget = (states: ReadonlyMap<string, RuleState>): void => {
    for (const key of told.keys()) {
      if (states.has(key)) continue;
      told.delete(key);
      rows.put(countedRow(key), undefined);
    }
    for (const key of seconds.keys()) if (!states.has(key)) seconds.delete(key);
    for (const key of watched.keys()) if (!states.has(key)) watched.delete(key);
  };
  const tellCounts = (states: readonly (readonly [string, RuleState])[], most: number): void => {
    const changed = states.filter(([key, state]) => told.get(key) !== state && hasCounts(state));
    for (const [key, state] of inTurn(changed, most)) {
      told.set(key, state);
      rows.put(countedRow(key), JSON.stringify(ruleShareOf(state, hide)));
    }
  };
  const tellTrouble = (key: string, { stepBack }: RuleState, at: number, isAlerted: boolean): void => {
    if (!isAlerted) {
      if (troubled.delete(key)) rows.put(troubleRow(key), undefined);
      return;
    }
    const ticksTold = troubled.get(key) ?? 0;
    troubled.set(key, ticksTold + 1);
    // What led to a step back says nothing about the rule once it goes forward again.
    if (isBack(stepBack)) seconds.delete(key);
    const oldest = since(ticksTold < FIRST_TICKS ? KEPT_SECONDS : RECENT_SECONDS);
    const recent = latest(key).filter(({ second }) => second > oldest);
    const shifted = recent.map((one) => ({ ...one, second: one.second + (ahead ?? 0) }));
    rows.put(troubleRow(key), JSON.stringify(troubleShareOf(stepBack, { at, seconds: shifted, hide })));
  };
  const judgeTrouble = (key: string, state: RuleState, shares: readonly TroubleShare[], at: number): void => {
    const wasBack = isBack(state.stepBack);
    const second = Math.floor(at / 1_000);
    const before = watched.get(key);
    const isNew = before === undefined || before.wasBack !== wasBack;
    const begun = isNew ? beginFleetGuard(second, before !== undefined) : before.guard;
    const mayStepBack = !wasBack && translates(state) && state.unknown === undefined && shares.length > 1;
    const guard = mayStepBack
      ? stepFleetGuard(
          begun,
          shares.flatMap((one) => one.seconds),
          second,
        )
      : begun;
    watched.set(key, { guard, wasBack, replicas: shares.length });
    if (!mayStepBack || state.stepBack === undefined) return;
    const windows = shares.flatMap(({ window }) => window ?? []);
    const alarm = state.stepBack.settings.guard === undefined ? undefined : guardAlarm(guard.state);
    const cause: StepBackCause | undefined =
      causeTogether(state.stepBack, windows) ??
      (alarm && { ...causeOf(alarm, state.rateLimit), together: shares.length });
    if (cause !== undefined) rollout.adopt(state.rule.name, cause);
  };
  return {
    /** By name of a rule: what several replicas counted together, as long as one of them sees trouble. */
    guards: (): ReadonlyMap<string, GuardTogether> =>
      new Map(
        present().flatMap(([key, { rule }]): (readonly [string, GuardTogether])[] => {
          const { guard, replicas = 0 } = watched.get(key) ?? {};
          if (guard === undefined || replicas < 2) return [];
          return [[rule.name, { replicas, evidence: alarmEvidence(guard.state, guard.upTo) }]];
        }),
      ),
    /** Takes what the guard sees. Takes no time, whatever the store does. */
    guardSeconds: (rule: Rule, more: readonly GuardSecond[]): void => {
      const key = keyOf(rule);
      seconds.set(key, [...latest(key), ...more]);
    },
    /**
     * Before each tick: brings the rows up to date, and returns the names of those to ask for. `at`: the clock of the store now. `isLast`: the process ends.
     */
    beforeTick: (at: number | undefined, alerted: ReadonlySet<string>, isLast: boolean): readonly string[] => {
      const states = present();
      const isTurn = ticks++ % READ_TICKS === 0 || isLast;
      if (at !== undefined) {
        const found = Math.round((at - now()) / 1_000);
        if (ahead === undefined || Math.abs(found - ahead) > DRIFT_SECONDS) ahead = found;
      }
      if (isTurn) forget(new Map(states));
      // Rows are sent in this order, some with each tick.
      if (at !== undefined) for (const [key, state] of states) tellTrouble(key, state, at, alerted.has(key));
      tellCounts(states, isLast ? states.length : WRITTEN_RULES);
      for (const key of watched.keys()) if (!alerted.has(key)) watched.delete(key);
      turn += 1;
      const counted = isTurn ? inTurn(states, READ_RULES) : [];
      const looked = inTurn(
        states.filter(([key]) => alerted.has(key)),
        TROUBLED_RULES,
      );
      return [...counted.map(([key]) => countedRow(key)), ...looked.map(([key]) => troubleRow(key))];
    },
    /** What the others know is not known any more: the store does not respond. */
    alone: (): void => {
      for (const { rule } of rollout.ruleStates()) rollout.together(rule.name, undefined);
    },
    /** The rules that the other replicas are to look at. */
    alerts: (): readonly string[] =>
      present().flatMap(([key, state]) => (isInTrouble(state.stepBack, latest(key)) ? [key] : [])),
    /** After each tick: takes the rows that the store returned. `at`: the clock of the store. */
    afterTick: (answers: Answers, at: number): void => {
      for (const [key, state] of present()) {
        const counts = answers.get(countedRow(key))?.flatMap(({ text }) => readRuleShare(text) ?? []) ?? [];
        if (counts.length > 0) {
          const promotes = rollout.together(state.rule.name, togetherOf(counts));
          if (promotes !== undefined) promote(state.rule, promotes);
        }
        const shares = answers.get(troubleRow(key))?.flatMap(({ text }) => readTroubleShare(text) ?? []);
        if (shares === undefined) continue;
        const fresh = shares.filter((one) => one.window !== undefined && Math.abs(at - one.at) < STALE_MS);
        judgeTrouble(key, state, fresh, at);
      }
    },
  };
}

function countedRow(key: string): string {
  return `rule:${key}`;
}

function troubleRow(key: string): string {
  return `trouble:${key}`;
}

function hasCounts({ requests, promotion, operations }: RuleState): boolean {
  return requests + promotion.older.comparisons + promotion.newer.comparisons + operations.size > 0;
}
