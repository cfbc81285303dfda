/** How many calls may be under way at a time, seeing how the latest ones went? */

export interface LimitOptions {
  /** Before anything is known. */
  readonly start: number;
  /** Never above this. */
  readonly max: number;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}

export interface Limit {
  value(): number;
  /** A call begins as one of `inFlight` under way, itself included. Gives its number, to tell of it later. */
  begin(inFlight: number): number;
  /** True when `call` began before the latest cut: how it went says nothing about the limit as it is now. */
  isStale(call: number): boolean;
  /** `call` was answered, and soon enough. */
  succeed(call: number): void;
  /** `call`, one of `inFlight` under way, was refused for load or took too long: halves, once for all calls of a round trip. */
  setBack(call: number, inFlight: number): void;
}

/** So long without a setback and the limit doubles again, as at the beginning: what was in the way has probably gone. */
const QUIET_MS = 30_000;

/**
 * Additive increase, multiplicative decrease, with a slow start: doubles after each round (as many answers as the limit)
 * until the first setback, then grows by one a round. A round in which the limit was never reached proves nothing about more.
 * Halves what was under way rather than a limit that was not used, as TCP does with its flight size (RFC 5681, section 3.1):
 * otherwise several rounds of refusals would pass before a limit of 32 binds a list with four readers. What was under way
 * counts as `start` at least: one hiccup while one call was under way is no reason to go back to one.
 */
export function createLimit({ start, max, now }: LimitOptions): Limit {
  let value = Math.max(1, Math.min(start, max));
  const first = value;
  let calls = 0;
  let lastStale = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  let answered = 0;
  let peak = 0;

  const isStale = (call: number) => call <= lastStale;
  return {
    value: () => value,
    begin: (inFlight) => {
      if (inFlight > peak) peak = inFlight;
      calls += 1;
      return calls;
    },
    isStale,
    succeed: (call) => {
      if (isStale(call)) return;
      answered += 1;
      if (answered < value) return;
      if (peak >= value) value = Math.min(max, now() - cutAt >= QUIET_MS ? value * 2 : value + 1);
      answered = 0;
      peak = 0;
    },
    setBack: (call, inFlight) => {
      if (isStale(call)) return;
      value = Math.max(1, Math.floor(Math.min(value, Math.max(inFlight, first)) / 2));
      lastStale = calls;
      cutAt = now();
      answered = 0;
      peak = 0;
    },
  };
}
