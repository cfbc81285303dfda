/** Who may call now, and who waits for whom? */
import type { Signal } from "../../model/signal.ts";

export interface PlacesOptions {
  /** Calls of one credential under way at a time. */
  readonly perCredential: number;
  /** Calls under way at a time in all, as it is now; 0: nobody may begin. */
  room(): number;
  /** The same whatever happens: so far `room` may be passed by credentials that have nothing under way. */
  readonly most: number;
}

export interface Places {
  /** Takes a place when there is one: true. Costs no promise. */
  enter(credential: string): boolean;
  /**
   * Resolves when a place was taken for the caller. Credentials are served in turn, the calls of each in their order;
   * `again`: before its others. Rejects with the signal's reason as soon as it aborts.
   */
  wait(credential: string, signal: Signal, again: boolean): Promise<void>;
  /** Gives a place back. */
  leave(credential: string): void;
  /** To be called when there is more room than before. */
  admit(): void;
  inFlight(): number;
  waiting(): number;
}

/** Remembers a credential only while it has calls under way or in line. */
export function createPlaces({ perCredential, most, room }: PlacesOptions): Places {
  const taken = new Map<string, number>();
  /** Who waits, by credential; the first credential is the next one in turn. */
  const lines = new Map<string, (() => void)[]>();
  let inFlight = 0;
  let waiting = 0;

  function enter(credential: string): boolean {
    const own = taken.get(credential) ?? 0;
    if (own >= perCredential || inFlight >= roomFor(own)) return false;
    taken.set(credential, own + 1);
    inFlight += 1;
    return true;
  }

  /** Whoever has nothing under way may have one call: others whose calls hang must not hold the last places. */
  function roomFor(own: number): number {
    const free = room();
    return own === 0 && free > 0 ? Math.max(free, most) : free;
  }

  function leave(credential: string): void {
    const rest = (taken.get(credential) ?? 1) - 1;
    if (rest === 0) taken.delete(credential);
    else taken.set(credential, rest);
    inFlight -= 1;
    if (waiting > 0) admit();
  }

  function admit(): void {
    while (waiting > 0 && admitOne());
  }

  function admitOne(): boolean {
    for (const [credential, line] of lines) {
      if (!enter(credential)) continue;
      const begin = line.shift();
      waiting -= 1;
      // To the end of the round, or out of it.
      lines.delete(credential);
      if (line.length > 0) lines.set(credential, line);
      begin?.();
      return true;
    }
    return false;
  }

  function wait(credential: string, signal: Signal, again: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const line = lines.get(credential) ?? [];
      const gone = () => {
        line.splice(line.indexOf(begin), 1);
        waiting -= 1;
        if (line.length === 0) lines.delete(credential);
        reject(signal.reason);
      };
      const begin = () => {
        signal.removeEventListener("abort", gone);
        resolve();
      };
      if (again) line.unshift(begin);
      else line.push(begin);
      if (line.length === 1) lines.set(credential, line);
      waiting += 1;
      signal.addEventListener("abort", gone, { once: true });
    });
  }
  return { enter, wait, leave, admit, inFlight: () => inFlight, waiting: () => waiting };
}
