/** Gives equal requests for a list the response that was made for one of them; off by default. */

import { LRUCache } from "lru-cache";
import type { Exchange, ExchangeNote } from "../model/exchange.ts";
import { type ClientResponse, isSafe } from "../model/http.ts";
import type { RequestContext, SettledPlan } from "../model/request.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import { type Credential, credentialOf } from "../upstream/credentials.ts";
import {
  type ListKeyOptions,
  listKeyOf,
  responseOf,
  type SharedResponse,
  sharedResponseOf,
  wantsOwn,
} from "./cache-policy.ts";

export interface ListSharingOptions extends ListKeyOptions {
  /**
   * How long a finished list may be reused, counted from when its reading began. Equal requests that come while it is read
   * wait for it. 0: nothing is shared.
   */
  readonly seconds: number;
  /** For all finished lists; one credential gets a tenth of it. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970: only to know when a token has expired. */
  readonly wall: () => number;
}

export interface ListSharing {
  /**
   * `plan`, with its list shared between equal requests of one credential while that credential does not write. A response
   * that was made for another request has its `age`, and its exchange the note `list-shared` or `list-collapsed`.
   */
  share(request: RequestContext, plan: SettledPlan): SettledPlan;
  /** To be called with every exchange when it is over: until then a write counts as under way. */
  over(exchange: Exchange): void;
  /** What is held in memory. */
  usage(): ListCacheUsage;
}

/** Nothing that is shared is older, whatever is configured: a revoked token must not be of use for longer. */
export const MOST_SECONDS = 5;
/** Requests that wait for one read; others read for themselves. */
const MAX_FOLLOWERS = 100;
/** Reads that one request waits for when they fail; then it reads for itself. */
const MAX_WAITS = 2;

/** One request for a list. */
interface ListRequest {
  readonly key: string;
  readonly credential: Credential;
  readonly notes: ExchangeNote[];
  readonly make: ReadForMany;
  readonly signal: Signal;
}

/** By default nothing is shared, and then nothing is done for any request. Throws `Error` for more than `MOST_SECONDS`. */
export function createListSharing(options: ListSharingOptions): ListSharing {
  const { seconds, bytes, now, wall, secret } = options;
  if (!(seconds >= 0 && seconds <= MOST_SECONDS)) throw new Error(`lists are shared for 0 to ${MOST_SECONDS} s`);
  const tenants = createListCache({ bytes, now });
  if (seconds === 0) return { share: (_request, plan) => plan, over: () => {}, usage: tenants.size };
  const writing = new Map<Exchange, string>();

  async function share(request: ListRequest): Promise<ClientResponse> {
    const { key, credential, notes, make, signal } = request;
    for (let waits = 0; ; waits += 1) {
      signal.throwIfAborted();
      // The platform would refuse an expired token.
      if (wall() >= credential.ends * 1000) return make(signal);
      const kept = tenants.store.find(key);
      if (kept !== undefined) {
        notes.push("list-shared");
        return responseOf(kept, now());
      }
      // After the store was searched, which may forget a tenant.
      const tenant = tenants.enter(credential.digest);
      if (tenant === undefined) return make(signal);
      const read = tenant.sharedReads.get(key);
      if (read === undefined || !isYoung(read, now())) return lead(request, tenant);
      if (waits === MAX_WAITS || read.waiting() > MAX_FOLLOWERS) return make(signal);
      const result = await read.follow(signal);
      if (result.kind === "shared") {
        notes.push("list-collapsed");
        return responseOf(result.copy, now());
      }
      if (result.kind === "single") return make(signal);
    }
  }

  /** Makes the response, for this request and for those that come meanwhile. */
  function lead({ key, make, signal }: ListRequest, tenant: CredentialLists): Promise<ClientResponse> {
    const read = startSharedRead(make, now(), (response) => {
      if (tenant.sharedReads.get(key) === read) tenant.sharedReads.delete(key);
      const result = resultOf(response, read.began, now());
      if (result.kind === "shared") keep(result.copy, key, tenant);
      // Last: a tenant with a read under way is not forgotten while its lists make room.
      tenant.working -= 1;
      tenants.settle(tenant);
      return result;
    });
    tenant.working += 1;
    tenant.sharedReads.set(key, read);
    return read.lead(signal);
  }

  /** Keeps a list, unless its credential has written since its reading began. */
  function keep(copy: SharedResponse, key: string, tenant: CredentialLists): void {
    if (!tenants.isCurrent(tenant)) return;
    tenants.store.keep(tenant, key, copy, copy.began + Math.min(seconds * 1000, copy.freshMs));
  }

  return {
    share(request, plan) {
      const { exchange, headers } = request;
      if (!isSafe(request.method)) {
        const credential = credentialOf(headers, secret);
        if (credential !== undefined) {
          writing.set(exchange, credential.digest);
          tenants.beginWrite(credential.digest);
        }
        return plan;
      }
      const isList = request.method === "GET" && exchange.mode === "translate" && exchange.operation === "list";
      if (plan.kind !== "answer" || !isList) return plan;
      return {
        ...plan,
        respond: async (body, signal) => {
          const make: ReadForMany = async (until) => plan.respond(body, until);
          // A GET has no body: what the plan says about one is for its sender alone.
          if (body.length > 0 || wantsOwn(headers)) return make(signal);
          const credential = credentialOf(headers, secret);
          if (credential === undefined) return make(signal);
          const key = listKeyOf(request, credential, options);
          return share({ key, credential, notes: exchange.notes, make, signal });
        },
      };
    },
    over(exchange) {
      const digest = writing.get(exchange);
      if (digest === undefined) return;
      writing.delete(exchange);
      tenants.endWrite(digest);
    },
    usage: tenants.size,
  };
}

/** Not cancelled, and begun so recently that its response shows nothing older than a kept one may. */
function isYoung(read: SharedRead, now: number): boolean {
  return read.isOpen() && now - read.began < MOST_SECONDS * 1000;
}

/** Failures, and responses that others may not have, are not shared. */
function resultOf(response: ClientResponse | undefined, began: number, now: number): SharedReadResult {
  if (response?.status !== 200) return { kind: "failed" };
  const copy = sharedResponseOf(response, began);
  return copy === undefined || now - began >= copy.freshMs ? { kind: "single" } : { kind: "shared", copy };
}

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

interface ListCache {
  readonly store: ListStore;
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
interface ListCacheUsage {
  readonly lists: number;
  readonly bytes: number;
  /** Reads under way that equal requests can join. */
  readonly works: number;
  readonly credentials: number;
  /** Credentials with a write under way. */
  readonly writers: number;
}

/** Remembers a credential only while it has a kept list, a read or a write under way. */
function createListCache(options: ListStoreOptions): ListCache {
  const tenants = new Map<string, CredentialLists>();
  const writes = new Map<string, number>();
  const isCurrent = (tenant: CredentialLists): boolean => tenants.get(tenant.digest) === tenant;
  const settle = (tenant: CredentialLists): void => {
    if (tenant.working === 0 && tenant.keys.size === 0 && isCurrent(tenant)) tenants.delete(tenant.digest);
  };
  const store = createListStore(options, settle);

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
      store.clear(tenant);
    },
    endWrite(digest) {
      const rest = (writes.get(digest) ?? 1) - 1;
      if (rest === 0) writes.delete(digest);
      else writes.set(digest, rest);
    },
    size: () => ({
      ...store.size(),
      works: [...tenants.values()].reduce((sum, { sharedReads }) => sum + sharedReads.size, 0),
      credentials: tenants.size,
      writers: writes.size,
    }),
  };
}

interface ListStoreOptions {
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

interface ListStore {
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

type ReadForMany = (signal: Signal) => Promise<ClientResponse>;

/** The result of a read for those that waited for it. */
type SharedReadResult =
  /** They may have it as well. */
  | { readonly kind: "shared"; readonly copy: SharedResponse }
  /** The response is not for others, and the next one would be no different. */
  | { readonly kind: "single" }
  /** It failed, which is not shared: each tries for itself. */
  | { readonly kind: "failed" };

/** One read under way, and those that wait for it. */
interface SharedRead {
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
function startSharedRead(
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

/** A stream is read while its client takes it; without a waiting client it is cancelled. */
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
