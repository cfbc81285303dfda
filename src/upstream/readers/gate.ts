/** Has the platform asked not to be called for a while? */
import { createStopper, type Signal } from "../../model/signal.ts";

export interface GateOptions {
  /** Longest closure, in milliseconds. */
  readonly maxWaitMs: number;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Waits; its signal is never given here. */
  sleep(ms: number, signal: Signal): Promise<void>;
  /** Called each time the gate has opened. */
  opened(): void;
}

export interface Gate {
  isClosed(): boolean;
  /** Closes for `ms` from now; what closed it for longer still counts. */
  close(ms: number): void;
  /** Milliseconds until it opens; 0 when it is open. */
  leftMs(): number;
}

/** One timer at most, whatever closes it how often. */
export function createGate({ maxWaitMs, now, sleep, opened }: GateOptions): Gate {
  const never = createStopper().signal;
  let until = 0;
  let closed = false;

  async function open(): Promise<void> {
    // Asked again after each sleep: the gate may have been closed for longer meanwhile, and timers may be early by a millisecond.
    for (let left = until - now(); left > 0; left = until - now()) await sleep(left, never);
    closed = false;
    opened();
  }

  return {
    isClosed: () => closed,
    close: (ms) => {
      if (ms <= 0) return;
      until = Math.max(until, now() + Math.min(ms, maxWaitMs));
      if (closed) return;
      closed = true;
      void open();
    },
    leftMs: () => (closed ? Math.max(0, until - now()) : 0),
  };
}
