/** Is there room for one more request, or is carryover behind with those that are here? */

/** Why there is no room, as metrics say it. */
export type Shed = "shed-in-flight" | "shed-event-loop";

export interface AdmissionOptions {
  /** Requests at a time. */
  readonly inFlight: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Runs something in the next turn of the event loop, a millisecond from now at the earliest. */
  readonly nextTurn: (run: () => void) => void;
}

export interface Admission {
  /** To be asked of each request that arrives; `here`: how many are in flight. Undefined: let it in. */
  refusal(here: number): Shed | undefined;
}

/** A turn that takes longer leaves what arrives meanwhile waiting in the kernel, where nobody sees it. */
const TURN_MS = 10;
/** Only what stays is a queue; a burst, or the collector at work, is over by then (as in CoDel, RFC 8289). */
const BEHIND_MS = 100;
/** So few are done soon, whatever they are; nothing is measured for them, and a machine that stalls is not taken for many. */
const FEW = 100;
/** Turns without many requests until nothing is measured any more. */
const QUIET_TURNS = 100;

/**
 * One thread does everything, so what waits too long waits for the event loop. While each turn of it takes too long, for a tenth of
 * a second on end, a turn lets in what arrives in its first milliseconds and refuses the rest: what was let in is still done at
 * nearly full speed, and what was refused knows it at once. The next short turn lets everybody in again. (Long lists need no class
 * of their own: they get one page a turn, so the longer turns are, the less of the processor they get.)
 */
export function createAdmission({ inFlight, now, nextTurn }: AdmissionOptions): Admission {
  let watching = false;
  let quiet = 0;
  let turnedAt = 0;
  /** When the first request of this turn arrived. */
  let began: number | undefined;
  let behindSince: number | undefined;

  const turn = (): void => {
    const at = now();
    if (at - turnedAt < TURN_MS) behindSince = undefined;
    else behindSince ??= at;
    turnedAt = at;
    began = undefined;
    quiet++;
    watching = quiet < QUIET_TURNS;
    if (watching) nextTurn(turn);
    else behindSince = undefined;
  };
  return {
    refusal(here) {
      if (here >= inFlight) return "shed-in-flight";
      if (here < FEW) return undefined;
      const at = now();
      quiet = 0;
      began ??= at;
      if (!watching) {
        watching = true;
        turnedAt = at;
        nextTurn(turn);
      }
      if (behindSince === undefined || at - behindSince < BEHIND_MS) return undefined;
      return at - began >= TURN_MS ? "shed-event-loop" : undefined;
    },
  };
}
