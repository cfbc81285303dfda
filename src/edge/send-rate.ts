import { Problem } from "../model/problem.ts";

export interface SendRateOptions {
  /** Bytes a second that a client has to send on the average; 0: none. */
  readonly minRate: number;
  /** The interval over which the rate is measured, milliseconds. No client is judged before. */
  readonly graceMs: number;
  /** How long a client may send nothing at all while a connection to the platform, or memory, is kept for it, milliseconds. */
  readonly stallMs: number;
  /** Called once. */
  readonly tooSlow: (what: string) => void;
  /** Runs `work` after that many milliseconds; returns a function that cancels it. */
  readonly later: (ms: number, run: () => void) => () => void;
}

/** Watches one body. Time counts only while carryover waits for the client. */
export interface SendRateWatch {
  /** The client is waited for; `held`: while a connection to the platform, or memory, is kept for it. */
  waits(held: boolean): void;
  came(bytes: number): void;
  /** The client may not send: it is not to blame for this time. */
  rests(): void;
  /** Nothing more is expected. */
  over(): void;
}

/** As `setTimeout`, but what came meanwhile is read first: a process that stood still must not blame its clients. */
export function afterReading(ms: number, run: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(run);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/** A pace that counts bytes, not how often some come: a byte now and then is no body that keeps coming. */
export function createSendRateWatch({ minRate, graceMs, stallMs, tooSlow, later }: SendRateOptions): SendRateWatch {
  const beat = Math.min(stallMs, graceMs / 2);
  const beats = Math.ceil(graceMs / beat);
  let stop: (() => void) | undefined;
  let ended = false;
  let connected = false;
  let silentMs = 0;
  /** Since the last beat, and in each of the beats before it. */
  let fresh = 0;
  let latest: readonly number[] = [];

  /** What is wrong, if something is. */
  const fault = (): string | undefined => {
    silentMs = fresh > 0 ? 0 : silentMs + beat;
    latest = [...latest, fresh].slice(-beats);
    fresh = 0;
    if (connected && silentMs >= stallMs) return `nothing of its request's body for ${stallMs / 1_000} s`;
    const bytes = latest.reduce((sum, some) => sum + some, 0);
    if (latest.length < beats || bytes >= (minRate * beats * beat) / 1_000) return undefined;
    return `its request's body more slowly than ${minRate} bytes a second`;
  };
  const look = (): void => {
    const what = fault();
    if (what === undefined) {
      stop = later(beat, look);
    } else {
      over();
      tooSlow(what);
    }
  };
  const over = (): void => {
    ended = true;
    stop?.();
    stop = undefined;
  };
  return {
    waits(held) {
      connected = held;
      if (ended || stop !== undefined) return;
      silentMs = 0;
      stop = later(beat, look);
    },
    came(bytes) {
      fresh += bytes;
    },
    rests() {
      stop?.();
      stop = undefined;
    },
    over,
  };
}

/** What is said to a client that sends too slowly. `safe`: nothing can have been done for it. */
export function slowSender(what: string, safe: boolean): Problem {
  return new Problem("REQUEST_TIMEOUT", `the client sent ${what}`, { metadata: safe ? {} : { state: "unknown" } });
}
