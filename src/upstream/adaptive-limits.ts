/** What do responses say about the platform, and about how much of it each credential may have? */

import { LRUCache } from "lru-cache";
import { retryAfter } from "../model/http.ts";
import { detachedText } from "../model/text.ts";

/** What became of a call. */
export interface CallOutcome {
  /** 0: no response. */
  readonly status: number;
  /** Of a page: its path, and what the response says of when to come back. */
  readonly path?: string;
  readonly retryAfter?: string | undefined;
  /** What its body takes of the processor, in usual calls. */
  readonly work?: number;
}

/** A call under way, to tell of it later. */
export interface StartedCall {
  readonly credential: string;
  readonly at: number;
  /** Its numbers for the limits of pages; undefined: it is no page. */
  readonly page: { readonly ofAll: number; readonly own: number } | undefined;
}

export interface AdaptiveLimits {
  begin(credential: string, isPage: boolean, pages: number, at: number): StartedCall;
  /** `pages`: page reads under way, this one included. */
  ended(call: StartedCall, outcome: CallOutcome, pages: number, at: number): void;
  /** Pages that may be read at a time at present. */
  limit(): number;
  readonly quota: Pick<CredentialQuota, "mayRead" | "gatedMs" | "pausedMs" | "nextMs">;
}

const MAX_WAIT_MS = 5_000;
/** More kinds of lists than there are; a bound all the same, as their names come from requests. */
const MAX_KINDS = 64;
/** 504: a gateway's word for a timeout. */
export const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([429, 503, 504]);

/** `start` and `most`: pages read at a time at first, and when all goes well. `now` never goes back; `wall`: since 1970. */
export function createAdaptiveLimits(
  start: number,
  most: number,
  now: () => number,
  wall: () => number,
): AdaptiveLimits {
  const limit = createConcurrencyLimit({ start, max: most, now });
  const quota = createCredentialQuota({ max: most, maxWaitMs: MAX_WAIT_MS, now });
  const kinds = new Map<string, LatencyJudge>();

  const latencyOf = (path: string): LatencyJudge => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const [oldest] = kinds.keys();
    if (kinds.size >= MAX_KINDS && oldest !== undefined) kinds.delete(oldest);
    const made = createLatencyJudge();
    // The target may hold a page token.
    kinds.set(detachedText(path), made);
    return made;
  };
  return {
    begin: (credential, isPage, pages, at) => {
      const page = isPage ? { ofAll: limit.begin(pages), own: quota.begin(credential, pages) } : undefined;
      return { credential, at, page };
    },
    ended({ credential, at: since, page }, { status, path = "", retryAfter: said }, pages, at) {
      if (page === undefined) return;
      if (OVERLOAD_STATUSES.has(status)) {
        const asked = status === 504 ? 0 : (retryAfter(said, wall()) ?? 0);
        if (quota.refused(credential, page.own, pages, asked)) limit.setBack(page.ofAll, pages);
      } else if (status === 200) {
        quota.succeed(credential, page.own);
        // Of a call that began before the latest cut nothing can be learned.
        if (limit.isStale(page.ofAll)) return;
        const judged = latencyOf(path).judge(at - since, limit.value());
        if (judged === "usual") limit.succeed(page.ofAll);
        else if (judged === "halve") limit.setBack(page.ofAll, pages);
      }
    },
    limit: limit.value,
    quota,
  };
}

/** How many calls may be under way at a time, seeing how the latest ones went? */

export interface ConcurrencyLimitOptions {
  /** Before anything is known. */
  readonly start: number;
  /** Never above this. */
  readonly max: number;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}

export interface ConcurrencyLimit {
  value(): number;
  /** A call begins as one of `inFlight` under way, itself included. Gives its number, to tell of it later. */
  begin(inFlight: number): number;
  /** True when `call` began before the latest cut: how it went says nothing about the limit as it is now. */
  isStale(call: number): boolean;
  /** `call` was answered, and soon enough. */
  succeed(call: number): void;
  /** `call`, one of `inFlight` under way, was refused for load or took too long: halves, once for all calls of a round trip. */
  setBack(call: number, inFlight: number): void;
}

/** So long without a setback and the limit doubles again, as at the beginning: what was in the way has probably gone. */
const QUIET_MS = 30_000;

/**
 * Additive increase, multiplicative decrease, with a slow start: doubles after each round (as many answers as the limit)
 * until the first setback, then grows by one a round. A round in which the limit was never reached proves nothing about more.
 * Halves what was under way rather than a limit that was not used, as TCP does with its flight size (RFC 5681, section 3.1):
 * otherwise several rounds of refusals would pass before a limit of 32 binds a list with four readers. What was under way
 * counts as `start` at least: one hiccup while one call was under way is no reason to go back to one.
 */
export function createConcurrencyLimit({ start, max, now }: ConcurrencyLimitOptions): ConcurrencyLimit {
  let value = Math.max(1, Math.min(start, max));
  const first = value;
  let calls = 0;
  let lastStale = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  let answered = 0;
  let peak = 0;

  const isStale = (call: number) => call <= lastStale;
  return {
    value: () => value,
    begin: (inFlight) => {
      if (inFlight > peak) peak = inFlight;
      calls += 1;
      return calls;
    },
    isStale,
    succeed: (call) => {
      if (isStale(call)) return;
      answered += 1;
      if (answered < value) return;
      if (peak >= value) value = Math.min(max, now() - cutAt >= QUIET_MS ? value * 2 : value + 1);
      answered = 0;
      peak = 0;
    },
    setBack: (call, inFlight) => {
      if (isStale(call)) return;
      value = Math.max(1, Math.floor(Math.min(value, Math.max(inFlight, first)) / 2));
      lastStale = calls;
      cutAt = now();
      answered = 0;
      peak = 0;
    },
  };
}

/** Do answers take much longer than they did, and would fewer calls at a time help? */

export interface LatencyJudge {
  /**
   * Judges an answer that took `ms`, while `limit` calls may be under way. `slow`: no reason to send more at a time;
   * `halve`: so were so many before it that fewer should be under way.
   */
  judge(ms: number, limit: number): "usual" | "slow" | "halve";
}

/** An answer is slow when it takes twice as long as usual, and by so much longer that a person might notice it. */
const SLOW_FACTOR = 2;
const SLOW_MS = 50;
/** How fast `usual` follows: quickly down, so that it is near the least; slowly up, so that a platform's bad hour is no new usual. */
const DOWN = 1 - 1 / 32;
const UP = 1 + 1 / 512;
/** With half the calls, waiting in a queue takes about half as long. What stays above this share was not waiting. */
const HELPED = 0.75;
/** Slow answers, less two for each quick one, that make a case; at least two for each call that may be under way. */
const LEAST_SLOW = 8;

/**
 * One for each kind of call: what usually takes 150 ms is not slow because something else takes 15.
 *
 * Steps of a fixed ratio make `usual` follow how many answers are longer or shorter, not by how much: no single answer
 * moves it far. The score is a CUSUM: a pause of either side makes all calls under way slow at once, which is half of a case
 * at most, and a mixture of long and short pages never makes one. Slowness that halving does not cure is no queue (the pages
 * are larger, the platform has moved): then it is the new usual, and the limit may grow again. So a false alarm costs one halving.
 */
export function createLatencyJudge(): LatencyJudge {
  let usual: number | undefined;
  let score = 0;
  let sum = 0;
  let count = 0;
  /** What slow answers took on average when the limit was last halved for them. */
  let before: number | undefined;

  function begin(mean: number | undefined): void {
    score = 0;
    sum = 0;
    count = 0;
    before = mean;
  }

  return {
    judge: (ms, limit) => {
      usual = usual === undefined ? ms : usual * (ms < usual ? DOWN : UP);
      const least = Math.max(LEAST_SLOW, 2 * limit);
      if (ms <= usual * SLOW_FACTOR || ms < usual + SLOW_MS) {
        score -= 2;
        // After a halving it takes as much to believe that it helped as it took to make the case.
        if (score <= (before === undefined ? 0 : -least)) begin(undefined);
        return "usual";
      }
      score += 1;
      sum += ms;
      count += 1;
      if (score < least) return "slow";
      const mean = sum / count;
      const halve = limit > 1 && (before === undefined || mean < before * HELPED);
      if (!halve) usual = mean;
      begin(halve ? mean : undefined);
      return halve ? "halve" : "usual";
    },
  };
}

/** Who has been told to wait, and for how long? (A pause belongs to the credential that was told; pure but for its clock.) */

export interface CredentialQuotaOptions {
  /** Pages of one credential read at a time, when all goes well. */
  readonly max: number;
  /** Longest pause, in milliseconds. The client of a credential that is told to wait longer hears of it at once. */
  readonly maxWaitMs: number;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}

/** A page read that is under way, to tell of it later. */
export type StartedPage = number;

export interface CredentialQuota {
  /** Whether `credential`, with `pages` page reads under way, may begin one more. */
  mayRead(credential: string, pages: number): boolean;
  begin(credential: string, pages: number): StartedPage;
  succeed(credential: string, call: StartedPage): void;
  /**
   * `credential` was refused, and told to come back after `askedMs` (0: not told when). True when most credentials are being refused:
   * then it is the platform that has too much to do, and all others pause, too.
   */
  refused(credential: string, call: StartedPage, pages: number, askedMs: number): boolean;
  /** Milliseconds until all may call again. */
  gatedMs(): number;
  /** Milliseconds until every credential may call again that was told to wait. */
  pausedMs(): number;
  /** Milliseconds until the first of them may; undefined: nobody pauses. */
  nextMs(): number | undefined;
}

/** What counts as recent. */
const RECENT_MS = 10_000;
/** Fewer credentials than these say nothing about the platform: two tokens of one user would be most of three. */
const SEVERAL = 4;
const MAX_CREDENTIALS = 1_000;

interface CredentialAccount {
  readonly limit: ConcurrencyLimit;
  /** In the last `RECENT_MS` or so. */
  calls: number;
  refused: number;
  until: number;
}

/**
 * Each credential has a limit of its own, halved when it is refused. All pause only when most of the recent calls were refused, and
 * most calls of most of at least four credentials: neither a busy credential nor two tokens of one user decide for the others.
 */
export function createCredentialQuota({ max, maxWaitMs, now }: CredentialQuotaOptions): CredentialQuota {
  const accounts = new LRUCache<string, CredentialAccount>({ max: MAX_CREDENTIALS });
  /** Until when each credential pauses that was told to. */
  const pauses = new Map<string, number>();
  let gate = 0;
  let since = now();

  const accountOf = (credential: string): CredentialAccount => {
    let account = accounts.get(credential);
    if (account === undefined) {
      account = { limit: createConcurrencyLimit({ start: max, max, now }), calls: 0, refused: 0, until: 0 };
      accounts.set(credential, account);
    }
    return account;
  };
  /** Older calls count half, then a quarter, and soon nothing. */
  const age = (): void => {
    if (now() - since < RECENT_MS) return;
    const factor = 0.5 ** Math.floor((now() - since) / RECENT_MS);
    since = now();
    for (const account of accounts.values()) {
      account.calls = Math.floor(account.calls * factor);
      account.refused = Math.floor(account.refused * factor);
    }
  };
  const isEverybody = (): boolean => {
    const total = { credentials: 0, refused: 0, calls: 0, refusals: 0 };
    for (const { calls, refused } of accounts.values()) {
      if (calls === 0) continue;
      total.credentials += 1;
      total.calls += calls;
      total.refusals += refused;
      if (refused * 2 > calls) total.refused += 1;
    }
    const { credentials, refused, calls, refusals } = total;
    return credentials >= SEVERAL && refused * 2 > credentials && refusals * 2 > calls;
  };
  const left = (until: number): number => Math.max(0, until - now());
  const forget = (): void => {
    for (const [credential, until] of pauses) if (until <= now()) pauses.delete(credential);
  };
  return {
    mayRead: (credential, pages) => {
      if (now() < gate) return false;
      const account = accounts.peek(credential);
      return account === undefined || (now() >= account.until && pages < account.limit.value());
    },
    begin: (credential, pages) => {
      age();
      const account = accountOf(credential);
      account.calls += 1;
      return account.limit.begin(pages);
    },
    succeed: (credential, call) => accounts.peek(credential)?.limit.succeed(call),
    refused(credential, call, pages, askedMs) {
      const account = accountOf(credential);
      account.refused += 1;
      account.limit.setBack(call, pages);
      const pause = askedMs > maxWaitMs ? 0 : askedMs;
      if (pause > 0) {
        account.until = Math.max(account.until, now() + pause);
        pauses.delete(credential);
        pauses.set(credential, account.until);
        const [oldest] = pauses.keys();
        if (pauses.size > MAX_CREDENTIALS && oldest !== undefined) pauses.delete(oldest);
      }
      const everybody = isEverybody();
      if (everybody) gate = Math.max(gate, now() + pause);
      return everybody;
    },
    gatedMs: () => left(gate),
    pausedMs: () => {
      forget();
      return Math.max(0, ...[...pauses.values()].map(left));
    },
    nextMs: () => {
      forget();
      const ends = gate > now() ? [gate] : [...pauses.values()];
      return ends.length === 0 ? undefined : left(Math.min(...ends));
    },
  };
}

/** How many calls may be under way, seeing how busy the processor is? */

export interface ProcessorLimit {
  now(): number;
  /** Calls wait, and the event loop was busy for this share of the time since the last call (0 to 1). */
  adapt(busy: number): void;
  /** Nobody waits. */
  reset(): void;
}

/** The loop found something to do whenever it looked: more calls under way would only take memory from each other. */
const FULL = 0.98;
/** The loop waited for the upstream. */
const SPARE = 0.9;
/** Enough to keep the processor busy when an upstream is near, and little enough that their responses stay in its cache. */
const LEAST_CALLS = 16;

/**
 * Little's law: where the processor is scarce, calls beyond those that keep it busy do not end sooner. They cost more each, since
 * what they hold leaves the processor's cache and survives garbage collections. With a slow upstream the loop idles: then all places count.
 */
export function createProcessorLimit(most: number): ProcessorLimit {
  const least = Math.min(LEAST_CALLS, most);
  let value = most;
  return {
    now: () => value,
    adapt: (busy) => {
      if (busy >= FULL) value = Math.max(least, (value * 3) >> 2);
      else if (busy < SPARE) value = Math.min(most, Math.ceil((value * 4) / 3));
    },
    reset: () => {
      value = most;
    },
  };
}
