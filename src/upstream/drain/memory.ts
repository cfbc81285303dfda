/** What is worth knowing of a list the next time it is read? */
import { LRUCache } from "lru-cache";
import type { DrainMemory } from "./run.ts";

/** What all drains of one upstream remember together. */
export interface SharedMemory {
  /** As one credential may see it: counts are its own. `credential`: a keyed digest, never the token. */
  of(credential: string): DrainMemory;
}

const MAX_COUNTS = 2_000;
const MAX_RESOURCES = 200;
/** After this long a resource may show better habits. */
const HABIT_MS = 10 * 60 * 1_000;

/** Nothing is remembered yet. Bounded, and all of it only guesses: a wrong one costs a request, never a record. */
export function createMemory(): SharedMemory {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTS });
  const skips = new LRUCache<string, { readonly heeded: boolean }>({ max: MAX_RESOURCES, ttl: HABIT_MS });
  const miscounting = new LRUCache<string, true>({ max: MAX_RESOURCES, ttl: HABIT_MS });
  return {
    of: (credential) => {
      const keyOf = (target: string): string => JSON.stringify([credential, target]);
      return {
        heedsSkip: (resource) => skips.get(resource)?.heeded,
        sawSkip: (resource, heeded) => {
          skips.set(resource, { heeded });
        },
        miscounts: (resource) => miscounting.has(resource),
        sawMiscount: (resource) => {
          miscounting.set(resource, true);
        },
        countOf: (target) => counts.get(keyOf(target)),
        learnCount: (target, count) => {
          counts.set(keyOf(target), count);
        },
      };
    },
  };
}
