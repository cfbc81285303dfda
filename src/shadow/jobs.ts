import type { ComparisonFailure } from "../model/comparison.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import { ComparisonError } from "./outcome.ts";

export interface JobsOptions {
  readonly concurrent: number;
  /** Longest time of a job. It waits for its place at most half as long. */
  readonly ms: number;
  later(ms: number, run: () => void): () => void;
}

export type JobOutcome<T> = { readonly value: T } | { readonly failure: ComparisonFailure };

export interface Job<T> {
  /** Whose share of the places it takes. */
  readonly owner: string;
  /** Must settle soon after its signal aborts; its place is free by then. */
  run(signal: Signal): Promise<T>;
  /** Called once, whatever happens. */
  done(outcome: JobOutcome<T>): void;
}

export interface Jobs<T> {
  /** True while a job of that owner would find a place. No place is reserved: a job may still find none when it comes. */
  hasRoom(owner: string): boolean;
  add(job: Job<T>): void;
  running(): number;
  waiting(): number;
  /** Ends every job, and waits a moment for those that were running. */
  close(): Promise<void>;
}

/** Twice as many wait as run: enough for a burst, and no queue that outlives it. */
const WAITING_PER_RUNNING = 2;
/** Aborted calls end long before. */
const CLOSE_MS = 1_000;

interface JobEntry<T> {
  readonly job: Job<T>;
  readonly owner: string;
  readonly stopper: SignalController;
  cancelTimer: () => void;
}

/**
 * Runs jobs in a bounded number of places. One owner takes at most half of the places to run, and of those to wait. A job that
 * finds no place, or waits too long, ends as `busy`: what it would compare has become old.
 */
export function createJobs<T>({ concurrent, ms, later }: JobsOptions): Jobs<T> {
  const running = new Set<JobEntry<T>>();
  const waiting = new Set<JobEntry<T>>();
  const unsettled = new Set<Promise<void>>();
  let closed = false;

  const hasPlace = (entries: ReadonlySet<JobEntry<T>>, places: number, owner: string): boolean => {
    const own = [...entries].filter((entry) => entry.owner === owner).length;
    return !closed && entries.size < places && own < Math.ceil(places / 2);
  };
  const mayStart = (owner: string): boolean => hasPlace(running, concurrent, owner);
  const mayWait = (owner: string): boolean => hasPlace(waiting, concurrent * WAITING_PER_RUNNING, owner);

  const settle = (entry: JobEntry<T>, outcome: JobOutcome<T>): void => {
    if (!running.delete(entry) && !waiting.delete(entry)) return;
    entry.cancelTimer();
    entry.job.done(outcome);
    const next = [...waiting].find(({ owner }) => mayStart(owner));
    if (next !== undefined) start(next);
  };
  const end = (entry: JobEntry<T>, failure: ComparisonFailure): void => {
    entry.stopper.abort(new Error(`the comparison ended: ${failure}`));
    settle(entry, { failure });
  };
  const start = (entry: JobEntry<T>): void => {
    entry.cancelTimer();
    entry.cancelTimer = later(ms, () => end(entry, "timeout"));
    waiting.delete(entry);
    running.add(entry);
    const settled = entry.job.run(entry.stopper.signal).then(
      (value) => settle(entry, { value }),
      (error: unknown) => settle(entry, { failure: error instanceof ComparisonError ? error.failure : "internal" }),
    );
    unsettled.add(settled);
    void settled.finally(() => unsettled.delete(settled));
  };
  return {
    hasRoom: (owner) => mayStart(owner) || mayWait(owner),
    add(job) {
      if (closed) return job.done({ failure: "closed" });
      const { owner } = job;
      const entry: JobEntry<T> = { job, owner, stopper: createSignalController(), cancelTimer: () => {} };
      if (mayStart(owner)) return start(entry);
      if (!mayWait(owner)) return job.done({ failure: "busy" });
      entry.cancelTimer = later(ms / 2, () => end(entry, "busy"));
      waiting.add(entry);
    },
    running: () => running.size,
    waiting: () => waiting.size,
    async close() {
      closed = true;
      for (const entry of [...waiting, ...running]) end(entry, "closed");
      if (unsettled.size === 0) return;
      await new Promise<void>((resolve) => {
        const cancel = later(CLOSE_MS, resolve);
        void Promise.allSettled(unsettled).then(() => {
          cancel();
          resolve();
        });
      });
    },
  };
}
