/** What is worth knowing of a list the next time it is read? */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { DrainMemory } from "./reader.ts";

/** What all drains of one upstream remember together. */
export interface SharedMemory {
  /** As one credential may see it: counts are its own. `credential`: a keyed digest, never the token. */
  of(credential: string): DrainMemory;
}

const MAX_COUNTS = 2_000;
const MAX_HABITS = 2_000;
/** After this long it is tried again whether `skip` works. */
const SKIP_MS = 10 * 60 * 1_000;

/** Nothing is remembered yet. Bounded, and all of it only guesses: a wrong one costs a request, never a record. */
export function createMemory(): SharedMemory {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTS });
  const skips = new LRUCache<string, { readonly heeded: boolean }>({ max: MAX_HABITS, ttl: SKIP_MS });
  return {
    of: (credential) => {
      // A digest, since a name may be a target with its filters: nothing that a client asked for is kept.
      const keyOf = (name: string): string =>
        createHash("sha256")
          .update(JSON.stringify([credential, name]))
          .digest("base64url");
      return {
        heedsSkip: (resource) => skips.get(keyOf(resource))?.heeded,
        sawSkip: (resource, heeded) => {
          skips.set(keyOf(resource), { heeded });
        },
        countOf: (target) => counts.get(keyOf(target)),
        learnCount: (target, count) => {
          counts.set(keyOf(target), count);
        },
      };
    },
  };
}
