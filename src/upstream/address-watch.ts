/** Do open connections still lead where the upstream's name leads? */
import { isIP, type LookupFunction } from "node:net";
import type { Timer } from "../model/clock.ts";
import type { Pool } from "./pool.ts";

export interface AddressWatchOptions {
  readonly lookup: LookupFunction;
  readonly later: Timer;
  /** Between two looks. */
  readonly everyMs: number;
  /** Hears that new connections are made, since a name leads elsewhere. */
  readonly moved: (hostname: string) => void;
}

export interface AddressWatch {
  add(pool: Pool): void;
  start(): void;
  close(): void;
}

/** How many looks an address is remembered for that is not given any more, and fewest between two renewals. */
const LOOKS = 40;
/** More than a name that rotates has in so many looks. */
const MOST_ADDRESSES = 1_000;

/**
 * Looks names up again and again. A busy connection never ends by itself, so that without this a platform that has moved
 * would be called where it was for as long as there is traffic. Connections are left alone while their address is among
 * those of the name, and also while it cannot be looked up: what still works is better than nothing.
 */
export function createAddressWatch({ lookup, later, everyMs, moved }: AddressWatchOptions): AddressWatch {
  const pools: (readonly [Pool, AddressHistory])[] = [];
  let callOff: () => void = () => {};
  let closed = false;
  const look = async (): Promise<void> => {
    // One after another: each takes one of the few threads that look names up, for as long as its server is silent.
    for (const [pool, memory] of pools) {
      const { hostname } = pool;
      if (isIP(hostname) !== 0 || pool.addresses().size === 0) continue;
      const known = await addressesOf(lookup, hostname);
      if (closed) return;
      if (known.size === 0 || !memory.hasMoved(known, pool.addresses())) continue;
      pool.renew();
      moved(hostname);
    }
  };
  const plan = (): void => {
    if (closed) return;
    callOff = later(everyMs, () => void look().then(plan));
  };
  return {
    add: (pool) => void pools.push([pool, createAddressHistory()]),
    start: plan,
    close: () => {
      closed = true;
      callOff();
    },
  };
}

/** What one name has led to. */
interface AddressHistory {
  /** To be told of each look: what the name gave, and where connections are. True: they are to be renewed. */
  hasMoved(given: ReadonlySet<string>, used: ReadonlySet<string>): boolean;
}

/**
 * Many name servers give a few of many addresses, and others each time: that is no move. A name is taken for such a one when an
 * address comes back that was missing, and then only an answer of which nothing is remembered, or an address in use that has
 * been missing for `LOOKS`, is a move. For any other name each address in use that is missing is one. (A name that rotates
 * among more than can be remembered moves all the time, and nobody could tell: hence the least distance between renewals.)
 */
function createAddressHistory(): AddressHistory {
  /** In which look an address was last given; the oldest come first. */
  const lastGiven = new Map<string, number>();
  let look = LOOKS;
  let cameBackIn = 0;
  let renewedIn = 0;
  return {
    hasMoved(given, used) {
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

/** None when they cannot be had. */
function addressesOf(lookup: LookupFunction, hostname: string): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) resolve(new Set());
      else resolve(new Set(Array.isArray(found) ? found.map(({ address }) => address) : [found]));
    });
  });
}
