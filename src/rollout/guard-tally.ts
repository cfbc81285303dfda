/** Counts one rule's requests second by second for the guard: constant work per request, bounded memory. */
import { setLatest } from "../model/latest.ts";
import type { FailureKind } from "../model/v2-failure.ts";
import { type CallerIdentity, type DistinctCallers, NO_CALLERS } from "./evidence-window.ts";
import { type FailureCounts, type GuardSecond, NO_STAND_INS, type StandInCounts, withFailing } from "./guard.ts";

/** Identical requests within this time are one request with its retries. Milliseconds. */
const RETRY_MS = 10_000;
/** Clients send a request that failed up to three more times. */
const ATTEMPTS = 4;
/** Milliseconds for which a caller that native refused as well is left out. */
const REFUSED_MS = 60_000;
const MOST_KEYS = 10_000;
/** Closed seconds that were not taken. */
const MOST_SECONDS = 5_000;

/** Failures that may depend on the caller alone. */
const REFUSALS: ReadonlySet<FailureKind> = new Set(["unauthenticated", "forbidden", "limited"]);

/** A translated request that v2 failed. Times are milliseconds of the guard's clock. */
export interface GuardFailure {
  readonly operation: string;
  readonly at: number;
  readonly kind: FailureKind;
  readonly who: CallerIdentity;
  /** Digest of credential, method, target and body. */
  readonly requestKey: string;
  /** For writes: what native did with similar ones. */
  readonly standIn?: keyof StandInCounts | undefined;
}

/** The outcome on native of a failed read. `at`: when native responded. */
export interface GuardPair extends Pick<GuardFailure, "operation" | "at" | "kind" | "who"> {
  readonly nativeServed: boolean;
}

export interface GuardTally {
  served(operation: string, at: number, write: boolean): void;
  /** Returns whether the failure counts: retries do not, nor do callers that native refuses as well. Such requests need no pair. */
  failed(failure: GuardFailure): boolean;
  /** A read that has failed still waits for v2. */
  hangs(operation: string, at: number): void;
  pair(pair: GuardPair): void;
  /** Takes the seconds that ended before `now`, oldest first. `writesOf`: native's own writes of an operation in a second. */
  take(now: number, writesOf: (operation: string, second: number) => WriteCounts): readonly GuardSecond[];
}

export interface WriteCounts {
  readonly served: number;
  readonly failed: number;
}

interface OpenSecond {
  served: number;
  failed: number;
  hanging: number;
  kinds: Partial<Record<FailureKind, number>>;
  callers: DistinctCallers;
  pairedServed: number;
  pairedFailed: number;
  standIn: Record<keyof StandInCounts, number> | undefined;
}

export function createGuardTally(): GuardTally {
  const open = new Map<string, OpenSecond>();
  let second = Number.NEGATIVE_INFINITY;
  let closed: GuardSecond[] = [];
  /** First request of its key, and how many were identical. */
  const attempts = new Map<string, { readonly at: number; count: number }>();
  /** Until when a caller is left out. */
  const refused = new Map<string, number>();

  function closeBefore(next: number): void {
    if (next <= second) return;
    for (const [operation, counts] of open) closed.push(closedSecond(operation, second, counts));
    if (closed.length > MOST_SECONDS) closed = closed.slice(-MOST_SECONDS);
    open.clear();
    second = next;
  }

  function openSecond(operation: string, at: number, write: boolean): OpenSecond {
    closeBefore(Math.floor(at / 1000));
    let counts = open.get(operation);
    if (counts === undefined) {
      counts = {
        served: 0,
        failed: 0,
        hanging: 0,
        kinds: {},
        callers: NO_CALLERS,
        pairedServed: 0,
        pairedFailed: 0,
        standIn: write ? { ...NO_STAND_INS } : undefined,
      };
      open.set(operation, counts);
    }
    return counts;
  }

  function isRetry(key: string, at: number): boolean {
    const known = attempts.get(key);
    if (known !== undefined && at - known.at < RETRY_MS && known.count < ATTEMPTS) {
      known.count += 1;
      return true;
    }
    setLatest(attempts, key, { at, count: 1 }, MOST_KEYS);
    return false;
  }

  return {
    served(operation, at, write) {
      openSecond(operation, at, write).served += 1;
    },
    failed({ operation, at, kind, who, requestKey, standIn }) {
      if ((refused.get(callerKey(operation, kind, who)) ?? at) > at || isRetry(requestKey, at)) return false;
      const counts = openSecond(operation, at, standIn !== undefined);
      counts.failed += 1;
      counts.kinds[kind] = (counts.kinds[kind] ?? 0) + 1;
      counts.callers = withFailing(counts.callers, who);
      if (standIn !== undefined && counts.standIn !== undefined) counts.standIn[standIn] += 1;
      return true;
    },
    hangs(operation, at) {
      openSecond(operation, at, false).hanging += 1;
    },
    pair({ operation, at, kind, who, nativeServed }) {
      const counts = openSecond(operation, at, false);
      if (nativeServed) counts.pairedServed += 1;
      else counts.pairedFailed += 1;
      if (nativeServed || !REFUSALS.has(kind) || who.credential === undefined) return;
      setLatest(refused, callerKey(operation, kind, who), at + REFUSED_MS, MOST_KEYS);
    },
    take(now, writesOf) {
      closeBefore(Math.floor(now / 1000));
      const taken = closed;
      closed = [];
      return taken.map((one) => {
        if (one.standIn === undefined) return one;
        const { served, failed } = writesOf(one.operation, one.second);
        return { ...one, pairedServed: served, pairedFailed: failed };
      });
    },
  };
}

function closedSecond(operation: string, second: number, counts: OpenSecond): GuardSecond {
  const kinds: FailureCounts = counts.kinds;
  return { ...counts, kinds, operation, second };
}

function callerKey(operation: string, kind: FailureKind, { credential }: CallerIdentity): string {
  return `${operation} ${kind} ${credential ?? ""}`;
}
