/** Whether v2 is much slower than native v1 for the same operation. Bounded memory; times are milliseconds. */

/** Both versions' 95th percentile of an operation. */
export interface Slowness {
  readonly operation: string;
  readonly v2Ms: number;
  readonly nativeMs: number;
}

export interface SlownessWatch {
  /** A response took `ms`. `rule` had it translated; without one, native v1 served it. */
  took(operation: string, rule: string | undefined, ms: number, at: number): void;
  /** Returns the slowest operation of `rule`, or undefined if none is slow or too few responses are known. */
  slowest(rule: string, at: number): Slowness | undefined;
  /** The slowest operation of `rule` compared with native v1, whether or not it counts as slow. Undefined while too few responses are known. */
  longest(rule: string, at: number): Slowness | undefined;
  /** Forgets the times of `rule`: it is judged again from nothing. */
  forget(rule: string): void;
}

/** v2 is slow from this many times native's time on, … */
export const SLOW_TIMES = 3;
/** … if it also takes this much longer. */
export const SLOW_MORE_MS = 500;
/** Responses of each version that are needed, and kept. */
export const TIMES_NEEDED = 20;
const KEPT = 100;
const WINDOW_MS = 600_000;
const LOOK_MS = 5_000;
const MOST_OPERATIONS = 1_000;

interface Times {
  readonly at: number;
  readonly ms: number;
}

interface Looked {
  readonly at: number;
  readonly slowest: Slowness | undefined;
  readonly longest: Slowness | undefined;
}

/** How many times native's time v2 takes. */
export function timesNative({ v2Ms, nativeMs }: Pick<Slowness, "v2Ms" | "nativeMs">): number {
  return v2Ms / Math.max(1, nativeMs);
}

export function createSlownessWatch(): SlownessWatch {
  /** The last results by rule, since each takes sorting. */
  const found = new Map<string, Looked>();
  const native = new Map<string, Times[]>();
  const rules = new Map<string, Map<string, Times[]>>();
  const percentile = (times: readonly Times[] | undefined, at: number): number | undefined => {
    const recent = (times ?? []).filter((one) => at - one.at < WINDOW_MS).map(({ ms }) => ms);
    if (recent.length < TIMES_NEEDED) return undefined;
    return recent.sort((a, b) => a - b)[Math.ceil(recent.length * 0.95) - 1];
  };
  const look = (rule: string, at: number): Looked => {
    const before = found.get(rule);
    if (before !== undefined && at - before.at < LOOK_MS) return before;
    let [slowest, longest]: (Slowness | undefined)[] = [];
    for (const [operation, times] of rules.get(rule) ?? []) {
      const nativeMs = percentile(native.get(operation), at);
      const v2Ms = nativeMs === undefined ? undefined : percentile(times, at);
      if (nativeMs === undefined || v2Ms === undefined) continue;
      const isSlow = v2Ms >= SLOW_TIMES * nativeMs && v2Ms > nativeMs + SLOW_MORE_MS;
      const one = { operation, v2Ms, nativeMs };
      if (isSlow && (slowest === undefined || v2Ms > slowest.v2Ms)) slowest = one;
      if (longest === undefined || timesNative(one) > timesNative(longest)) longest = one;
    }
    const looked = { at, slowest, longest };
    found.set(rule, looked);
    return looked;
  };
  return {
    took(operation, rule, ms, at) {
      const operations = rule === undefined ? native : (rules.get(rule) ?? new Map<string, Times[]>());
      if (rule !== undefined) rules.set(rule, operations);
      const times = operations.get(operation) ?? [];
      if (times.length === 0 && operations.size >= MOST_OPERATIONS) return;
      operations.set(operation, times);
      times.push({ at, ms });
      if (times.length > KEPT) times.shift();
    },
    slowest: (rule, at) => look(rule, at).slowest,
    longest: (rule, at) => look(rule, at).longest,
    forget(rule) {
      rules.delete(rule);
      found.delete(rule);
    },
  };
}
