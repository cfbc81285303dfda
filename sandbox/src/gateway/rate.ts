/** May this credential call again so soon? (Specification section 8: introduced later, values not given.) */
import { RpcCode, refuse } from "../refusal.ts";

export interface RateLimiter {
  /** Counts one call of `credential`. Throws 429 with `Retry-After` when it has used up its second. */
  admit(credential: string): void;
}

const MAX_CREDENTIALS = 10_000;

/** At most `perSecond` calls in each second of the clock; without a number there is no limit. */
export function createRateLimiter(perSecond: number | undefined, clock: () => Date): RateLimiter {
  const used = new Map<string, { second: number; calls: number }>();
  return {
    admit(credential) {
      if (perSecond === undefined) return;
      const second = Math.floor(clock().getTime() / 1000);
      const before = used.get(credential);
      const calls = before?.second === second ? before.calls + 1 : 1;
      if (used.size >= MAX_CREDENTIALS) used.clear();
      used.set(credential, { second, calls });
      if (calls > perSecond) throw refuse(RpcCode.RESOURCE_EXHAUSTED, "Too many requests", { retryAfter: 1 });
    },
  };
}
