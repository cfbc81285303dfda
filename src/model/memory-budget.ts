/** How many bytes does the process hold for clients, and who waits until there is room for more? */
import type { Signal } from "./signal.ts";

/** Bytes held for one caller. */
export interface MemoryReservation {
  /** Holds so many from now on, whether there is room or not: they are here already. 0 ends it. */
  resize(bytes: number): void;
}

export interface MemoryBudget {
  /** Bytes held now. */
  held(): number;
  /** So little is held that nobody needs to wait for a little more. */
  hasHeadroom(): boolean;
  /** Is there room for `bytes`, whoever waits for some? */
  fits(owner: string, bytes: number): boolean;
  /** Counts bytes that are here already. */
  open(owner: string): MemoryReservation;
  /** Holds `bytes` if there is room for them, and nobody of `owner` waits for some. */
  tryReserve(owner: string, bytes: number): MemoryReservation | undefined;
  /** Waits for room. Rejects with the signal's reason when it aborts first. */
  reserve(owner: string, bytes: number, signal: Signal): Promise<MemoryReservation>;
}

interface MemoryWaiter {
  readonly bytes: number;
  readonly go: (hold: MemoryReservation) => void;
}

interface MemoryOwner {
  held: number;
  readonly waiting: MemoryWaiter[];
}

/** One owner may hold this part of the budget: one client cannot leave the others without. */
const SHARE = 0.5;
const PLENTY = 0.25;

/**
 * A budget of `limit` bytes. When room comes, the owner that holds least is next, and within one owner who came first. More than a
 * share is taken for a whole share: anything fits when nothing else is held.
 */
export function createMemoryBudget(limit: number): MemoryBudget {
  const share = limit * SHARE;
  const owners = new Map<string, MemoryOwner>();
  let total = 0;

  const ownerOf = (name: string): MemoryOwner => {
    const known = owners.get(name);
    if (known !== undefined) return known;
    const made: MemoryOwner = { held: 0, waiting: [] };
    owners.set(name, made);
    return made;
  };
  const forget = (name: string, owner: MemoryOwner): void => {
    if (owner.held === 0 && owner.waiting.length === 0) owners.delete(name);
  };
  const fits = (owner: MemoryOwner | undefined, bytes: number): boolean => {
    const wanted = Math.min(bytes, share);
    return (owner?.held ?? 0) + wanted <= share && total + wanted <= limit;
  };
  const hold = (name: string, first: number): MemoryReservation => {
    let mine = 0;
    const set = (bytes: number): void => {
      const more = bytes - mine;
      if (more === 0) return;
      const owner = ownerOf(name);
      mine = bytes;
      owner.held += more;
      total += more;
      forget(name, owner);
      if (more < 0) admit();
    };
    set(first);
    return { resize: set };
  };
  const next = (): readonly [string, MemoryOwner] | undefined => {
    let best: readonly [string, MemoryOwner] | undefined;
    for (const [name, owner] of owners) {
      const [waiter] = owner.waiting;
      if (waiter === undefined || !fits(owner, waiter.bytes)) continue;
      if (best === undefined || owner.held < best[1].held) best = [name, owner];
    }
    return best;
  };
  const admit = (): void => {
    for (let found = next(); found !== undefined; found = next()) {
      const [name, owner] = found;
      const waiter = owner.waiting.shift();
      if (waiter !== undefined) waiter.go(hold(name, waiter.bytes));
    }
  };
  const take = (name: string, bytes: number): MemoryReservation | undefined => {
    const owner = owners.get(name);
    if ((owner !== undefined && owner.waiting.length > 0) || !fits(owner, bytes)) return undefined;
    return hold(name, bytes);
  };
  return {
    held: () => total,
    hasHeadroom: () => total < limit * PLENTY,
    fits: (name, bytes) => fits(owners.get(name), bytes),
    open: (name) => hold(name, 0),
    tryReserve: take,
    reserve: (name, bytes, signal) => {
      const taken = take(name, bytes);
      if (taken !== undefined) return Promise.resolve(taken);
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const owner = ownerOf(name);
        const gone = (): void => {
          owner.waiting.splice(owner.waiting.indexOf(waiter), 1);
          forget(name, owner);
          reject(signal.reason);
        };
        const waiter: MemoryWaiter = {
          bytes,
          go: (given) => {
            signal.removeEventListener("abort", gone);
            resolve(given);
          },
        };
        owner.waiting.push(waiter);
        signal.addEventListener("abort", gone, { once: true });
      });
    },
  };
}

/** Counts, and never lets anybody wait. */
export function unlimitedMemory(): MemoryBudget {
  return createMemoryBudget(Number.POSITIVE_INFINITY);
}
