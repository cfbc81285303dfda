/** Which comparisons only repeat others: equal again, for the same request of the same caller, within the hour. */

import { type Comparison, isConclusive, isDifference } from "../model/comparison.ts";
import { setLatest } from "../model/latest.ts";
import type { Rule } from "../rules/rule.ts";

/** Equal comparisons of one request of one caller that count in `WINDOW_MS`. */
const COUNTED = 10;
const WINDOW_MS = 3_600_000;
/** Requests that are remembered. Beyond that the oldest one counts again: no single one of 10,000 decides. */
const MOST = 10_000;

export interface Repeats {
  /** Counts a finished comparison of `rule`. True: it adds nothing to the evidence. A difference always does. */
  isRepeat(rule: Rule, comparison: Comparison, credential: string | undefined): boolean;
}

interface CountedRequest {
  readonly since: number;
  count: number;
}

/** `now`: milliseconds of a clock that is never set. */
export function createRepeats(now: () => number, most: number = MOST): Repeats {
  /** Oldest first. */
  const counted = new Map<string, CountedRequest>();
  return {
    isRepeat({ name, evidenceKey }, { request, result, client }, credential) {
      if (request === undefined || !isConclusive(result) || isDifference(result)) return false;
      const key = JSON.stringify([name, evidenceKey, request, credential ?? `client ${client}`]);
      const at = now();
      const known = counted.get(key);
      if (known !== undefined && at - known.since < WINDOW_MS) {
        known.count += 1;
        return known.count > COUNTED;
      }
      setLatest(counted, key, { since: at, count: 1 }, most);
      return false;
    },
  };
}
