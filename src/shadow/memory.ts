/** How many bytes do comparisons hold, all together? (Design section 7: bounded.) */

/** What one comparison holds. */
export interface Held {
  /** True when there is room for `bytes` more, which are then held. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Gives back everything; nothing can be taken afterwards. */
  release(): void;
}

/** Never more than `limit` bytes at a time. Counted are copies and answers as bytes, not what JSON makes of them. */
export function createMemory(limit: number): { open(): Held; inUse(): number } {
  let used = 0;
  const open = (): Held => {
    let own = 0;
    let released = false;
    return {
      take(bytes) {
        if (released || used + bytes > limit) return false;
        used += bytes;
        own += bytes;
        return true;
      },
      give(bytes) {
        if (released) return;
        used -= bytes;
        own -= bytes;
      },
      release() {
        released = true;
        used -= own;
        own = 0;
      },
    };
  };
  return { open, inUse: () => used };
}
