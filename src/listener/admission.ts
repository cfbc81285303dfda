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
/** While behind: so long may a turn be, so that who is refused knows it soon. */
const AIM_MS = 5;
/** While behind: to refuse one of so few gains nothing, for it is not their number that makes turns long. */
const LEAST = 10;
/**
 * How fast the room follows the turns, each turn. It shrinks slowly, for what was let in costs its time only when the platform has
 * answered, some turns later: who takes back too much at once finds the processor idle then.
 */
const GROW = 1.1;
const SHRINK = 0.95;
/** Turns without many requests until nothing is measured any more. */
const QUIET_TURNS = 100;

/**
 * One thread does everything, so what waits too long waits for the event loop. Once each turn of it has taken too long, for a tenth
 * of a second on end, there is room for as many requests at a time as keep its turns short, and the rest is refused: what was let in
 * is done at nearly full speed, and what was refused knows it at once. A tenth of a second in which none was refused ends it. (Long
 * lists need no class of their own: they get one page a turn.)
 */
export function createAdmission({ inFlight, now, nextTurn }: AdmissionOptions): Admission {
  let watching = false;
  let quiet = 0;
  let turnedAt = 0;
  /** Most requests that were in flight in this turn. */
  let most = 0;
  let behindSince: number | undefined;
  /** Requests at a time while carryover is behind; undefined while it is not. */
  let room: number | undefined;
  /** In this turn one was refused for want of room; and when a turn with such a one has last ended. */
  let full = false;
  let fullAt = 0;

  const forget = (): void => {
    behindSince = undefined;
    room = undefined;
  };
  const fallBehind = (at: number, took: number): void => {
    if (took < TURN_MS) behindSince = undefined;
    else behindSince ??= at;
    if (behindSince === undefined || at - behindSince < BEHIND_MS) return;
    room = Math.max(LEAST, (most * AIM_MS) / took);
    fullAt = at;
  };
  const catchUp = (at: number, took: number, before: number): void => {
    if (full) fullAt = at;
    const follow = Math.min(GROW, Math.max(SHRINK, AIM_MS / took));
    if (at - fullAt >= BEHIND_MS) forget();
    else room = Math.min(inFlight, Math.max(LEAST, before * follow));
  };
  const turn = (): void => {
    const at = now();
    const took = Math.max(1, at - turnedAt);
    if (room === undefined) fallBehind(at, took);
    else catchUp(at, took, room);
    turnedAt = at;
    most = 0;
    full = false;
    quiet++;
    watching = quiet < QUIET_TURNS;
    if (watching) nextTurn(turn);
    else forget();
  };
  return {
    refusal(here) {
      if (here >= inFlight) return "shed-in-flight";
      if (here < (room === undefined ? FEW : LEAST)) return undefined;
      quiet = 0;
      most = Math.max(most, here);
      if (!watching) {
        watching = true;
        turnedAt = now();
        nextTurn(turn);
      }
      if (room === undefined || here < room) return undefined;
      full = true;
      return "shed-event-loop";
    },
  };
}
