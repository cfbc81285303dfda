/** What do responses say about the platform, and about how much of it each credential may have? */
import { retryAfter } from "../../model/http.ts";
import { ownText } from "../../model/remains.ts";
import { createLatency, type Latency } from "./latency.ts";
import { createLimit } from "./limit.ts";
import { createQuota, type Quota } from "./quota.ts";

/** What became of a call. */
export interface Outcome {
  /** 0: no response. */
  readonly status: number;
  /** Of a page: its path, and what the response says of when to come back. */
  readonly path?: string;
  readonly retryAfter?: string | undefined;
  /** What its body takes of the processor, in usual calls. */
  readonly work?: number;
}

/** A call under way, to tell of it later. */
export interface Begun {
  readonly credential: string;
  readonly at: number;
  /** Its numbers for the limits of pages; undefined: it is no page. */
  readonly page: { readonly ofAll: number; readonly own: number } | undefined;
}

export interface Learned {
  begin(credential: string, isPage: boolean, pages: number, at: number): Begun;
  /** `pages`: page reads under way, this one included. */
  ended(call: Begun, outcome: Outcome, pages: number, at: number): void;
  /** Pages that may be read at a time at present. */
  limit(): number;
  readonly quota: Pick<Quota, "mayRead" | "gatedMs" | "pausedMs" | "nextMs">;
}

const MAX_WAIT_MS = 5_000;
/** More kinds of lists than there are; a bound all the same, as their names come from requests. */
const MAX_KINDS = 64;
/** 504: a gateway's word for a timeout. */
export const OVERLOAD: ReadonlySet<number> = new Set([429, 503, 504]);

/** `start` and `most`: pages read at a time at first, and when all goes well. `now` never goes back; `wall`: since 1970. */
export function createLearned(start: number, most: number, now: () => number, wall: () => number): Learned {
  const limit = createLimit({ start, max: most, now });
  const quota = createQuota({ max: most, maxWaitMs: MAX_WAIT_MS, now });
  const kinds = new Map<string, Latency>();

  const latencyOf = (path: string): Latency => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const [oldest] = kinds.keys();
    if (kinds.size >= MAX_KINDS && oldest !== undefined) kinds.delete(oldest);
    const made = createLatency();
    // The target may hold a page token.
    kinds.set(ownText(path), made);
    return made;
  };
  return {
    begin: (credential, isPage, pages, at) => {
      const page = isPage ? { ofAll: limit.begin(pages), own: quota.begin(credential, pages) } : undefined;
      return { credential, at, page };
    },
    ended({ credential, at: since, page }, { status, path = "", retryAfter: said }, pages, at) {
      if (page === undefined) return;
      if (OVERLOAD.has(status)) {
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
