/** A budget for the bytes that the process holds for clients. */
import type { Signal } from "./signal.ts";

/** Bytes held for one owner. */
export interface MemoryReservation {
  /** Sets the number of bytes, whether there is room or not, because they are in memory already. 0 ends the reservation. */
  resize(bytes: number): void;
}

/** Bytes that are taken as they arrive. */
export interface GrowingReservation extends MemoryReservation {
  /** Takes `bytes` in all: undefined where there is room, else resolves once there is. Rejects with the signal's reason if it aborts first. */
  grow(bytes: number, signal: Signal): Promise<void> | undefined;
}

interface MemoryWaiter {
  readonly bytes: number;
  readonly admit: (reservation: MemoryReservation) => void;
}

interface MemoryOwner {
  held: number;
  readonly waiting: MemoryWaiter[];
}

/** A reservation that grows. */
interface Growing {
  readonly owner: string;
  readonly claim: number;
  held: number;
  /** Bytes that it wants. */
  more: number;
  /** While it waits. */
  admit: (() => void) | undefined;
}

/** The part of the budget that one owner may hold, so that one client cannot starve the others. */
const SHARE = 0.5;
const HEADROOM = 0.25;

export type MemoryBudget = ReturnType<typeof createMemoryBudget>;

/**
 * A budget of `limit` bytes. Freed bytes go to the owner that holds least, and within one owner to the first that waits. More
 * than a share counts as a whole share, so that anything fits while nothing else is held.
 */
export function createMemoryBudget(limit: number) {
  const share = limit * SHARE;
  const owners = new Map<string, MemoryOwner>();
  /** Oldest first. */
  const growing = new Set<Growing>();
  /** The one that may take what others have to leave. */
  let leader: Growing | undefined;
  let total = 0;

  const ownerOf = (name: string): MemoryOwner => {
    const known = owners.get(name);
    if (known !== undefined) return known;
    const added: MemoryOwner = { held: 0, waiting: [] };
    owners.set(name, added);
    return added;
  };
  const forget = (name: string, owner: MemoryOwner): void => {
    if (owner.held === 0 && owner.waiting.length === 0) owners.delete(name);
  };
  const fits = (owner: MemoryOwner | undefined, bytes: number): boolean => {
    const wanted = Math.min(bytes, share);
    return (owner?.held ?? 0) + wanted <= share && total + wanted <= limit;
  };
  const reserveNow = (name: string, first: number): MemoryReservation => {
    let reserved = 0;
    const resize = (bytes: number): void => {
      const more = bytes - reserved;
      if (more === 0) return;
      const owner = ownerOf(name);
      reserved = bytes;
      owner.held += more;
      total += more;
      forget(name, owner);
      if (more < 0) admit();
    };
    resize(first);
    return { resize };
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
  /** Who has begun leaves room for the largest that has, so that the leader can be received as a whole, and after it the next one. */
  const canGrow = (one: Growing): boolean => {
    // More than a share counts as one.
    if (one.more === 0) return true;
    if (one === leader) return fits(owners.get(one.owner), one.more);
    let left = one.claim;
    for (const { claim, held } of growing) if (held > 0) left = Math.max(left, claim);
    return !isBehind(one) && fits(owners.get(one.owner), one.more + left);
  };
  /** True for one that has not begun while an older one of its owner waits to begin. */
  const isBehind = (one: Growing): boolean => {
    if (one.held > 0) return false;
    for (const other of growing) {
      if (other === one) return false;
      if (other.owner === one.owner && other.held === 0 && other.admit !== undefined) return true;
    }
    return false;
  };
  const admitGrowing = (): void => {
    for (const one of growing) {
      if (one.admit === undefined) continue;
      if (one.held > 0 || fits(owners.get(one.owner), one.claim)) leader ??= one;
      if (canGrow(one)) one.admit();
    }
  };
  const admit = (): void => {
    admitGrowing();
    for (let found = next(); found !== undefined; found = next()) {
      const [name, owner] = found;
      const waiter = owner.waiting.shift();
      if (waiter !== undefined) waiter.admit(reserveNow(name, waiter.bytes));
    }
  };
  const tryReserve = (name: string, bytes: number): MemoryReservation | undefined => {
    const owner = owners.get(name);
    if ((owner !== undefined && owner.waiting.length > 0) || !fits(owner, bytes)) return undefined;
    return reserveNow(name, bytes);
  };
  const receive = (owner: string, claim: number): GrowingReservation => {
    const one: Growing = { owner, claim: Math.min(claim, share), held: 0, more: 0, admit: undefined };
    const hold = reserveNow(owner, 0);
    growing.add(one);
    const take = (bytes: number): void => {
      one.held = bytes;
      hold.resize(bytes);
    };
    return {
      grow(bytes, signal) {
        one.more = Math.min(bytes, share) - Math.min(one.held, share);
        if (canGrow(one)) {
          take(bytes);
          return undefined;
        }
        return new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const onAbort = (): void => {
            one.admit = undefined;
            reject(signal.reason);
          };
          signal.addEventListener("abort", onAbort, { once: true });
          one.admit = () => {
            one.admit = undefined;
            signal.removeEventListener("abort", onAbort);
            take(bytes);
            resolve();
          };
          admitGrowing();
        });
      },
      resize(bytes) {
        // It grows no more.
        growing.delete(one);
        if (leader === one) leader = undefined;
        take(bytes);
        admit();
      },
    };
  };
  return {
    /** Bytes that one owner may hold, however much it needs. */
    share,
    held: (): number => total,
    /** True if so little is held that small amounts need not wait. */
    hasHeadroom: (): boolean => total < limit * HEADROOM,
    /** True if there is room for `bytes`, regardless of those that wait. */
    fits: (name: string, bytes: number): boolean => fits(owners.get(name), bytes),
    /** A reservation of 0 bytes, to be resized as bytes arrive. */
    open: (name: string): MemoryReservation => reserveNow(name, 0),
    /** A reservation that grows to `claim` bytes at most. The oldest one that waits can always grow, so that all are done in the end. */
    receive,
    /** Reserves `bytes` if there is room and `owner` has no other reservation waiting. */
    tryReserve,
    /** Waits for room. Rejects with the signal's reason if it aborts first. */
    reserve: (name: string, bytes: number, signal: Signal): Promise<MemoryReservation> => {
      const reservation = tryReserve(name, bytes);
      if (reservation !== undefined) return Promise.resolve(reservation);
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const owner = ownerOf(name);
        const onAbort = (): void => {
          owner.waiting.splice(owner.waiting.indexOf(waiter), 1);
          forget(name, owner);
          reject(signal.reason);
        };
        const waiter: MemoryWaiter = {
          bytes,
          admit: (reservation) => {
            signal.removeEventListener("abort", onAbort);
            resolve(reservation);
          },
        };
        owner.waiting.push(waiter);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}

/** Counts, but has no limit. */
export function unlimitedMemory(): MemoryBudget {
  return createMemoryBudget(Number.POSITIVE_INFINITY);
}
