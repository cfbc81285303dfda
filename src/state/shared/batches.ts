/** Increments on their way to the shared store: those that no batch has yet, and the batches of the last minutes. */
import type { Batch, Increment } from "./protocol.ts";

/** Acknowledged batches are kept for this long, since a store may lose what it acknowledged. */
const KEPT_MS = 120_000;
/** Beyond this the oldest acknowledged batches go first. */
const MOST_INCREMENTS = 100_000;
/** Increments of one batch: more would keep the server busy for milliseconds. */
const BATCH_INCREMENTS = 1_000;

export type Batches = ReturnType<typeof createBatches>;

export function createBatches() {
  let pending = new Map<string, Increment>();
  let kept: { readonly batch: Batch; readonly at: number }[] = [];
  let increments = 0;

  const keep = (batch: Batch, at: number): void => {
    kept.push({ batch, at });
    increments += batch.increments.length;
  };
  return {
    add: (increment: Increment): void => {
      const { operation, key, field, value } = increment;
      // `add` of nothing changes nothing.
      if (operation === "add" && value === 0) return;
      const name = `${operation}\0${key}\0${field}`;
      const before = pending.get(name);
      pending.set(name, before === undefined ? increment : { ...increment, value: together(before, increment) });
    },
    /** True if there are increments that no batch has. */
    hasPending: (): boolean => pending.size > 0,
    /** Makes a batch of pending increments. `at`: milliseconds since 1970. */
    make: (sequence: number, at: number): void => {
      const taken = [...pending].slice(0, BATCH_INCREMENTS);
      for (const [name] of taken) pending.delete(name);
      keep({ sequence, isReset: false, increments: taken.map(([, increment]) => increment) }, at);
    },
    /** Replaces everything by batches of the whole contribution, from the number `first` on. Returns how many there are. */
    seed: (first: number, contribution: Iterable<Increment>, at: number): number => {
      pending = new Map();
      kept = [];
      increments = 0;
      const all = [...contribution];
      for (let begin = 0; begin === 0 || begin < all.length; begin += BATCH_INCREMENTS) {
        const isReset = begin === 0;
        keep({ sequence: first + kept.length, isReset, increments: all.slice(begin, begin + BATCH_INCREMENTS) }, at);
      }
      return kept.length;
    },
    get: (sequence: number): Batch | undefined => kept.find(({ batch }) => batch.sequence === sequence)?.batch,
    /** Forgets what is too old or too much, up to the batch `acknowledged`. Returns the lowest number that is left; undefined without any. */
    prune: (acknowledged: number, at: number): number | undefined => {
      let gone = 0;
      for (const one of kept) {
        const isNeeded = one.batch.sequence > acknowledged;
        if (isNeeded || (at - one.at < KEPT_MS && increments <= MOST_INCREMENTS)) break;
        increments -= one.batch.increments.length;
        gone += 1;
      }
      kept = kept.slice(gone);
      return kept[0]?.batch.sequence;
    },
  };
}

function together({ value: before }: Increment, { operation, value }: Increment): number {
  if (operation === "add") return before + value;
  if (operation === "put") return value;
  return operation === "min" ? Math.min(before, value) : Math.max(before, value);
}
