/** A clock and timers that only move when a test says so. */

import type { Timer } from "../../src/model/clock.ts";
import type { Signal } from "../../src/model/signal.ts";

export interface FakeClock {
  now(): number;
  readonly later: Timer;
  sleep(ms: number, signal: Signal): Promise<void>;
  /** Lets `ms` pass, and every promise settle that settles by that. */
  pass(ms: number): Promise<void>;
  /** Lets time pass up to the next timer, if there is one. */
  next(): Promise<void>;
  /** Timers that are set. */
  timers(): number;
}

export function fakeClock(start = 0): FakeClock {
  let time = start;
  let number = 0;
  const set = new Map<number, { readonly at: number; readonly run: () => void }>();
  const later: Timer = (ms, run) => {
    const id = number++;
    set.set(id, { at: time + ms, run });
    return () => set.delete(id);
  };
  const sleep = (ms: number, signal: Signal) =>
    new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const gone = () => {
        stop();
        reject(signal.reason);
      };
      const stop = later(ms, () => {
        signal.removeEventListener("abort", gone);
        resolve();
      });
      signal.addEventListener("abort", gone, { once: true });
    });
  /** Runs the next timer that is due by `end`; false when there is none. */
  async function step(end: number): Promise<boolean> {
    const [next] = [...set].filter(([, { at }]) => at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b);
    if (next === undefined) return false;
    set.delete(next[0]);
    time = Math.max(time, next[1].at);
    next[1].run();
    await settled();
    return true;
  }
  async function pass(ms: number): Promise<void> {
    const end = time + ms;
    await settled();
    while (await step(end));
    time = end;
  }
  const next = async () => void (await step(Number.POSITIVE_INFINITY));
  return { now: () => time, later, sleep, pass, next, timers: () => set.size };
}

/** Everything that is ready has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A signal that tells how many listen to it. */
export function watchedStopper() {
  const listeners = new Set<() => void>();
  const state: { aborted: boolean; reason: unknown } = { aborted: false, reason: undefined };
  const signal = Object.assign(state, {
    throwIfAborted: () => {
      if (state.aborted) throw state.reason;
    },
    addEventListener: (_: "abort", listener: () => void) => void listeners.add(listener),
    removeEventListener: (_: "abort", listener: () => void) => void listeners.delete(listener),
  });
  return {
    signal,
    listeners: () => listeners.size,
    abort: (reason: unknown) => {
      state.aborted = true;
      state.reason = reason;
      for (const listener of [...listeners]) listener();
      listeners.clear();
    },
  };
}
