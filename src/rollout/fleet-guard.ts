/**
 * The guard over what several replicas saw: their seconds are summed by the clock of the store, and go through the same test as those of one. Failures that are too few
 * on each replica can be enough together.
 */
import { NO_CALLERS } from "./evidence-window.ts";
import {
  addKinds,
  addStandIns,
  type GuardSecond,
  type GuardState,
  initialGuard,
  mergeCallers,
  NO_STAND_INS,
  stepGuard,
} from "./guard.ts";

/** Seconds that are waited for rows of other replicas: they tick once per second, and a slow one may take two. */
const BEHIND_SECONDS = 3;
/** Seconds that a replica keeps: what it saw before the others asked. */
export const KEPT_SECONDS = 60;

/** Seconds of the store's clock. */
export interface FleetGuard {
  readonly state: GuardState;
  /** Everything up to this second is counted. */
  readonly upTo: number;
  /** Nothing is counted before: until then, not all replicas know that the others look. */
  readonly from: number;
}

/** `now`: the present second. What was seen before counts, unless the rule translates only since `now`. */
export function beginFleetGuard(now: number, isFresh: boolean): FleetGuard {
  return { state: initialGuard(), upTo: isFresh ? now : now - KEPT_SECONDS, from: now + BEHIND_SECONDS };
}

/** `seen`: the latest seconds of each replica. */
export function stepFleetGuard(guard: FleetGuard, seen: Iterable<GuardSecond>, now: number): FleetGuard {
  const until = now - BEHIND_SECONDS;
  if (now < guard.from || until <= guard.upTo) return guard;
  const sums = new Map<string, GuardSecond>();
  for (const one of seen) {
    if (one.second <= guard.upTo || one.second > until) continue;
    const key = `${one.second} ${one.operation}`;
    const before = sums.get(key);
    sums.set(key, before === undefined ? one : sumOf(before, one));
  }
  const inOrder = [...sums.values()].sort((a, b) => a.second - b.second);
  return { ...guard, state: inOrder.reduce((state, one) => stepGuard(state, one), guard.state), upTo: until };
}

function sumOf(one: GuardSecond, other: GuardSecond): GuardSecond {
  const isWrite = one.standIn !== undefined || other.standIn !== undefined;
  return {
    operation: one.operation,
    second: one.second,
    served: one.served + other.served,
    failed: one.failed + other.failed,
    hanging: (one.hanging ?? 0) + (other.hanging ?? 0),
    kinds: addKinds(one.kinds, other.kinds),
    callers: mergeCallers(mergeCallers(NO_CALLERS, one.callers), other.callers),
    pairedServed: one.pairedServed + other.pairedServed,
    pairedFailed: one.pairedFailed + other.pairedFailed,
    standIn: isWrite ? addStandIns(one.standIn ?? NO_STAND_INS, other.standIn ?? NO_STAND_INS) : undefined,
  };
}
