/** How often the callers of a connection may cancel calls. Beyond that, they make others work for nothing (CVE-2023-44487). */

/** Tokens that a bucket holds at most, and that come back each second. */
export interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
}

export interface TokenBucket {
  /** Takes a token. False when the bucket is empty. */
  take(): boolean;
  isEmpty(): boolean;
}

/** A bucket that is full. `now`: a clock in milliseconds. */
export function createTokens(now: () => number, { burst, perSecond }: TokenRate): TokenBucket {
  let left = burst;
  let at = now();
  const refill = (): void => {
    const time = now();
    left = Math.min(burst, left + ((time - at) * perSecond) / 1_000);
    at = time;
  };
  return {
    take() {
      refill();
      left = Math.max(-1, left - 1);
      return left >= 0;
    },
    isEmpty() {
      refill();
      return left < 1;
    },
  };
}

/** Of one caller on one connection. */
const OF_CALLER: TokenRate = { burst: 500, perSecond: 100 };
/** Of all callers of a connection, just below what nghttp2 bears by default: 1,000, and 33 each second. */
const OF_CONNECTION: TokenRate = { burst: 950, perSecond: 30 };
/** Callers with a bucket of their own on one connection: the latest that cancelled. */
const MOST_CALLERS = 1_000;

/** What nghttp2 bears where Node has these options (20 has not): an ingress sends the calls of many clients over one connection. */
export const RESET_LIMITS = { streamResetBurst: 10_000, streamResetRate: 1_000 };

/** The calls that were cancelled on one connection. */
export interface Cancels {
  /** `caller` has cancelled a call; false when there were too many on the connection. */
  add(caller: string): boolean;
  /** Whether `caller` may make no calls at present; `isKnown`: the platform has accepted its credential. */
  refuses(caller: string, isKnown: boolean): boolean;
  /** A call was refused for that; false when there were too many on the connection. */
  refused(): boolean;
}

/** A caller is a credential. Invented credentials share the bucket of the connection. */
export function createCancels(now: () => number): Cancels {
  const all = createTokens(now, OF_CONNECTION);
  const callers = new Map<string, TokenBucket>();
  return {
    add(caller) {
      const own = callers.get(caller) ?? createTokens(now, OF_CALLER);
      own.take();
      callers.delete(caller);
      callers.set(caller, own);
      const [oldest = caller] = callers.keys();
      if (callers.size > MOST_CALLERS) callers.delete(oldest);
      return all.take();
    },
    refused: all.take,
    refuses: (caller, isKnown) => callers.get(caller)?.isEmpty() === true || (!isKnown && all.isEmpty()),
  };
}
