/** What is under way, and what is kept, for each credential? */
import { LRUCache } from "lru-cache";
import type { ClientResponse } from "../model/http.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import type { SharedResponse } from "./cache-policy.ts";

/** One credential between two of its writes: what was begun before a write belongs to another tenant than what comes after. */
export interface CredentialLists extends StoredKeys {
  readonly digest: string;
  /** Works that equal requests may still join, by key. */
  readonly sharedReads: Map<string, SharedRead>;
  /** Works under way, joinable or not. */
  working: number;
}

export interface ListCache {
  /** Undefined without a store. */
  readonly store: ListStore<CredentialLists> | undefined;
  /** The tenant of a credential; undefined while that credential is writing. */
  enter(digest: string): CredentialLists | undefined;
  /** False when the credential has written since `tenant` was entered. */
  isCurrent(tenant: CredentialLists): boolean;
  /** Forgets a tenant that has nothing left. */
  settle(tenant: CredentialLists): void;
  /** A write begins: everything of its credential is dropped, and nothing is shared until as many writes have ended. */
  beginWrite(digest: string): void;
  endWrite(digest: string): void;
  size(): ListCacheUsage;
}

/** What sharing holds in memory. */
export interface ListCacheUsage {
  readonly lists: number;
  readonly bytes: number;
  /** Works under way that equal requests can find. */
  readonly works: number;
  readonly credentials: number;
  /** Credentials with a write under way. */
  readonly writers: number;
}

/** Nobody yet. Remembers a credential only while it has a list kept, a work under way or a write under way. */
export function createListCache(options: ListStoreOptions | undefined): ListCache {
  const tenants = new Map<string, CredentialLists>();
  const writes = new Map<string, number>();
  const isCurrent = (tenant: CredentialLists): boolean => tenants.get(tenant.digest) === tenant;
  const settle = (tenant: CredentialLists): void => {
    if (tenant.working === 0 && tenant.keys.size === 0 && isCurrent(tenant)) tenants.delete(tenant.digest);
  };
  const store = options && createListStore(options, settle);

  return {
    store,
    isCurrent,
    settle,
    enter(digest) {
      if (writes.has(digest)) return undefined;
      const known = tenants.get(digest);
      if (known !== undefined) return known;
      const tenant: CredentialLists = { digest, keys: new Set(), bytes: 0, sharedReads: new Map(), working: 0 };
      tenants.set(digest, tenant);
      return tenant;
    },
    beginWrite(digest) {
      writes.set(digest, (writes.get(digest) ?? 0) + 1);
      const tenant = tenants.get(digest);
      if (tenant === undefined) return;
      tenants.delete(digest);
      store?.clear(tenant);
    },
    endWrite(digest) {
      const rest = (writes.get(digest) ?? 1) - 1;
      if (rest === 0) writes.delete(digest);
      else writes.set(digest, rest);
    },
    size: () => ({
      ...(store?.size() ?? { lists: 0, bytes: 0 }),
      works: [...tenants.values()].reduce((sum, { sharedReads }) => sum + sharedReads.size, 0),
      credentials: tenants.size,
      writers: writes.size,
    }),
  };
}

/** Which finished lists are kept, within how many bytes and how long? */

export interface ListStoreOptions {
  /** For everything that is kept, and a tenth of it for one credential. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** The lists of one credential: their keys, the longest unused first. */
export interface StoredKeys {
  readonly keys: Set<string>;
  bytes: number;
}

interface StoredList<S> {
  readonly copy: SharedResponse;
  readonly shelf: S;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly until: number;
}

export interface ListStore<S extends StoredKeys> {
  find(key: string): SharedResponse | undefined;
  /** Keeps `copy` until `until`, if it fits: what its own credential has used least goes first, then what anybody has. */
  keep(shelf: S, key: string, copy: SharedResponse, until: number): void;
  clear(shelf: S): void;
  size(): { readonly lists: number; readonly bytes: number };
}

/** No credential can push out more of the others' lists than this part. */
const PART_OF_ONE = 0.1;
/** What an entry costs beside its texts and bytes: objects, slots of tables, a timer. */
const ENTRY_BYTES = 1024;

/** An empty store (design: sharing work). `onEmpty` is told of each shelf that lost its last list. */
export function createListStore<S extends StoredKeys>(
  { bytes: maxSize, now }: ListStoreOptions,
  onEmpty: (shelf: S) => void,
): ListStore<S> {
  const most = Math.floor(maxSize * PART_OF_ONE);
  const lists = new LRUCache<string, StoredList<S>>({
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
function ownBytes(copy: SharedResponse): SharedResponse {
  return { ...copy, answer: { ...copy.answer, body: new Uint8Array(copy.answer.body) } };
}

function sizeOf(key: string, { answer }: SharedResponse): number {
  const fields = answer.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return ENTRY_BYTES + answer.body.length + 2 * (key.length + fields);
}

/** How do several requests wait for one answer, each free to leave? */

export type ReadForMany = (signal: Signal) => Promise<ClientResponse>;

/** What a work came to, for those that waited for it without being the one that it was done for. */
export type SharedReadResult =
  /** They may have it too. */
  | { readonly kind: "shared"; readonly copy: SharedResponse }
  /** An answer that must not be given to others, and the next one would be no different. */
  | { readonly kind: "single" }
  /** It failed: that is not copied, each tries itself. */
  | { readonly kind: "failed" };

/** One work under way, and those that wait for it. */
export interface SharedRead {
  /** When it began, in milliseconds of the monotonic clock. */
  readonly began: number;
  /** False when everybody has left, or it has come to its end. */
  isOpen(): boolean;
  /** Requests that wait for it now. */
  waiting(): number;
  /** The work's own answer, or its own failure. For the request that it is done for, once, and at once. */
  lead(signal: Signal): Promise<ClientResponse>;
  /** What the work came to. For any other request, while it is open. Never rejects but with the reason of `signal`. */
  follow(signal: Signal): Promise<SharedReadResult>;
}

/**
 * Begins `make`; `land` is told what came of it (undefined: nothing), before anybody who waits. Whoever waits may leave, by
 * its own signal, and does not wait for the work to end; the work goes on for the others, and is cancelled when the last
 * one has left.
 */
export function startSharedRead(
  make: ReadForMany,
  began: number,
  land: (answer: ClientResponse | undefined) => SharedReadResult,
): SharedRead {
  const stopper = createSignalController();
  const state = { waiting: 0, landed: false };
  const work = make(stopper.signal);
  const end = (answer: ClientResponse | undefined): SharedReadResult => {
    state.landed = true;
    return land(answer);
  };
  const landing = work.then(end, () => end(undefined));

  function wait<T>(result: Promise<T>, signal: Signal): Promise<T> {
    state.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        state.waiting -= 1;
        if (state.waiting === 0) stopper.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      const stay = (): void => signal.removeEventListener("abort", leave);
      result.then(
        (value) => {
          stay();
          resolve(value);
        },
        (error) => {
          stay();
          reject(error);
        },
      );
    });
  }

  return {
    began,
    isOpen: () => !state.landed && !stopper.signal.aborted,
    waiting: () => state.waiting,
    lead(signal) {
      const own = landing.then(() => work).then((answer) => cancelWithClient(answer, signal, stopper.abort));
      return wait(own, signal);
    },
    follow: (signal) => wait(landing, signal),
  };
}

/** A stream goes on being made while its client takes it, and no longer; one that nobody waits for is let go of. */
function cancelWithClient(answer: ClientResponse, signal: Signal, abort: (reason: unknown) => void): ClientResponse {
  if (answer.body instanceof Uint8Array) return answer;
  if (!signal.aborted) {
    signal.addEventListener("abort", () => abort(signal.reason), { once: true });
    return answer;
  }
  abort(signal.reason);
  answer.body[Symbol.asyncIterator]()
    .return?.()
    ?.catch(() => undefined);
  return answer;
}
