/** How do several requests wait for one answer, each free to leave? */
import type { Answer } from "../model/message.ts";
import { createStopper, type Signal } from "../model/signal.ts";
import type { Copy } from "./copy.ts";

export type Make = (signal: Signal) => Promise<Answer>;

/** What a work came to, for those that waited for it without being the one that it was done for. */
export type Landing =
  /** They may have it too. */
  | { readonly kind: "shared"; readonly copy: Copy }
  /** An answer that must not be given to others, and the next one would be no different. */
  | { readonly kind: "single" }
  /** It failed: that is not copied, each tries itself. */
  | { readonly kind: "failed" };

/** One work under way, and those that wait for it. */
export interface Flight {
  /** When it began, in milliseconds of the monotonic clock. */
  readonly began: number;
  /** False when everybody has left, or it has come to its end. */
  isOpen(): boolean;
  /** Requests that wait for it now. */
  waiting(): number;
  /** The work's own answer, or its own failure. For the request that it is done for, once, and at once. */
  lead(signal: Signal): Promise<Answer>;
  /** What the work came to. For any other request, while it is open. Never rejects but with the reason of `signal`. */
  follow(signal: Signal): Promise<Landing>;
}

/**
 * Begins `make`; `land` is told what came of it (undefined: nothing), before anybody who waits. Whoever waits may leave, by
 * its own signal, and does not wait for the work to end; the work goes on for the others, and is cancelled when the last
 * one has left.
 */
export function startFlight(make: Make, began: number, land: (answer: Answer | undefined) => Landing): Flight {
  const stopper = createStopper();
  const state = { waiting: 0, landed: false };
  const work = make(stopper.signal);
  const end = (answer: Answer | undefined): Landing => {
    state.landed = true;
    return land(answer);
  };
  const landing = work.then(end, () => end(undefined));

  function wait<T>(result: Promise<T>, signal: Signal): Promise<T> {
    state.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        state.waiting -= 1;
        if (state.waiting === 0) stopper.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      const stay = (): void => signal.removeEventListener("abort", leave);
      result.then(
        (value) => {
          stay();
          resolve(value);
        },
        (error) => {
          stay();
          reject(error);
        },
      );
    });
  }

  return {
    began,
    isOpen: () => !state.landed && !stopper.signal.aborted,
    waiting: () => state.waiting,
    lead(signal) {
      const own = landing.then(() => work).then((answer) => attach(answer, signal, stopper.abort));
      return wait(own, signal);
    },
    follow: (signal) => wait(landing, signal),
  };
}

/** A stream goes on being made while its client takes it, and no longer; one that nobody waits for is let go of. */
function attach(answer: Answer, signal: Signal, abort: (reason: unknown) => void): Answer {
  if (answer.body instanceof Uint8Array) return answer;
  if (!signal.aborted) {
    signal.addEventListener("abort", () => abort(signal.reason), { once: true });
    return answer;
  }
  abort(signal.reason);
  answer.body[Symbol.asyncIterator]()
    .return?.()
    ?.catch(() => undefined);
  return answer;
}
