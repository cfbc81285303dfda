/** How does one part tell the others that nobody waits any more? */

/**
 * What carryover uses of an AbortSignal; every AbortSignal is one. A real one of its own would cost each translated
 * request several microseconds, more than any other thing that is made for it.
 */
export interface Signal {
  readonly aborted: boolean;
  /** What `abort` was given; undefined before. */
  readonly reason: unknown;
  /** Throws `reason` when aborted. */
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A signal, and the means to give it. */
export interface SignalController {
  readonly signal: Signal;
  /** Calls each listener once, in order; the first call counts. A listener must not throw. */
  abort(reason: unknown): void;
}

/** A signal that nobody has given yet. */
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
