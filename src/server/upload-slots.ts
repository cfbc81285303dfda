interface WaitingUpload {
  readonly caller: string;
  readonly go: (leave: () => void) => void;
}

export type UploadSlots = ReturnType<typeof createUploadSlots>;

/**
 * Places for half of an upstream's `connections`, and half of those for one caller: whatever clients send slowly, calls that are
 * here as a whole find a connection. The caller with the fewest places is next, and among equals who came first.
 */
export function createUploadSlots(connections: number) {
  const most = Math.max(1, Math.floor(connections / 2));
  const mostOfOne = Math.max(1, Math.floor(most / 2));
  const taken = new Map<string, number>();
  let waiting: WaitingUpload[] = [];
  let total = 0;

  const own = (caller: string): number => taken.get(caller) ?? 0;
  const next = (): WaitingUpload | undefined => {
    let best: WaitingUpload | undefined;
    for (const waiter of total < most ? waiting : []) {
      const count = own(waiter.caller);
      if (count < mostOfOne && (best === undefined || count < own(best.caller))) best = waiter;
    }
    return best;
  };
  const admit = (): void => {
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      const { caller, go } = waiter;
      drop(waiter);
      taken.set(caller, own(caller) + 1);
      total += 1;
      let here = true;
      go(() => {
        if (!here) return;
        here = false;
        total -= 1;
        const rest = own(caller) - 1;
        if (rest > 0) taken.set(caller, rest);
        else taken.delete(caller);
        admit();
      });
    }
  };
  const drop = (waiter: WaitingUpload): void => {
    waiting = waiting.filter((other) => other !== waiter);
  };
  return {
    /** Calls `go` with how to leave, now or when there is a place for `caller`. Gives how to stop waiting. */
    enter(caller: string, go: (leave: () => void) => void): () => void {
      const waiter: WaitingUpload = { caller, go };
      waiting.push(waiter);
      admit();
      return () => drop(waiter);
    },
  };
}
