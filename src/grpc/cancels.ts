/** How often the callers of a connection may cancel calls. Beyond that, they make others work for nothing (CVE-2023-44487). */

import { setLatest } from "../model/latest.ts";

/** Tokens that a bucket holds at most, and that come back each second. `debt`: what may be taken from an empty one, and has to come back first. */
export interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
  readonly debt?: number;
}

export type TokenBucket = ReturnType<typeof createTokens>;

/** A bucket that is full. `now`: a clock in milliseconds. */
export function createTokens(now: () => number, { burst, perSecond, debt = 1 }: TokenRate) {
  let left = burst;
  let at = now();
  const refill = (): void => {
    const time = now();
    left = Math.min(burst, left + ((time - at) * perSecond) / 1_000);
    at = time;
  };
  return {
    /** Takes a token. False when the bucket is empty. */
    take(): boolean {
      refill();
      left = Math.max(-debt, left - 1);
      return left >= 0;
    },
    isEmpty(): boolean {
      refill();
      return left < 1;
    },
  };
}

/** Of one caller on one connection. A debt: the calls that are in progress when the bucket gets empty may all be cancelled, too. */
const OF_CALLER: TokenRate = { burst: 500, perSecond: 100, debt: 500 };
/** Where `RESET_LIMITS` have no effect: half of what then ends the connection for all its callers. */
const OF_CALLER_IN_NODE_20: TokenRate = { burst: 500, perSecond: 16, debt: 500 };
const FIRST_WITH_LIMITS = 24;
/** Of all callers of a connection, just below what nghttp2 bears by default: 1,000, and 33 each second. */
const OF_CONNECTION: TokenRate = { burst: 950, perSecond: 30 };
/** Callers with a bucket of their own on one connection: the latest that cancelled. */
const MOST_CALLERS = 1_000;

/** What nghttp2 bears where Node has these options (20 has not): an ingress sends the calls of many clients over one connection. */
export const RESET_LIMITS = { streamResetBurst: 10_000, streamResetRate: 1_000 };

/** The calls that were cancelled on one connection. */
export type Cancels = ReturnType<typeof createCancels>;

/** A caller is a credential. Invented credentials share the bucket of the connection. `node`: the version of Node. */
export function createCancels(now: () => number, node = process.versions.node) {
  const ofCaller = Number.parseInt(node, 10) < FIRST_WITH_LIMITS ? OF_CALLER_IN_NODE_20 : OF_CALLER;
  const all = createTokens(now, OF_CONNECTION);
  const callers = new Map<string, TokenBucket>();
  return {
    /** `caller` has cancelled a call; false when there were too many on the connection. */
    add(caller: string): boolean {
      const own = callers.get(caller) ?? createTokens(now, ofCaller);
      own.take();
      setLatest(callers, caller, own, MOST_CALLERS);
      return all.take();
    },
    /** A call was refused for that; false when there were too many on the connection. */
    refused: all.take,
    /** Whether `caller` may make no calls at present; `isKnown`: the platform has accepted its credential. */
    refuses: (caller: string, isKnown: boolean): boolean =>
      callers.get(caller)?.isEmpty() === true || (!isKnown && all.isEmpty()),
  };
}
