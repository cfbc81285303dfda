/** Is there room for one more request, or is carryover behind with those that are here? */

/** Why there is no room, as metrics say it. */
export type Shed = "shed-in-flight" | "shed-event-loop";

export interface AdmissionOptions {
  /** Requests at a time. */
  readonly inFlight: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Runs something at the end of this turn of the event loop. */
  readonly atEndOfTurn: (run: () => void) => void;
}

export interface Admission {
  /** To be asked of each request that arrives; `here`: how many are in flight. Undefined: let it in. */
  refusal(here: number): Shed | undefined;
}

/** A turn that takes longer leaves what arrives meanwhile waiting in the kernel, where nobody sees it. */
const TURN_MS = 10;
/** Only what stays is a queue; a burst, or the collector at work, is over by then (as in CoDel, RFC 8289). */
const BEHIND_MS = 100;
/** So few are done soon, whatever they are; a machine that stalls is not to be taken for many requests. */
const FEW = 100;

/**
 * One thread does everything, so what waits too long waits for the event loop. While each turn of it takes too long, for a tenth of
 * a second on end, a turn lets in what arrives in its first milliseconds and refuses the rest: what was let in is still done at
 * nearly full speed, and what was refused knows it at once. The next short turn lets everybody in again. (Long lists need no class
 * of their own: they get one page a turn, so the longer turns are, the less of the processor they get.)
 */
export function createAdmission({ inFlight, now, atEndOfTurn }: AdmissionOptions): Admission {
  let began = 0;
  let ended = Number.NEGATIVE_INFINITY;
  let inTurn = false;
  let behindSince: number | undefined;

  const end = (): void => {
    inTurn = false;
    ended = now();
    if (ended - began < TURN_MS) behindSince = undefined;
    else behindSince ??= ended;
  };
  return {
    refusal(here) {
      const at = now();
      if (!inTurn) {
        inTurn = true;
        began = at;
        // Nothing has arrived for a while: whatever was the matter, it is over.
        if (began - ended > TURN_MS) behindSince = undefined;
        atEndOfTurn(end);
      }
      if (here >= inFlight) return "shed-in-flight";
      if (here < FEW || behindSince === undefined || began - behindSince < BEHIND_MS) return undefined;
      return at - began >= TURN_MS ? "shed-event-loop" : undefined;
    },
  };
}
