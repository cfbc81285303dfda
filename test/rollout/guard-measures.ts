/** Measurements of the guard by simulation, for the tests and for docs/evidence.md. */

import { NO_CALLERS } from "../../src/rollout/evidence-window.ts";
import { ALARM, type GuardSecond, guardAlarm, initialGuard, stepGuard } from "../../src/rollout/guard.ts";
import { evidenceBelow, RISK } from "../../src/rollout/upper-bound.ts";
import { randomOf } from "../support/random.mjs";
import { binomial, delayOf, OPERATIONS, type Run, run, START, type World } from "./guard-world.ts";

const DAY = 86_400;
const HOUR = 3_600;

/** Requests per second of ten rules. */
export const RATES = [20 / HOUR, 20 / HOUR, 0.1, 1, 1, 5, 20, 20, 200, 200] as const;

/** Outages of up to 3 s: the share of each second that they cover. */
function outages(count: number, days: number, random: () => number): (second: number) => number {
  const share = new Map<number, number>();
  for (let n = 0; n < count; n++) {
    const from = random() * days * DAY;
    const to = from + 3 * random();
    for (let second = Math.floor(from); second < to; second++) {
      share.set(second, Math.min(second + 1, to) - Math.max(second, from));
    }
  }
  return (second) => share.get(second) ?? 0;
}

/** False alarms of ten rules in `days`: errors of 0.1 to 1 %, outages of each version, and for half of them a client with a dead token. */
export function falseAlarms(days: number, outagesEach: number, seed: number): number {
  const random = randomOf(seed);
  const [v2, native] = [outages(outagesEach, days, random), outages(outagesEach, days, random)];
  let alarms = 0;
  for (const [n, rate] of RATES.entries()) {
    const errors = 0.001 + 0.001 * n;
    const world: World = {
      rate,
      v2: (second) => Math.max(errors, v2(second)),
      native: (second) => Math.max(0.011 - errors, native(second)),
      dead: n % 2 === 0,
    };
    for (let at: Run = START; at.second < days * DAY; ) {
      const { state, second } = run(world, random, days * DAY, at);
      if (guardAlarm(state) !== undefined) alarms += 1;
      at = { state: initialGuard(), second };
    }
  }
  return alarms;
}

export interface Delays {
  readonly median: number;
  readonly high: number;
}

/** Seconds to the alarm after `healthy` seconds, when `share` of v2's requests begin to fail. */
export function delays(rate: number, share: number, healthy: number, runs: number): Delays {
  const random = randomOf(7);
  const health: World = { rate, v2: () => 0.003, native: () => 0.003 };
  const starts: Run[] = [];
  // One long life, with states of its last part to start from.
  let at = run(health, random, Math.floor(healthy * 0.9));
  for (let part = 1; part <= 10; part++) {
    at = run(health, random, Math.floor(healthy * (0.9 + 0.01 * part)), at);
    starts.push(at);
  }
  const sick: World = { ...health, v2: () => share };
  const end = healthy + 100 * (1 + 1 / rate) * HOUR;
  const all = Array.from({ length: runs }, (_, n) => delayOf(sick, random, end, starts[n % 10] ?? START));
  const sorted = all.toSorted((a, b) => a - b);
  const of = (part: number): number => sorted[Math.floor(part * runs)] ?? Number.NaN;
  return { median: of(0.5), high: of(0.95) };
}

/** Seconds of total failure that the e-process of promotion needs after `healthy` seconds with 1 % errors, to show that more fail. */
export function promotionDelay(rate: number, healthy: number): number {
  const served = Math.round(rate * healthy * 0.99);
  // Turned around: less than 99 % succeed.
  const isShown = (seconds: number): boolean =>
    evidenceBelow(0.99, served, Math.round(rate * (healthy + seconds))) > -Math.log(RISK);
  let seconds = 1;
  while (!isShown(seconds)) seconds += 1;
  return seconds;
}

const PER_SECOND = 20;
const USUAL = 0.01;
const SICK = 0.05;

function secondWith(failed: number, second: number): GuardSecond {
  return {
    operation: OPERATIONS[0].name,
    second,
    served: PER_SECOND - failed,
    failed,
    kinds: {},
    callers: NO_CALLERS,
    pairedServed: failed,
    pairedFailed: 0,
  };
}

/**
 * Requests between false alarms of the first test alone, with 1 % errors: by importance sampling. Cycles from 0 back to 0 are drawn with 5 %
 * errors, where many of them reach the alarm, and weighted by their likelihood under 1 %.
 */
export function requestsBetweenFalseAlarms(cycles: number): number {
  const random = randomOf(3);
  let reached = 0;
  let seconds = 0;
  for (let n = 0; n < cycles; n++) {
    reached += weightOfAlarm(0, random);
    seconds += secondsToZero(random);
  }
  return (seconds / reached) * PER_SECOND;
}

/** The chance that a v2 outage that adds all it may, with 1 % errors before and after it, raises an alarm. */
export function alarmsPerOutage(runs: number): number {
  const random = randomOf(5);
  let sum = 0;
  let state = initialGuard();
  for (let second = 0; second < runs; second++) {
    state = stepGuard(state, secondWith(binomial(PER_SECOND, USUAL, random), second));
    sum += weightOfAlarm(levelOf(state) + (4 * ALARM) / 7, random);
  }
  return sum / runs;
}

function levelOf(state: ReturnType<typeof initialGuard>): number {
  return state.operations[0]?.losing.now ?? 0;
}

/** Weight of one path from `level`: 0 if it falls to 0 first. */
function weightOfAlarm(level: number, random: () => number): number {
  let state = stateAt(level);
  let weight = 0;
  for (let second = 1; ; second++) {
    const failed = binomial(PER_SECOND, SICK, random);
    weight -= failed * Math.log(SICK / USUAL) + (PER_SECOND - failed) * Math.log((1 - SICK) / (1 - USUAL));
    state = stepGuard(state, secondWith(failed, second));
    if (levelOf(state) >= ALARM) return Math.exp(weight);
    if (levelOf(state) === 0) return 0;
  }
}

function secondsToZero(random: () => number): number {
  let state = initialGuard();
  for (let second = 1; ; second++) {
    state = stepGuard(state, secondWith(binomial(PER_SECOND, USUAL, random), second));
    if (levelOf(state) === 0) return second;
  }
}

/** A state whose first test has reached `level`, with a failure that is over. */
function stateAt(level: number): ReturnType<typeof initialGuard> {
  const state = stepGuard(initialGuard(), secondWith(1, 0));
  const losing = { before: level, now: level };
  return level === 0
    ? initialGuard()
    : { ...state, operations: state.operations.map((one) => ({ ...one, losing, failing: losing })) };
}
