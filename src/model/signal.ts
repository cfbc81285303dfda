/**
 * The part of AbortSignal that carryover uses; every AbortSignal is one. Creating a real one costs each translated request
 * several microseconds, more than anything else that a request needs.
 */
export interface Signal {
  readonly aborted: boolean;
  /** The argument of `abort`; undefined before. */
  readonly reason: unknown;
  /** Throws `reason` when aborted. */
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A signal, and the function that aborts it. */
export interface SignalController {
  readonly signal: Signal;
  /** Calls each listener once, in order; later calls do nothing. A listener must not throw. */
  abort(reason: unknown): void;
}

export function createSignalController(): SignalController {
  const listeners = new Set<() => void>();
  const state: { aborted: boolean; reason: unknown } = { aborted: false, reason: undefined };
  const signal: Signal = Object.assign(state, {
    throwIfAborted: () => {
      if (state.aborted) throw state.reason;
    },
    addEventListener: (_type: "abort", listener: () => void) => {
      if (!state.aborted) listeners.add(listener);
    },
    removeEventListener: (_type: "abort", listener: () => void) => {
      listeners.delete(listener);
    },
  });
  return {
    signal,
    abort: (reason) => {
      if (state.aborted) return;
      state.aborted = true;
      state.reason = reason;
      for (const listener of listeners) listener();
      listeners.clear();
    },
  };
}
