/** For how long does comparing leave a platform alone that asked for it? (Design section 7: a shadow never makes it worse.) */
import { retryAfter } from "../model/http.ts";
import { type ApiResponse, header } from "../model/message.ts";
import type { ShadowOptions } from "./options.ts";

export interface Rest {
  /** A call for a comparison was answered; `owner`: whose credential it carried. */
  saw(owner: string, answer: Pick<ApiResponse, "status" | "headers">): void;
  /** True while calls with that credential would only use up what its client needs. */
  isDue(owner: string): boolean;
}

/** Longest rest, milliseconds: whatever is asked for, comparing is to be tried again. */
const LONGEST = 60_000;
/** Owners that rest at a time; more are not remembered. */
const MOST = 1_000;

export function createRest({ wall }: Pick<ShadowOptions<never>, "wall">): Rest {
  const until = new Map<string, number>();
  return {
    saw(owner, { status, headers }) {
      if (status !== 429 && status !== 503) return;
      const now = wall();
      const asked = retryAfter(header(headers, "retry-after"), now);
      if (asked === undefined || asked <= 0) return;
      for (const [name, end] of until) if (end <= now) until.delete(name);
      if (until.size < MOST || until.has(owner)) until.set(owner, now + Math.min(asked, LONGEST));
    },
    isDue: (owner) => (until.get(owner) ?? 0) > wall(),
  };
}
