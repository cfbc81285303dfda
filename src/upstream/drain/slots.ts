/** How many lists are drained at the same time, in all and for one credential, and who is next? */
import { Problem } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import type { Later } from "../later.ts";

export interface SlotLimits {
  /** Drains of the whole process (`lists.maxConcurrent`). */
  readonly maxConcurrent: number;
  /** Drains of one credential (`lists.maxConcurrentPerCredential`). */
  readonly maxConcurrentPerCredential: number;
  /** Longest wait for a slot (`lists.queueSeconds`); 0: nobody waits. */
  readonly queueSeconds: number;
}

/** Gives a slot back; calling it again does nothing. */
export type Release = () => void;

export interface Slots {
  /**
   * Takes a slot for `credential`: a keyed digest made by the caller, never the token itself. Waits for one when there is
   * none. Rejects with `Problem` OVERLOADED when the wait is over, or at once when too many wait already; with the
   * signal's reason as soon as it aborts.
   */
  claim(credential: string, signal: Signal): Promise<Release>;
  /** Slots taken now, by how many credentials, and how many claims wait. */
  inUse(): { readonly drains: number; readonly credentials: number; readonly waiting: number };
}

interface Waiter {
  readonly credential: string;
  readonly take: (release: Release) => void;
}

/** Most drains are a few pages: a slot is likely to be free again this soon. */
const RETRY_AFTER_SECONDS = 2;
/** Waiters for each slot: who stands behind more than these would hardly come to his turn in time. */
const QUEUE_FACTOR = 4;

/**
 * Slots for one process (design section 5, limits). The credential with the fewest drains under way is next, among equals
 * who came first; one that is at its own limit holds up nobody behind it. Remembers a credential only while it has a
 * slot or waits.
 */
export function createSlots(limits: SlotLimits, later: Later): Slots {
  const taken = new Map<string, number>();
  const queue: Waiter[] = [];
  let total = 0;

  const own = (credential: string) => taken.get(credential) ?? 0;
  const free = (credential: string) =>
    total < limits.maxConcurrent && own(credential) < limits.maxConcurrentPerCredential;

  function take(credential: string): Release {
    taken.set(credential, own(credential) + 1);
    total += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      total -= 1;
      const rest = own(credential) - 1;
      if (rest === 0) taken.delete(credential);
      else taken.set(credential, rest);
      // One slot became free, so at most one waiter gets one: after each change nobody waits who need not.
      const next = first(queue, own, free);
      if (next !== undefined) next.take(take(next.credential));
    };
  }

  async function claim(credential: string, signal: Signal): Promise<Release> {
    signal.throwIfAborted();
    if (free(credential)) return take(credential);
    const scope = own(credential) >= limits.maxConcurrentPerCredential ? "credential" : "process";
    const ahead = queue.filter((waiter) => waiter.credential === credential).length;
    const full =
      queue.length >= limits.maxConcurrent * QUEUE_FACTOR || ahead >= limits.maxConcurrentPerCredential * QUEUE_FACTOR;
    if (full || limits.queueSeconds === 0) throw overloaded(scope, limits);
    return line(queue, credential, signal, (tell) =>
      later(limits.queueSeconds * 1000, () => tell(overloaded(scope, limits))),
    );
  }

  return { claim, inUse: () => ({ drains: total, credentials: taken.size, waiting: queue.length }) };
}

/** Of those whose credential has room, the one with the fewest slots; who came first among equals. */
function first(
  queue: readonly Waiter[],
  own: (credential: string) => number,
  free: (credential: string) => boolean,
): Waiter | undefined {
  let best: Waiter | undefined;
  for (const waiter of queue) {
    if (free(waiter.credential) && (best === undefined || own(waiter.credential) < own(best.credential))) best = waiter;
  }
  return best;
}

/** Waits at the end of `queue`; `limit` starts the clock that ends the wait with the error it tells. */
function line(
  queue: Waiter[],
  credential: string,
  signal: Signal,
  limit: (tell: (error: unknown) => void) => () => void,
): Promise<Release> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      stop();
      signal.removeEventListener("abort", gone);
      queue.splice(queue.indexOf(waiter), 1);
    };
    const fail = (error: unknown) => {
      leave();
      reject(error);
    };
    const gone = () => fail(signal.reason);
    const waiter: Waiter = {
      credential,
      take: (release) => {
        leave();
        resolve(release);
      },
    };
    const stop = limit(fail);
    signal.addEventListener("abort", gone, { once: true });
    queue.push(waiter);
  });
}

function overloaded(scope: "credential" | "process", limits: SlotLimits): Problem {
  const limit = scope === "credential" ? limits.maxConcurrentPerCredential : limits.maxConcurrent;
  const whose = scope === "credential" ? "for this credential" : "here";
  return new Problem("OVERLOADED", `${limit} long lists are already being read ${whose}: try again soon`, {
    metadata: { limit: String(limit), scope },
    retryAfter: RETRY_AFTER_SECONDS,
  });
}
