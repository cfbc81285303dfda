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
  /** Forgets the times of `rule`: it is judged again from nothing. */
  forget(rule: string): void;
}

/** v2 is slow from this many times native's time on, … */
const TIMES = 3;
/** … if it also takes this much longer. */
const MORE_MS = 500;
/** Responses of each version that are needed, and kept. */
const NEEDED = 20;
const KEPT = 100;
const WINDOW_MS = 600_000;
const LOOK_MS = 5_000;
const MOST_OPERATIONS = 1_000;

interface Times {
  readonly at: number;
  readonly ms: number;
}

export function createSlownessWatch(): SlownessWatch {
  /** The last results by rule, since each takes sorting. */
  const found = new Map<string, { readonly at: number; readonly slowest: Slowness | undefined }>();
  const native = new Map<string, Times[]>();
  const rules = new Map<string, Map<string, Times[]>>();
  const percentile = (times: readonly Times[] | undefined, at: number): number | undefined => {
    const recent = (times ?? []).filter((one) => at - one.at < WINDOW_MS).map(({ ms }) => ms);
    if (recent.length < NEEDED) return undefined;
    return recent.sort((a, b) => a - b)[Math.ceil(recent.length * 0.95) - 1];
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
    slowest(rule, at) {
      const before = found.get(rule);
      if (before !== undefined && at - before.at < LOOK_MS) return before.slowest;
      let worst: Slowness | undefined;
      for (const [operation, times] of rules.get(rule) ?? []) {
        const nativeMs = percentile(native.get(operation), at);
        const v2Ms = nativeMs === undefined ? undefined : percentile(times, at);
        if (nativeMs === undefined || v2Ms === undefined) continue;
        const isSlow = v2Ms >= TIMES * nativeMs && v2Ms > nativeMs + MORE_MS;
        if (isSlow && (worst === undefined || v2Ms > worst.v2Ms)) worst = { operation, v2Ms, nativeMs };
      }
      found.set(rule, { at, slowest: worst });
      return worst;
    },
    forget(rule) {
      rules.delete(rule);
      found.delete(rule);
    },
  };
}
