/** Which finished lists are kept, within how many bytes and how long? */
import { LRUCache } from "lru-cache";
import type { Copy } from "./copy.ts";

export interface StoreOptions {
  /** For everything that is kept, and a tenth of it for one credential. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** The lists of one credential: their keys, the longest unused first. */
export interface Shelf {
  readonly keys: Set<string>;
  bytes: number;
}

interface Entry<S> {
  readonly copy: Copy;
  readonly shelf: S;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly until: number;
}

export interface Store<S extends Shelf> {
  find(key: string): Copy | undefined;
  /** Keeps `copy` until `until`, if it fits: what its own credential has used least goes first, then what anybody has. */
  keep(shelf: S, key: string, copy: Copy, until: number): void;
  clear(shelf: S): void;
  size(): { readonly lists: number; readonly bytes: number };
}

/** No credential can push out more of the others' lists than this part. */
const PART_OF_ONE = 0.1;
/** What an entry costs beside its texts and bytes: objects, slots of tables, a timer. */
const ENTRY_BYTES = 1024;

/** An empty store (design: sharing work). `onEmpty` is told of each shelf that lost its last list. */
export function createStore<S extends Shelf>(
  { bytes: maxSize, now }: StoreOptions,
  onEmpty: (shelf: S) => void,
): Store<S> {
  const most = Math.floor(maxSize * PART_OF_ONE);
  const lists = new LRUCache<string, Entry<S>>({
    maxSize,
    sizeCalculation: (entry) => entry.bytes,
    perf: { now },
    // Read the clock each time: a cached reading would let an entry live longer.
    ttlResolution: 0,
    // Lists must not lie in memory until somebody happens to ask.
    ttlAutopurge: true,
    dispose: ({ shelf, bytes }, key) => {
      shelf.keys.delete(key);
      shelf.bytes -= bytes;
      if (shelf.keys.size === 0) onEmpty(shelf);
    },
  });

  return {
    find(key) {
      const entry = lists.get(key);
      if (entry === undefined) return undefined;
      if (now() >= entry.until) {
        lists.delete(key);
        return undefined;
      }
      const { keys } = entry.shelf;
      keys.delete(key);
      keys.add(key);
      return entry.copy;
    },
    keep(shelf, key, copy, until) {
      const bytes = sizeOf(key, copy);
      const ttl = until - now();
      if (bytes > most || ttl <= 0) return;
      lists.delete(key);
      for (const oldest of shelf.keys) {
        if (shelf.bytes + bytes <= most) break;
        lists.delete(oldest);
      }
      shelf.keys.add(key);
      shelf.bytes += bytes;
      lists.set(key, { copy: ownBytes(copy), shelf, bytes, until }, { ttl: Math.ceil(ttl) });
    },
    clear(shelf) {
      for (const key of shelf.keys) lists.delete(key);
    },
    size: () => ({ lists: lists.size, bytes: lists.calculatedSize }),
  };
}

/** A body may be a part of a much larger buffer: that one must not be kept with it. */
function ownBytes(copy: Copy): Copy {
  return { ...copy, answer: { ...copy.answer, body: new Uint8Array(copy.answer.body) } };
}

function sizeOf(key: string, { answer }: Copy): number {
  const fields = answer.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return ENTRY_BYTES + answer.body.length + 2 * (key.length + fields);
}
