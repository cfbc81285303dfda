/** A simulated cutover for the guard: draws one second at a time, not one request. */

import { NO_CALLERS } from "../../src/rollout/evidence-window.ts";
import {
  type GuardSecond,
  type GuardState,
  guardAlarm,
  initialGuard,
  NO_STAND_INS,
  stepGuard,
} from "../../src/rollout/guard.ts";

/** Pairs per second and rule. */
const MOST_PAIRS = 2;
/** Seconds for which a caller is left out that native refused as well. */
const REFUSED_SECONDS = 60;
/** Rules with fewer requests per second have empty seconds. */
const OFTEN = 3;
/** Native v1 serves other clients' writes: this part of what the rule has. */
const NATIVE_WRITES = 0.5;
const CALLERS = Array.from({ length: 50 }, (_, n) => ({ clients: [`c${n}`], credentials: [`k${n}`] }));

export const OPERATIONS = [
  { name: "groups.list", share: 0.7, write: false },
  { name: "groups.get", share: 0.2, write: false },
  { name: "groups.update", share: 0.1, write: true },
] as const;

export interface World {
  /** Requests per second. */
  readonly rate: number;
  /** Share of requests that fail in a second. */
  readonly v2: (second: number) => number;
  readonly native: (second: number) => number;
  /** A client whose token both versions refuse. */
  readonly dead?: boolean;
}

export interface Run {
  readonly state: GuardState;
  /** The next second to be simulated. */
  readonly second: number;
}

export const START: Run = { state: initialGuard(), second: 0 };

/** Runs until second `end`, or through the second of an alarm. */
export function run(world: World, random: () => number, end: number, start = START): Run {
  let { state } = start;
  for (let second = nextBusy(world, start.second - 1, random); second < end; second = nextBusy(world, second, random)) {
    state = secondOf(state, world, second, random);
    if (guardAlarm(state) !== undefined) return { state, second: second + 1 };
  }
  return { state, second: end };
}

/** Seconds from `start` to the alarm, or infinity without an alarm before `end`. */
export function delayOf(world: World, random: () => number, end: number, start: Run): number {
  const { state, second } = run(world, random, end, start);
  return guardAlarm(state) === undefined ? Number.POSITIVE_INFINITY : second - start.second;
}

/** Seconds without a request that counts are skipped. */
function nextBusy({ rate, dead }: World, second: number, random: () => number): number {
  if (rate > OFTEN) return second + 1;
  const next = second + 1 + Math.floor(-Math.log(1 - random()) / rate);
  return dead ? Math.min(next, (Math.floor(second / REFUSED_SECONDS) + 1) * REFUSED_SECONDS) : next;
}

function secondOf(state: GuardState, world: World, second: number, random: () => number): GuardState {
  const { rate, dead } = world;
  const isDead = dead === true && second % REFUSED_SECONDS === 0;
  const v2 = world.v2(second);
  const native = world.native(second);
  let total = poisson(rate, random);
  // Empty seconds were skipped.
  while (total === 0 && rate <= OFTEN && !isDead) total = poisson(rate, random);
  let budget = MOST_PAIRS;
  let next = state;
  let left = total;
  let shareLeft = 1;
  for (const { name, share, write } of OPERATIONS) {
    const requests = binomial(left, Math.min(1, share / shareLeft), random);
    left -= requests;
    shareLeft -= share;
    const refused = isDead && name === "groups.list" ? 1 : 0;
    if (requests + refused === 0) continue;
    const failed = binomial(requests, v2, random);
    const pairs = write ? poisson(rate * share * NATIVE_WRITES, random) : Math.min(budget, failed);
    if (!write) budget -= pairs;
    const pairedFailed = binomial(pairs, native, random);
    const all = failed + refused;
    const serves = native < 0.25;
    next = stepGuard(next, {
      operation: name,
      second,
      served: requests - failed,
      failed: all,
      kinds: all === 0 ? NO_KINDS : { unavailable: failed, unauthenticated: all - failed },
      callers: failed === 0 ? NO_CALLERS : (CALLERS[Math.floor(random() * CALLERS.length)] ?? NO_CALLERS),
      pairedServed: pairs - pairedFailed,
      pairedFailed: pairedFailed + refused,
      standIn: write ? { ...NO_STAND_INS, [serves ? "others" : "fails"]: all } : undefined,
    } satisfies GuardSecond);
  }
  return next;
}

const NO_KINDS = {};

export function poisson(mean: number, random: () => number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
}

/** Exact where few are expected. */
export function binomial(count: number, share: number, random: () => number): number {
  if (count === 0 || share <= 0) return 0;
  if (share >= 1) return count;
  if (share > 0.5) return count - binomial(count, 1 - share, random);
  if (count * share > 50) {
    const draw = Math.round(count * share + Math.sqrt(count * share * (1 - share)) * normal(random));
    return Math.min(count, Math.max(0, draw));
  }
  // Gaps between hits are geometric.
  const perMiss = Math.log1p(-share);
  let hits = 0;
  for (let at = gap(); at < count; at += 1 + gap()) hits += 1;
  return hits;
  function gap(): number {
    return Math.floor(Math.log(1 - random()) / perMiss);
  }
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
