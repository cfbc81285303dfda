import { Problem } from "../model/problem.ts";
import { createSweep } from "./deadlines.ts";

export interface SendRateLimits {
  /** Bytes a second that a client has to send on the average; 0: none. */
  readonly minRate: number;
  /** The interval over which the rate is measured, milliseconds. No client is judged before. */
  readonly graceMs: number;
  /** How long a client may send nothing at all while a connection to the platform, or memory, is kept for it, milliseconds. */
  readonly stallMs: number;
}

/** Runs `work` after that many milliseconds; returns a function that cancels it. */
export type Later = (ms: number, work: () => void) => () => void;

interface Work {
  readonly dueAt: number;
  readonly run: () => void;
  immediate: NodeJS.Immediate | undefined;
}

/** As `setTimeout`, but what came meanwhile is read first: a process that stood still must not blame its clients. One timer serves all. */
export function afterReading(now: () => number): Later {
  const sweep = createSweep<Work>(
    now,
    ({ dueAt }) => dueAt,
    (work) => {
      sweep.delete(work);
      work.immediate = setImmediate(work.run);
    },
  );
  return (ms, run) => {
    const work: Work = { dueAt: now() + ms, run, immediate: undefined };
    sweep.add(work);
    return () => {
      sweep.delete(work);
      if (work.immediate !== undefined) clearImmediate(work.immediate);
    };
  };
}

/**
 * Watches one body. Time counts only while carryover waits for the client. It counts bytes, not how often some come: a byte now and then is
 * no body that keeps coming. (A class, since every request with a body makes one.)
 */
export class SendRateWatch {
  private readonly limits: SendRateLimits;
  private readonly later: Later;
  /** Called once. */
  private readonly tooSlow: (what: string) => void;
  private readonly beat: number;
  private stop: (() => void) | undefined = undefined;
  private ended = false;
  private connected = false;
  private silentMs = 0;
  /** Since the last beat, and in each of the beats before it. */
  private fresh = 0;
  private latest: readonly number[] = NONE;

  constructor(limits: SendRateLimits, later: Later, tooSlow: (what: string) => void) {
    this.limits = limits;
    this.later = later;
    this.tooSlow = tooSlow;
    this.beat = Math.min(limits.stallMs, limits.graceMs / 2);
  }

  /** The client is waited for; `held`: while a connection to the platform, or memory, is kept for it. */
  waits(held: boolean): void {
    this.connected = held;
    if (this.ended || this.stop !== undefined) return;
    this.silentMs = 0;
    this.listen();
  }

  came(bytes: number): void {
    this.fresh += bytes;
  }

  /** The client may not send: it is not to blame for this time. */
  rests(): void {
    this.stop?.();
    this.stop = undefined;
  }

  /** Nothing more is expected. */
  over(): void {
    this.ended = true;
    this.rests();
  }

  private listen(): void {
    this.stop = this.later(this.beat, () => {
      const what = this.fault();
      if (what === undefined) {
        this.listen();
      } else {
        this.over();
        this.tooSlow(what);
      }
    });
  }

  /** What is wrong, if something is. */
  private fault(): string | undefined {
    const { minRate, graceMs, stallMs } = this.limits;
    const { beat, fresh } = this;
    const beats = Math.ceil(graceMs / beat);
    this.silentMs = fresh > 0 ? 0 : this.silentMs + beat;
    this.latest = [...this.latest, fresh].slice(-beats);
    this.fresh = 0;
    if (this.connected && this.silentMs >= stallMs) return `nothing of its request's body for ${stallMs / 1_000} s`;
    const bytes = this.latest.reduce((sum, some) => sum + some, 0);
    if (this.latest.length < beats || bytes >= (minRate * beats * beat) / 1_000) return undefined;
    return `its request's body more slowly than ${minRate} bytes a second`;
  }
}

const NONE: readonly number[] = [];

/** What is said to a client that sends too slowly. `safe`: nothing can have been done for it. */
export function slowSender(what: string, safe: boolean): Problem {
  return new Problem("REQUEST_TIMEOUT", `the client sent ${what}`, { metadata: safe ? {} : { state: "unknown" } });
}
