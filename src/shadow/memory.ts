/** How many bytes do comparisons hold, all together and of one owner? (Design section 7: bounded.) */

/** What one comparison holds. */
export interface Held {
  /** True when there is room for `bytes` more, which are then held. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Gives back everything; nothing can be taken afterwards. */
  release(): void;
}

/**
 * Never more than `limit` bytes at a time, nor more than half of them for one owner. Counted are copies and answers as
 * bytes, not what JSON makes of them.
 */
export function createMemory(limit: number): { open(owner: string): Held; inUse(): number } {
  /** Only owners that hold something. */
  const byOwner = new Map<string, number>();
  let used = 0;
  const open = (owner: string): Held => {
    let own = 0;
    let released = false;
    const move = (bytes: number): void => {
      used += bytes;
      own += bytes;
      const left = (byOwner.get(owner) ?? 0) + bytes;
      if (left === 0) byOwner.delete(owner);
      else byOwner.set(owner, left);
    };
    return {
      take(bytes) {
        if (released || used + bytes > limit || (byOwner.get(owner) ?? 0) + bytes > Math.ceil(limit / 2)) return false;
        move(bytes);
        return true;
      },
      give(bytes) {
        if (!released) move(-bytes);
      },
      release() {
        released = true;
        move(-own);
      },
    };
  };
  return { open, inUse: () => used };
}
