/** Lists under way and lists kept, by credential. */

import { LRUCache } from "lru-cache";
import type { ClientResponse } from "../model/http.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import type { SharedResponse } from "./cache-policy.ts";

/** One credential between two of its writes: a list begun before a write is not shared with requests after it. */
export interface CredentialLists {
  readonly digest: string;
  /** Keys of its kept lists, the longest unused first. */
  readonly keys: Set<string>;
  /** Bytes of its kept lists. */
  bytes: number;
  /** Reads that equal requests may still join, by key. */
  readonly sharedReads: Map<string, SharedRead>;
  /** Reads under way, joinable or not. */
  working: number;
}

export interface ListCache {
  /** Undefined without a store. */
  readonly store: ListStore | undefined;
  /** The lists of a credential; undefined while it is writing. */
  enter(digest: string): CredentialLists | undefined;
  /** False when the credential has written since `tenant` was entered. */
  isCurrent(tenant: CredentialLists): boolean;
  /** Forgets a credential that has nothing left. */
  settle(tenant: CredentialLists): void;
  /** Drops everything of the credential; nothing is shared until as many writes have ended. */
  beginWrite(digest: string): void;
  endWrite(digest: string): void;
  size(): ListCacheUsage;
}

/** For metrics. */
export interface ListCacheUsage {
  readonly lists: number;
  readonly bytes: number;
  /** Reads under way that equal requests can join. */
  readonly works: number;
  readonly credentials: number;
  /** Credentials with a write under way. */
  readonly writers: number;
}

/** Remembers a credential only while it has a kept list, a read or a write under way. */
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

export interface ListStoreOptions {
  /** For all kept lists; one credential gets a tenth of it. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

interface StoredList {
  readonly copy: SharedResponse;
  readonly tenant: CredentialLists;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly until: number;
}

export interface ListStore {
  find(key: string): SharedResponse | undefined;
  /** Keeps `copy` until `until`, if it fits: the least recently used lists go, its own credential's first. */
  keep(tenant: CredentialLists, key: string, copy: SharedResponse, until: number): void;
  clear(tenant: CredentialLists): void;
  size(): { readonly lists: number; readonly bytes: number };
}

/** The part of all bytes that one credential may fill. */
const PART_OF_ONE = 0.1;
/** The overhead of an entry: objects, slots of tables, a timer. */
const ENTRY_BYTES = 1024;

/** `onEmpty` is called with credentials that lost their last list. */
export function createListStore(
  { bytes: maxSize, now }: ListStoreOptions,
  onEmpty: (tenant: CredentialLists) => void,
): ListStore {
  const most = Math.floor(maxSize * PART_OF_ONE);
  const lists = new LRUCache<string, StoredList>({
    maxSize,
    sizeCalculation: (entry) => entry.bytes,
    perf: { now },
    // A cached reading of the clock would let an entry live longer.
    ttlResolution: 0,
    // Expired lists must not stay in memory until they are asked for.
    ttlAutopurge: true,
    dispose: ({ tenant, bytes }, key) => {
      tenant.keys.delete(key);
      tenant.bytes -= bytes;
      if (tenant.keys.size === 0) onEmpty(tenant);
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
      const { keys } = entry.tenant;
      keys.delete(key);
      keys.add(key);
      return entry.copy;
    },
    keep(tenant, key, copy, until) {
      const bytes = sizeOf(key, copy);
      const ttl = until - now();
      if (bytes > most || ttl <= 0) return;
      lists.delete(key);
      for (const oldest of tenant.keys) {
        if (tenant.bytes + bytes <= most) break;
        lists.delete(oldest);
      }
      tenant.keys.add(key);
      tenant.bytes += bytes;
      lists.set(key, { copy: ownBytes(copy), tenant, bytes, until }, { ttl: Math.ceil(ttl) });
    },
    clear(tenant) {
      for (const key of tenant.keys) lists.delete(key);
    },
    size: () => ({ lists: lists.size, bytes: lists.calculatedSize }),
  };
}

/** A body may be part of a much larger buffer, which must not be kept with it. */
function ownBytes(copy: SharedResponse): SharedResponse {
  return { ...copy, answer: { ...copy.answer, body: new Uint8Array(copy.answer.body) } };
}

function sizeOf(key: string, { answer }: SharedResponse): number {
  const fields = answer.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return ENTRY_BYTES + answer.body.length + 2 * (key.length + fields);
}

export type ReadForMany = (signal: Signal) => Promise<ClientResponse>;

/** The result of a read for those that waited for it. */
export type SharedReadResult =
  /** They may have it as well. */
  | { readonly kind: "shared"; readonly copy: SharedResponse }
  /** The response is not for others, and the next one would be no different. */
  | { readonly kind: "single" }
  /** It failed, which is not shared: each tries for itself. */
  | { readonly kind: "failed" };

/** One read under way, and those that wait for it. */
export interface SharedRead {
  /** When it began, in milliseconds of the monotonic clock. */
  readonly began: number;
  /** False when all have left, or it has ended. */
  isOpen(): boolean;
  /** Requests that wait for it now. */
  waiting(): number;
  /** The response itself, or the failure. For the request that it is made for, once, and at once. */
  lead(signal: Signal): Promise<ClientResponse>;
  /** The result for any other request, while it is open. Rejects only with the reason of `signal`. */
  follow(signal: Signal): Promise<SharedReadResult>;
}

/**
 * Begins `make`. `land` turns its response (undefined: none) into the result, before anyone who waits gets it. Requests may
 * leave by their own signals without waiting for the read, which goes on for the others and is cancelled when all have left.
 */
export function startSharedRead(
  make: ReadForMany,
  began: number,
  land: (answer: ClientResponse | undefined) => SharedReadResult,
): SharedRead {
  const stopper = createSignalController();
  let waiting = 0;
  let landed = false;
  const read = make(stopper.signal);
  const end = (answer: ClientResponse | undefined): SharedReadResult => {
    landed = true;
    return land(answer);
  };
  const landing = read.then(end, () => end(undefined));

  function wait<T>(result: Promise<T>, signal: Signal): Promise<T> {
    waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        waiting -= 1;
        if (waiting === 0) stopper.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      result.finally(() => signal.removeEventListener("abort", leave)).then(resolve, reject);
    });
  }

  return {
    began,
    isOpen: () => !landed && !stopper.signal.aborted,
    waiting: () => waiting,
    lead(signal) {
      const own = landing.then(() => read).then((answer) => cancelWithClient(answer, signal, stopper.abort));
      return wait(own, signal);
    },
    follow: (signal) => wait(landing, signal),
  };
}

/** A stream is read while its client takes it; one that nobody waits for is cancelled. */
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
