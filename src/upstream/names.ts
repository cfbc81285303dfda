/** Do open connections still lead where the upstream's name leads? */
import { isIP, type LookupFunction } from "node:net";
import type { Later } from "./later.ts";
import type { Pool } from "./pool.ts";

export interface NamesOptions {
  readonly lookup: LookupFunction;
  readonly later: Later;
  /** Between two looks. */
  readonly everyMs: number;
  /** Hears that new connections are made, since a name leads elsewhere. */
  readonly moved: (hostname: string) => void;
}

export interface Names {
  add(pool: Pool): void;
  start(): void;
  close(): void;
}

/**
 * Looks names up again and again. A busy connection never ends by itself, so that without this a platform that has moved
 * would be called where it was for as long as there is traffic. Connections are left alone while their address is among
 * those of the name, and also while it cannot be looked up: what still works is better than nothing.
 */
export function createNames({ lookup, later, everyMs, moved }: NamesOptions): Names {
  const pools: Pool[] = [];
  let callOff: () => void = () => {};
  let closed = false;
  const look = async (): Promise<void> => {
    // One after another: each takes one of the few threads that look names up, for as long as its server is silent.
    for (const pool of pools) {
      const { hostname } = pool;
      if (isIP(hostname) !== 0 || pool.addresses().size === 0) continue;
      const known = await addressesOf(lookup, hostname);
      if (closed) return;
      if (known.size === 0 || [...pool.addresses()].every((address) => known.has(address))) continue;
      pool.renew();
      moved(hostname);
    }
  };
  const plan = (): void => {
    if (closed) return;
    callOff = later(everyMs, () => void look().then(plan));
  };
  return {
    add: (pool) => void pools.push(pool),
    start: plan,
    close: () => {
      closed = true;
      callOff();
    },
  };
}

/** None when they cannot be had. */
function addressesOf(lookup: LookupFunction, hostname: string): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) resolve(new Set());
      else resolve(new Set(Array.isArray(found) ? found.map(({ address }) => address) : [found]));
    });
  });
}
