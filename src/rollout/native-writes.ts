/**
 * The recent outcomes of writes, over all rules. A failed write is never repeated, so these replace the pair that a read would have. Memory
 * is bounded.
 */

import { setLatest } from "../model/latest.ts";
import type { StandInCounts } from "./guard.ts";
import type { WriteCounts } from "./guard-tally.ts";

const SECOND = 1000;
/** Native's writes of other callers count for this time, in seconds. */
const MINUTE = 60;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** "The day before" begins this long ago, so that the present accident is not in it. */
const SETTLED_MS = HOUR_MS;
/** Native serves an operation while at most this share of its writes fails. */
const TOLERATED = 0.25;
/** Distinct callers that a rule's own writes need to count. */
const OWN_CALLERS = 3;
const MOST_OPERATIONS = 512;
const MOST_CALLERS = 10_000;
const MOST_RULES = 4_096;

/** Times are milliseconds of the guard's clock. `credential`: a digest, or undefined if none is known. */
export interface NativeWrites {
  /** A write that native served (2xx) or failed (5xx, timeout, 401, 403, 429). Other responses, such as 404, 409 and 412, are neither. */
  native(operation: string, credential: string | undefined, served: boolean, at: number): void;
  /** A write of `rule` that v2 served. */
  translated(operation: string, credential: string | undefined, rule: string, at: number): void;
  /** Returns how native would probably have responded to a write of `rule` that v2 failed. */
  standIn(operation: string, credential: string | undefined, rule: string, at: number): keyof StandInCounts;
  /** Native's own writes in a second of the last minute. */
  countsOf(operation: string, second: number): WriteCounts;
}

interface OperationWrites {
  /** By the second modulo `MINUTE`. */
  readonly seconds: { second: number; served: number; failed: number }[];
  /** The last two distinct callers that were served, latest first. */
  latest: readonly { readonly credential: string | undefined; readonly at: number }[];
}

/** Served callers by hour: the sets of the present hour and of the last 24. */
interface OwnWrites {
  readonly hours: { hour: number; credentials: Set<string> }[];
}

const NOTHING: WriteCounts = { served: 0, failed: 0 };

export function createNativeWrites(): NativeWrites {
  const operations = new Map<string, OperationWrites>();
  /** When native last served a write of this operation for this caller. */
  const callers = new Map<string, number>();
  const own = new Map<string, OwnWrites>();

  return {
    native(operation, credential, served, at) {
      const writes = entryOf(operations, operation, MOST_OPERATIONS, () => ({ seconds: [], latest: [] }));
      const counts = secondOf(writes, Math.floor(at / SECOND));
      if (!served) {
        counts.failed += 1;
        return;
      }
      counts.served += 1;
      const other = writes.latest.find((one) => one.credential !== credential);
      writes.latest = [{ credential, at }, ...(other === undefined ? [] : [other])];
      if (credential === undefined) return;
      setLatest(callers, `${operation} ${credential}`, at, MOST_CALLERS);
    },

    translated(operation, credential, rule, at) {
      if (credential === undefined) return;
      const { hours } = entryOf(own, `${operation} ${rule}`, MOST_RULES, () => ({ hours: [] }));
      const hour = Math.floor(at / HOUR_MS);
      let last = hours.at(-1);
      if (last === undefined || last.hour < hour) {
        last = { hour, credentials: new Set() };
        hours.push(last);
        while (hours[0] !== undefined && hour - hours[0].hour > 25) hours.shift();
      }
      if (last.credentials.size < OWN_CALLERS) last.credentials.add(credential);
    },

    standIn(operation, credential, rule, at) {
      const writes = operations.get(operation);
      const { served, failed } = writes === undefined ? NOTHING : lastMinute(writes, Math.floor(at / SECOND));
      if (failed > TOLERATED * (served + failed)) return "fails";
      const isOfOther = (one: OperationWrites["latest"][number]): boolean =>
        one.credential !== credential && at - one.at < MINUTE * SECOND;
      if (writes?.latest.some(isOfOther) === true) return "others";
      const last = credential === undefined ? undefined : callers.get(`${operation} ${credential}`);
      if (last !== undefined && at - last < HOUR_MS) return "hour";
      return ownCallers(own.get(`${operation} ${rule}`), at) >= OWN_CALLERS ? "ownDay" : "unknown";
    },

    countsOf(operation, second) {
      const counts = operations.get(operation)?.seconds[second % MINUTE];
      return counts?.second === second ? { served: counts.served, failed: counts.failed } : NOTHING;
    },
  };
}

function secondOf({ seconds }: OperationWrites, second: number): OperationWrites["seconds"][number] {
  const known = seconds[second % MINUTE];
  if (known?.second === second) return known;
  const fresh = { second, served: 0, failed: 0 };
  seconds[second % MINUTE] = fresh;
  return fresh;
}

function lastMinute({ seconds }: OperationWrites, now: number): WriteCounts {
  let [served, failed] = [0, 0];
  for (const one of seconds) {
    if (one === undefined || now - one.second >= MINUTE) continue;
    served += one.served;
    failed += one.failed;
  }
  return { served, failed };
}

/** Distinct callers of the day before. */
function ownCallers(writes: OwnWrites | undefined, at: number): number {
  if (writes === undefined) return 0;
  const [first, last] = [Math.floor((at - DAY_MS) / HOUR_MS), Math.floor((at - SETTLED_MS) / HOUR_MS)];
  const day = writes.hours.filter(({ hour }) => hour >= first && hour <= last);
  return new Set(day.flatMap(({ credentials }) => [...credentials])).size;
}

/** The entry of `key`, made if missing; the oldest is dropped when there are more than `most`. */
function entryOf<V>(map: Map<string, V>, key: string, most: number, make: () => V): V {
  let entry = map.get(key);
  if (entry === undefined) {
    entry = make();
    setLatest(map, key, entry, most);
  }
  return entry;
}
