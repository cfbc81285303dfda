/** What is under way, and what is kept, for each credential? */
import type { Flight } from "./flight.ts";
import { createStore, type Shelf, type Store, type StoreOptions } from "./store.ts";

/** One credential between two of its writes: what was begun before a write belongs to another tenant than what comes after. */
export interface Tenant extends Shelf {
  readonly digest: string;
  /** Works that equal requests may still join, by key. */
  readonly flights: Map<string, Flight>;
  /** Works under way, joinable or not. */
  working: number;
}

export interface Tenants {
  /** Undefined without a store. */
  readonly store: Store<Tenant> | undefined;
  /** The tenant of a credential; undefined while that credential is writing. */
  enter(digest: string): Tenant | undefined;
  /** False when the credential has written since `tenant` was entered. */
  isCurrent(tenant: Tenant): boolean;
  /** Forgets a tenant that has nothing left. */
  settle(tenant: Tenant): void;
  /** A write begins: everything of its credential is dropped, and nothing is shared until as many writes have ended. */
  beginWrite(digest: string): void;
  endWrite(digest: string): void;
  size(): Held;
}

/** What sharing holds in memory. */
export interface Held {
  readonly lists: number;
  readonly bytes: number;
  /** Works under way that equal requests can find. */
  readonly works: number;
  readonly credentials: number;
  /** Credentials with a write under way. */
  readonly writers: number;
}

/** Nobody yet. Remembers a credential only while it has a list kept, a work under way or a write under way. */
export function createTenants(options: StoreOptions | undefined): Tenants {
  const tenants = new Map<string, Tenant>();
  const writes = new Map<string, number>();
  const isCurrent = (tenant: Tenant): boolean => tenants.get(tenant.digest) === tenant;
  const settle = (tenant: Tenant): void => {
    if (tenant.working === 0 && tenant.keys.size === 0 && isCurrent(tenant)) tenants.delete(tenant.digest);
  };
  const store = options && createStore(options, settle);

  return {
    store,
    isCurrent,
    settle,
    enter(digest) {
      if (writes.has(digest)) return undefined;
      const known = tenants.get(digest);
      if (known !== undefined) return known;
      const tenant: Tenant = { digest, keys: new Set(), bytes: 0, flights: new Map(), working: 0 };
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
      works: [...tenants.values()].reduce((sum, { flights }) => sum + flights.size, 0),
      credentials: tenants.size,
      writers: writes.size,
    }),
  };
}
