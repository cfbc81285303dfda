/** Replaces open connections when the upstream's name resolves to other addresses. */

import { isIP, type LookupFunction } from "node:net";
import type { Timer } from "../model/clock.ts";
import type { Pool } from "./pool.ts";

/** Connections to one upstream. */
export type RenewedPool = Pick<Pool, "hostname" | "addresses" | "renew">;

export interface AddressWatchOptions {
  readonly lookup: LookupFunction;
  readonly later: Timer;
  /** Between two lookups. */
  readonly everyMs: number;
  /** Called when connections are replaced because a name resolves elsewhere. */
  readonly moved: (hostname: string) => void;
}

/** Lookups for which an address is remembered that was not returned again, and the fewest between two renewals. */
const LOOKS = 40;
/** More than a name that rotates has in so many lookups. */
const MOST_ADDRESSES = 1_000;

/**
 * A busy connection never ends by itself, so that a platform that has moved would be called at its old address for as long
 * as there is traffic. Connections stay while their address is among those of the name, and while the lookup fails: what
 * still works is better than nothing.
 */
export function createAddressWatch({ lookup, later, everyMs, moved }: AddressWatchOptions) {
  const pools: (readonly [RenewedPool, ReturnType<typeof createAddressHistory>])[] = [];
  let callOff: () => void = () => {};
  let closed = false;
  const look = async (): Promise<void> => {
    // One after another: each takes one of the few threads for lookups, for as long as its server is silent.
    for (const [pool, history] of pools) {
      const { hostname } = pool;
      if (isIP(hostname) !== 0 || pool.addresses().size === 0) continue;
      const known = await addressesOf(lookup, hostname);
      if (closed) return;
      if (known.size === 0 || !history.hasMoved(known, pool.addresses())) continue;
      pool.renew();
      moved(hostname);
    }
  };
  const plan = (): void => {
    if (closed) return;
    callOff = later(everyMs, () => void look().then(plan));
  };
  return {
    add: (pool: RenewedPool): void => void pools.push([pool, createAddressHistory()]),
    start: plan,
    close: (): void => {
      closed = true;
      callOff();
    },
  };
}

/**
 * What one name has resolved to. Many name servers return a few of many addresses, and others each time, which is no move.
 * A name is taken for such a one when an address comes back that was missing. Then only a response of unknown addresses, or
 * an address in use that was missing for `LOOKS` lookups, is a move; for any other name every missing address in use is
 * one. (A name that rotates among more addresses than are remembered seems to move all the time, hence the least distance
 * between renewals.)
 */
function createAddressHistory() {
  /** The lookup in which an address was last returned; the oldest come first. */
  const lastGiven = new Map<string, number>();
  let look = LOOKS;
  let cameBackIn = 0;
  let renewedIn = 0;
  return {
    /** After each lookup: what it returned, and where connections are. True: connections must be replaced. */
    hasMoved(given: ReadonlySet<string>, used: ReadonlySet<string>): boolean {
      look++;
      for (const [address, last] of lastGiven) {
        if (look - last <= LOOKS && lastGiven.size <= MOST_ADDRESSES) break;
        lastGiven.delete(address);
      }
      const allNew = ![...given].some((address) => lastGiven.has(address));
      for (const address of given) {
        if ((lastGiven.get(address) ?? look) < look - 1) cameBackIn = look;
        lastGiven.delete(address);
        lastGiven.set(address, look);
      }
      const missing = [...used].filter((address) => !given.has(address));
      if (missing.length === 0 || look - renewedIn < LOOKS) return false;
      const rotates = look - cameBackIn < LOOKS;
      if (rotates && !allNew && missing.every((address) => lastGiven.has(address))) return false;
      renewedIn = look;
      return true;
    },
  };
}

/** Empty when the lookup fails. */
function addressesOf(lookup: LookupFunction, hostname: string): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) resolve(new Set());
      else resolve(new Set(Array.isArray(found) ? found.map(({ address }) => address) : [found]));
    });
  });
}
