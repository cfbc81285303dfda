/** Which requests of a replay are done, as a few numbers. */
export interface DoneRequests {
  /** All below it are done. */
  readonly below: number;
  /** Done as well, since several run at a time. */
  readonly ahead: readonly number[];
}

export interface DoneSet {
  has(index: number): boolean;
  add(index: number): void;
  /** How many. */
  size(): number;
  snapshot(): DoneRequests;
}

export function createDoneSet({ below: start, ahead: before }: DoneRequests = { below: 0, ahead: [] }): DoneSet {
  let below = start;
  const ahead = new Set(before);
  return {
    has: (index) => index < below || ahead.has(index),
    add(index) {
      ahead.add(index);
      while (ahead.delete(below)) below += 1;
    },
    size: () => below + ahead.size,
    snapshot: () => ({ below, ahead: [...ahead] }),
  };
}
