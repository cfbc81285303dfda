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
  const signal = new OwnSignal();
  return { signal, abort: (reason) => signal.abort(reason) };
}

/** A class with room for the one listener that most signals have: a set would cost as much as all the rest. */
class OwnSignal implements Signal {
  aborted = false;
  reason: unknown = undefined;
  private first: (() => void) | undefined = undefined;
  private others: Set<() => void> | undefined = undefined;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.aborted || listener === this.first) return;
    if (this.first === undefined && this.others === undefined) this.first = listener;
    else {
      this.others ??= new Set();
      this.others.add(listener);
    }
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (listener === this.first) this.first = undefined;
    else this.others?.delete(listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.first?.();
    for (const listener of this.others ?? []) listener();
    this.first = undefined;
    this.others = undefined;
  }
}
