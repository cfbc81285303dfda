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
  /** Must settle soon after its signal aborts; nothing waits for it then. */
  run(signal: Signal): Promise<T>;
  /** Called once, whatever happens. */
  done(outcome: { readonly value: T } | { readonly thrown: unknown } | { readonly ended: Ended }): void;
}

export interface Jobs<T> {
  add(job: Job<T>): void;
  running(): number;
  waiting(): number;
  /** Ends every job, and waits a moment for those that were running. */
  close(): Promise<void>;
}

/** Twice as many wait as run: enough for a burst, and no queue that outlives it. */
const WAITING_PER_RUNNING = 2;
/** Calls that were aborted have ended long before. */
const CLOSE_MS = 1_000;

interface Entry<T> {
  readonly job: Job<T>;
  readonly stopper: Stopper;
  callOff: () => void;
}

/** A job that finds no place ends as `busy`, also one that waited too long: what it would compare has become old. */
export function createJobs<T>({ concurrent, ms, later }: JobsOptions): Jobs<T> {
  const running = new Set<Entry<T>>();
  const waiting = new Set<Entry<T>>();
  const unsettled = new Set<Promise<void>>();
  let closed = false;

  const settle = (entry: Entry<T>, outcome: Parameters<Job<T>["done"]>[0]): void => {
    if (!running.delete(entry) && !waiting.delete(entry)) return;
    entry.callOff();
    entry.job.done(outcome);
    const [next] = waiting;
    if (next !== undefined && running.size < concurrent && !closed) start(next);
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
    add(job) {
      if (closed) return job.done({ ended: "closed" });
      if (waiting.size >= concurrent * WAITING_PER_RUNNING) return job.done({ ended: "busy" });
      const entry: Entry<T> = { job, stopper: createStopper(), callOff: () => {} };
      if (running.size < concurrent) return start(entry);
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
