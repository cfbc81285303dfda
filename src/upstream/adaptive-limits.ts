/** How many calls may be under way: learned from responses, for all, for each credential, and for the processor. */

import { LRUCache } from "lru-cache";
import { retryAfter } from "../model/http.ts";
import { setLatest } from "../model/latest.ts";
import { detachedText } from "../model/text.ts";

/** What became of a call. */
export interface CallOutcome {
  /** 0: no response. */
  readonly status: number;
  /** Of a page: its path, and the response's `Retry-After`. */
  readonly path?: string;
  readonly retryAfter?: string | undefined;
  /** The processor time of its body, in usual calls. */
  readonly work?: number;
}

/** A page that is being read: its numbers in the limit of all and in that of its credential. */
export interface StartedPage {
  readonly credential: string;
  readonly at: number;
  readonly ofAll: number;
  readonly own: number;
}

const MAX_WAIT_MS = 5_000;
/** More kinds of lists than there are; bounded because their names come from requests. */
const MAX_KINDS = 64;
/** 504 is how a gateway reports a timeout. */
export const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([429, 503, 504]);

/** `start` and `most`: pages read at a time at first, and when all goes well. `now` is monotonic; `wall`: since 1970. */
export function createAdaptiveLimits(start: number, most: number, now: () => number, wall: () => number) {
  const limit = createConcurrencyLimit({ start, max: most, now });
  const quota = createCredentialQuota({ max: most, maxWaitMs: MAX_WAIT_MS, now });
  const kinds = new Map<string, LatencyJudge>();

  const latencyOf = (path: string): LatencyJudge => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const judge = createLatencyJudge();
    // Detached, because the target may hold a page token.
    setLatest(kinds, detachedText(path), judge, MAX_KINDS);
    return judge;
  };
  const judge = (
    { credential, own, ofAll, at: begunAt }: StartedPage,
    { status, path = "", retryAfter: value }: CallOutcome,
    pages: number,
    at: number,
  ): void => {
    if (OVERLOAD_STATUSES.has(status)) {
      const askedMs = status === 504 ? 0 : (retryAfter(value, wall()) ?? 0);
      if (quota.refused(credential, own, askedMs)) limit.setBack(ofAll, pages);
    } else if (status === 200) {
      quota.succeed(credential, own);
      // A call that began before the latest cut says nothing about the limit.
      if (limit.isStale(ofAll)) return;
      const judged = latencyOf(path).judge(at - begunAt, limit.value());
      if (judged === "usual") limit.succeed(ofAll);
      else if (judged === "halve") limit.setBack(ofAll, pages);
    }
  };
  return {
    /** `pages`: page reads under way of all credentials, this one included. */
    begin: (credential: string, pages: number, at: number): StartedPage => {
      return { credential, at, ofAll: limit.begin(pages), own: quota.begin(credential) };
    },
    ended(page: StartedPage, outcome: CallOutcome, pages: number, at: number): void {
      judge(page, outcome, pages, at);
      quota.ended(page.credential);
    },
    /** Pages that may be read at a time at present. */
    limit: limit.value,
    quota,
  };
}

interface ConcurrencyOptions {
  readonly start: number;
  readonly max: number;
  readonly now: () => number;
  readonly least?: number;
  readonly doubt?: number;
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** After this time without a setback the limit doubles again, as at the beginning. */
const QUIET_MS = 30_000;

/**
 * Additive increase, multiplicative decrease, with a slow start: doubles after each round (as many responses as the limit)
 * until the first setback, then grows by one a round. A round that never reached the limit proves nothing about more.
 * A setback halves what was under way instead of a limit that was not used, as TCP does with its flight size (RFC 5681,
 * section 3.1): otherwise a limit of 32 would bind a list with four readers only after several rounds of refusals. What
 * was under way counts as `least` (default: `start`) at least, so that one hiccup during one call does not reduce the
 * limit to one. `doubt`: each setback doubles the rounds before the limit grows again, up to so many (default: one).
 */
export function createConcurrencyLimit(options: ConcurrencyOptions) {
  const { start, max, now, doubt = 1 } = options;
  const first = Math.max(1, Math.min(start, max));
  const least = Math.min(first, options.least ?? first);
  let value = first;
  let calls = 0;
  let lastStale = 0;
  let cutAt = Number.NEGATIVE_INFINITY;
  let answered = 0;
  let peak = 0;
  let rounds = 1;

  const isStale = (call: number): boolean => call <= lastStale;
  return {
    value: () => value,
    /** A call begins as one of `inFlight` under way, itself included. Gives its number. */
    begin: (inFlight: number): number => {
      if (inFlight > peak) peak = inFlight;
      calls += 1;
      return calls;
    },
    /** True when `call` began before the latest cut. */
    isStale,
    /** `call` got its response soon enough. */
    succeed: (call: number): void => {
      if (isStale(call)) return;
      answered += 1;
      if (now() - cutAt >= QUIET_MS) rounds = 1;
      if (answered < value * rounds) return;
      if (peak >= value) value = Math.min(max, now() - cutAt >= QUIET_MS ? value * 2 : value + 1);
      answered = 0;
      peak = 0;
    },
    /** `call`, one of `inFlight`, was refused for load or took too long: halves, once for all calls of a round trip. */
    setBack: (call: number, inFlight: number): void => {
      if (isStale(call)) return;
      value = Math.max(1, Math.floor(Math.min(value, Math.max(inFlight, least)) / 2));
      rounds = Math.min(doubt, rounds * 2);
      lastStale = calls;
      cutAt = now();
      answered = 0;
      peak = 0;
    },
  };
}

export type LatencyJudge = ReturnType<typeof createLatencyJudge>;

/** A response is slow when it takes twice as long as usual, and by so much longer that a person might notice it. */
const SLOW_FACTOR = 2;
const SLOW_MS = 50;
/** `usual` follows quickly down, to stay near the least, and slowly up, so that a bad hour does not become usual. */
const DOWN = 1 - 1 / 32;
const UP = 1 + 1 / 512;
/** With half the calls, waiting in a queue takes about half as long. Latency above this share was not waiting. */
const HELPED = 0.75;
/** Slow responses, less two for each quick one, that make a case; at least two for each call that may be under way. */
const LEAST_SLOW = 8;

/**
 * Whether responses take much longer than they did, and fewer calls at a time would help. One for each kind of call.
 *
 * Steps of a fixed ratio make `usual` follow how many responses are longer or shorter, not by how much: no single response
 * moves it far. The score is a CUSUM: a pause makes all calls under way slow at once, which is half of a case at most, and
 * a mixture of long and short pages never makes one. Slowness that halving does not cure is no queue (the pages are larger,
 * the platform has moved): it becomes the new usual, and the limit may grow again. A false alarm costs one halving.
 */
export function createLatencyJudge() {
  let usual: number | undefined;
  let score = 0;
  let sum = 0;
  let count = 0;
  /** Mean latency of slow responses when the limit was last halved for them. */
  let before: number | undefined;

  function begin(mean: number | undefined): void {
    score = 0;
    sum = 0;
    count = 0;
    before = mean;
  }

  return {
    /**
     * Judges a response that took `ms`, while `limit` calls may be under way. `slow`: no reason for more calls at a time;
     * `halve`: so many were slow that fewer should be under way.
     */
    judge: (ms: number, limit: number): "usual" | "slow" | "halve" => {
      usual = usual === undefined ? ms : usual * (ms < usual ? DOWN : UP);
      const least = Math.max(LEAST_SLOW, 2 * limit);
      if (ms <= usual * SLOW_FACTOR || ms < usual + SLOW_MS) {
        score -= 2;
        // After a halving, it takes as much to believe that it helped as it took to make the case.
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

interface CredentialAccount {
  readonly limit: ConcurrencyLimit;
  /** Pages under way. */
  pages: number;
  /** In the last `RECENT_MS` or so. */
  calls: number;
  refused: number;
  /** The end of its pause. */
  until: number;
}

/** What counts as recent. */
const RECENT_MS = 10_000;
/** Fewer credentials say nothing about the platform: two tokens of one user would be most of three. */
const SEVERAL = 4;
const MAX_CREDENTIALS = 1_000;
/** Rounds, at most, before a credential that was refused tries one page more. */
const MOST_DOUBT = 32;

/**
 * The credentials that the platform asked to wait, and for how long. Each credential has a limit of its own, halved when it is refused. All pause only
 * when most of the recent calls were refused, and most calls of most of at least four credentials: neither a busy
 * credential nor two tokens of one user decide for the others.
 * `max`: pages of one credential at a time, when all goes well. `maxWaitMs`: the longest pause; a client whose credential
 * is told to wait longer gets that response at once.
 */
export function createCredentialQuota(options: { max: number; maxWaitMs: number; now: () => number }) {
  const { max, maxWaitMs, now } = options;
  const accounts = new LRUCache<string, CredentialAccount>({ max: MAX_CREDENTIALS });
  /** The end of each credential's pause. */
  const pauses = new Map<string, number>();
  let gate = 0;
  let since = now();

  const accountOf = (credential: string): CredentialAccount => {
    let account = accounts.get(credential);
    if (account === undefined) {
      // A credential may be allowed one page at a time, so what is under way counts as it is.
      const limit = createConcurrencyLimit({ start: max, max, now, least: 1, doubt: MOST_DOUBT });
      account = { limit, pages: 0, calls: 0, refused: 0, until: 0 };
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
  const isMostRefused = (): boolean => {
    const active = [...accounts.values()].filter(({ calls }) => calls > 0);
    const calls = active.reduce((sum, account) => sum + account.calls, 0);
    const refusals = active.reduce((sum, account) => sum + account.refused, 0);
    const mostlyRefused = active.filter((account) => account.refused * 2 > account.calls).length;
    return active.length >= SEVERAL && mostlyRefused * 2 > active.length && refusals * 2 > calls;
  };
  const left = (until: number): number => Math.max(0, until - now());
  const forgetPauses = (): void => {
    for (const [credential, until] of pauses) if (until <= now()) pauses.delete(credential);
  };
  return {
    /** Whether `credential`, with `pages` page reads under way, may begin one more. */
    mayRead: (credential: string, pages: number): boolean => {
      if (now() < gate) return false;
      const account = accounts.peek(credential);
      return account === undefined || (now() >= account.until && pages < account.limit.value());
    },
    /** Gives the number of the page read. */
    begin: (credential: string): number => {
      age();
      const account = accountOf(credential);
      account.calls += 1;
      account.pages += 1;
      return account.limit.begin(account.pages);
    },
    /** A page read is over, after what it showed was reported. */
    ended: (credential: string): void => {
      const account = accounts.peek(credential);
      if (account !== undefined) account.pages = Math.max(0, account.pages - 1);
    },
    succeed: (credential: string, call: number): void => accounts.peek(credential)?.limit.succeed(call),
    /**
     * `credential` was refused and asked to retry after `askedMs` (0: no time named). True when most credentials are being
     * refused: then the platform is overloaded, and all others pause, too.
     */
    refused(credential: string, call: number, askedMs: number): boolean {
      const account = accountOf(credential);
      account.refused += 1;
      account.limit.setBack(call, account.pages);
      const pause = askedMs > maxWaitMs ? 0 : askedMs;
      if (pause > 0) {
        account.until = Math.max(account.until, now() + pause);
        setLatest(pauses, credential, account.until, MAX_CREDENTIALS);
      }
      const everybody = isMostRefused();
      if (everybody) gate = Math.max(gate, now() + pause);
      return everybody;
    },
    /** Milliseconds until all may call again. */
    gatedMs: (): number => left(gate),
    /** Milliseconds until every paused credential may call again. */
    pausedMs: (): number => {
      forgetPauses();
      return Math.max(0, ...[...pauses.values()].map(left));
    },
    /** Milliseconds until the first of them may; undefined: no credential pauses. */
    nextMs: (): number | undefined => {
      forgetPauses();
      const ends = gate > now() ? [gate] : [...pauses.values()];
      return ends.length === 0 ? undefined : left(Math.min(...ends));
    },
  };
}

/** The event loop was always busy: more calls under way would only compete for memory. */
const FULL = 0.98;
/** The event loop waited for the upstream. */
const SPARE = 0.9;
/** Enough to keep the processor busy when an upstream is near, and few enough that their responses stay in its cache. */
const LEAST_CALLS = 16;

/**
 * How many calls may be under way, given how busy the processor is. Little's law: where the processor is scarce, calls
 * beyond those that keep it busy do not end sooner. Each costs more, because what they hold leaves the processor's cache
 * and survives garbage collections. With a slow upstream the loop idles, and all slots count.
 */
export function createProcessorLimit(most: number) {
  const least = Math.min(LEAST_CALLS, most);
  let value = most;
  return {
    now: () => value,
    /** Calls wait, and the event loop was busy for this share of the time since the last call (0 to 1). */
    adapt: (busy: number): void => {
      if (busy >= FULL) value = Math.max(least, (value * 3) >> 2);
      else if (busy < SPARE) value = Math.min(most, Math.ceil((value * 4) / 3));
    },
    /** No call waits. */
    reset: (): void => {
      value = most;
    },
  };
}
