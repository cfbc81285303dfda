/** How many comparisons run, how long, and what happens to the others? (Design section 7: bounded, never in the way.) */
import { createStopper, type Signal, type Stopper } from "../model/signal.ts";

export interface JobsOptions {
  readonly concurrent: number;
  /** From its start to its end; it waits for its place at most half as long. */
  readonly ms: number;
  later(ms: number, run: () => void): () => void;
}

/** Why a job ended that did not end by itself. */
export type Ended = "busy" | "timeout" | "closed";

/** One comparison. */
export interface Job<T> {
  /** Whose share of the places it takes. */
  readonly owner: string;
  /** Must settle soon after its signal aborts; nothing waits for it then. */
  run(signal: Signal): Promise<T>;
  /** Called once, whatever happens. */
  done(outcome: { readonly value: T } | { readonly thrown: unknown } | { readonly ended: Ended }): void;
}

export interface Jobs<T> {
  /** True while a job of that owner would find a place. Nothing is kept for it: a job may still find none when it comes. */
  hasRoom(owner: string): boolean;
  add(job: Job<T>): void;
  running(): number;
  waiting(): number;
  /** Ends every job, and waits a moment for those that were running. */
  close(): Promise<void>;
}

/** Twice as many wait as run: enough for a burst, and no queue that outlives it. */
const WAITING_PER_RUNNING = 2;
/** So many of `places` one owner may take, rounded up: another finds one then. */
function shareOf(places: number): number {
  return Math.ceil(places / 2);
}

/** Calls that were aborted have ended long before. */
const CLOSE_MS = 1_000;

interface Entry<T> {
  readonly job: Job<T>;
  readonly owner: string;
  readonly stopper: Stopper;
  callOff: () => void;
}

/**
 * A job that finds no place ends as `busy`, also one that waited too long: what it would compare has become old. Of the
 * places where jobs run, and of those where they wait, one owner takes at most half.
 */
export function createJobs<T>({ concurrent, ms, later }: JobsOptions): Jobs<T> {
  const running = new Set<Entry<T>>();
  const waiting = new Set<Entry<T>>();
  const unsettled = new Set<Promise<void>>();
  const mostWaiting = concurrent * WAITING_PER_RUNNING;
  let closed = false;

  const mayStart = (owner: string): boolean =>
    !closed && running.size < concurrent && ownOf(running, owner) < shareOf(concurrent);
  const mayWait = (owner: string): boolean =>
    !closed && waiting.size < mostWaiting && ownOf(waiting, owner) < shareOf(mostWaiting);

  const settle = (entry: Entry<T>, outcome: Parameters<Job<T>["done"]>[0]): void => {
    if (!running.delete(entry) && !waiting.delete(entry)) return;
    entry.callOff();
    entry.job.done(outcome);
    const next = [...waiting].find(({ owner }) => mayStart(owner));
    if (next !== undefined) start(next);
  };
  const end = (entry: Entry<T>, ended: Ended): void => {
    entry.stopper.abort(new Error(`the comparison ended: ${ended}`));
    settle(entry, { ended });
  };
  const start = (entry: Entry<T>): void => {
    entry.callOff();
    entry.callOff = later(ms, () => end(entry, "timeout"));
    waiting.delete(entry);
    running.add(entry);
    const settled = entry.job.run(entry.stopper.signal).then(
      (value) => settle(entry, { value }),
      (thrown: unknown) => settle(entry, { thrown }),
    );
    unsettled.add(settled);
    void settled.finally(() => unsettled.delete(settled));
  };
  return {
    hasRoom: (owner) => mayStart(owner) || mayWait(owner),
    add(job) {
      if (closed) return job.done({ ended: "closed" });
      const { owner } = job;
      const entry: Entry<T> = { job, owner, stopper: createStopper(), callOff: () => {} };
      if (mayStart(owner)) return start(entry);
      if (!mayWait(owner)) return job.done({ ended: "busy" });
      entry.callOff = later(ms / 2, () => end(entry, "busy"));
      waiting.add(entry);
    },
    running: () => running.size,
    waiting: () => waiting.size,
    async close() {
      closed = true;
      for (const entry of [...waiting, ...running]) end(entry, "closed");
      if (unsettled.size === 0) return;
      let callOff: () => void = () => {};
      const patience = new Promise<void>((resolve) => {
        callOff = later(CLOSE_MS, resolve);
      });
      await Promise.race([Promise.allSettled(unsettled), patience]);
      callOff();
    },
  };
}

/** Places are few. */
function ownOf(places: Iterable<{ readonly owner: string }>, owner: string): number {
  let own = 0;
  for (const place of places) if (place.owner === owner) own += 1;
  return own;
}
