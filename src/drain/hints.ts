/** What lists taught about lists, for the next ones. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** Guesses from earlier lists of one credential. A wrong guess costs a call, never a record. */
export interface ListHints {
  /** Whether lists of this resource heeded `skip` lately, if that is known. */
  heedsSkip(resource: string): boolean | undefined;
  sawSkip(resource: string, heeded: boolean): void;
  /** Records of the list whose first page is at `target`, when it was last read in parallel. */
  countOf(target: string): number | undefined;
  learnCount(target: string, count: number): void;
}

const MAX_COUNTS = 2_000;
const MAX_SKIPS = 2_000;
/** After this time `skip` is tried again. */
const SKIP_MS = 10 * 60 * 1_000;

export function createListHints() {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTS });
  const skips = new LRUCache<string, { readonly heeded: boolean }>({ max: MAX_SKIPS, ttl: SKIP_MS });
  return {
    /** The hints of one credential. `credential`: a keyed digest, never the token. */
    of: (credential: string): ListHints => {
      const keyOf = (name: string): string => JSON.stringify([credential, name]);
      // A digest, because a target holds filters: nothing that a client asked for is kept.
      const digestOf = (target: string): string => createHash("sha256").update(keyOf(target)).digest("base64url");
      return {
        heedsSkip: (resource) => skips.get(keyOf(resource))?.heeded,
        sawSkip: (resource, heeded) => {
          skips.set(keyOf(resource), { heeded });
        },
        countOf: (target) => counts.get(digestOf(target)),
        learnCount: (target, count) => {
          counts.set(digestOf(target), count);
        },
      };
    },
  };
}
