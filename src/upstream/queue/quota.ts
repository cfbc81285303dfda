/** Who has been told to wait, and for how long? (A pause belongs to the credential that was told; pure but for its clock.) */
import { LRUCache } from "lru-cache";
import { createLimit, type Limit } from "./limit.ts";

export interface QuotaOptions {
  /** Pages of one credential read at a time, when all goes well. */
  readonly max: number;
  /** Longest pause, in milliseconds. The client of a credential that is told to wait longer hears of it at once. */
  readonly maxWaitMs: number;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}

/** A page read that is under way, to tell of it later. */
export type Begun = number;

export interface Quota {
  /** Whether `credential`, with `pages` page reads under way, may begin one more. */
  mayRead(credential: string, pages: number): boolean;
  begin(credential: string, pages: number): Begun;
  succeed(credential: string, call: Begun): void;
  /**
   * `credential` was refused, and told to come back after `askedMs` (0: not told when). True when most credentials are being refused:
   * then it is the platform that has too much to do, and all others pause, too.
   */
  refused(credential: string, call: Begun, pages: number, askedMs: number): boolean;
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

interface Account {
  readonly limit: Limit;
  /** In the last `RECENT_MS` or so. */
  calls: number;
  refused: number;
  until: number;
}

/**
 * Each credential has a limit of its own, halved when it is refused. All pause only when most of the recent calls were refused, and
 * most calls of most of at least four credentials: neither a busy credential nor two tokens of one user decide for the others.
 */
export function createQuota({ max, maxWaitMs, now }: QuotaOptions): Quota {
  const accounts = new LRUCache<string, Account>({ max: MAX_CREDENTIALS });
  /** Until when each credential pauses that was told to. */
  const pauses = new Map<string, number>();
  let gate = 0;
  let since = now();

  const accountOf = (credential: string): Account => {
    let account = accounts.get(credential);
    if (account === undefined) {
      account = { limit: createLimit({ start: max, max, now }), calls: 0, refused: 0, until: 0 };
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
