/** How many lists are drained at the same time, in all and for one credential? */
import { Problem } from "../../model/problem.ts";

export interface SlotLimits {
  /** Drains of the whole process (`lists.maxConcurrent`). */
  readonly maxConcurrent: number;
  /** Drains of one credential (`lists.maxConcurrentPerCredential`). */
  readonly maxConcurrentPerCredential: number;
}

/** Gives a slot back; calling it again does nothing. */
export type Release = () => void;

export interface Slots {
  /**
   * Takes a slot for `credential`: a keyed digest made by the caller, never the token itself.
   * Throws `Problem` OVERLOADED at once when there is none: nobody waits, so no queue can grow.
   */
  claim(credential: string): Release;
  /** Slots taken now, and by how many credentials. */
  inUse(): { readonly drains: number; readonly credentials: number };
}

/** Most drains are a few pages: a slot is likely to be free again this soon. */
const RETRY_AFTER_SECONDS = 2;

/** Slots for one process (design section 5, limits). Remembers a credential only while it holds a slot. */
export function createSlots(limits: SlotLimits): Slots {
  const taken = new Map<string, number>();
  let total = 0;

  function claim(credential: string): Release {
    const own = taken.get(credential) ?? 0;
    if (own >= limits.maxConcurrentPerCredential) throw overloaded("credential", limits.maxConcurrentPerCredential);
    if (total >= limits.maxConcurrent) throw overloaded("process", limits.maxConcurrent);
    taken.set(credential, own + 1);
    total += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      total -= 1;
      const rest = (taken.get(credential) ?? 1) - 1;
      if (rest === 0) taken.delete(credential);
      else taken.set(credential, rest);
    };
  }
  return { claim, inUse: () => ({ drains: total, credentials: taken.size }) };
}

function overloaded(scope: "credential" | "process", limit: number): Problem {
  const whose = scope === "credential" ? "for this credential" : "here";
  return new Problem("OVERLOADED", `${limit} long lists are already being read ${whose}: try again soon`, {
    metadata: { limit: String(limit), scope },
    retryAfter: RETRY_AFTER_SECONDS,
  });
}
