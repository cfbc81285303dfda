/** What becomes of each sampled request, from its first byte to its report? */

import type { Comparison, ComparisonFailure } from "../model/comparison.ts";
import { type ApiResponse, header, retryAfter } from "../model/http.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import { type AnswerSource, createAnswerSource, isTrouble } from "./answers.ts";
import { type ByteReservation, type CaptureFailure, createByteBudget } from "./capture.ts";
import { type ComparisonVerdict, failureIn } from "./outcome.ts";
import { type ComparisonRequest, isWrite, type ShadowOptions } from "./request.ts";
import { createSamples } from "./samples.ts";
import { type ComparisonStatisticsRow, createComparisonStatistics } from "./statistics.ts";

/** What comparisons take up, and what was let go. */
export interface ShadowState {
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  readonly sampleChars: number;
  /** Comparisons of clients without a row of their own in `bounds`. */
  readonly unlisted: number;
  /** Sampled requests that are not reported, by reason: no place when they began or when their answer was over, or a platform that asked for rest (`busy`), or an answer that says nothing. */
  readonly passed: Readonly<Record<"aborted" | "busy" | "unauthenticated" | "status", number>>;
}

/** One sampled request. */
export interface QueueEntry {
  readonly asked: ComparisonRequest;
  /** Whose share it takes. */
  readonly owner: string;
  readonly held: ByteReservation;
  readonly served: "shadow" | "translate";
}

/** Every ticket must come to exactly one of `lose`, a `takes` that says no, and `enter`: each gives back what it holds. */
export interface ComparisonQueue {
  /**
   * Undefined, and counted in `passed`, when there is no place: then nothing need be copied. `status`: of the answer, where it
   * is known already.
   */
  open(asked: ComparisonRequest, served: QueueEntry["served"], status?: number): QueueEntry | undefined;
  /** Nothing of its answer can be compared. */
  discard(ticket: QueueEntry, why: CaptureFailure): void;
  /** Whether an answer of `status` is compared. */
  accepts(ticket: QueueEntry, status: number): boolean;
  /** Compares when there is a place, in a later turn; else counts it in `passed`. */
  submit(ticket: QueueEntry, compare: (answers: AnswerSource, signal: Signal) => Promise<ComparisonVerdict>): void;
  state(): ShadowState;
  samples(query: URLSearchParams): unknown;
  bounds(): readonly ComparisonStatisticsRow[];
  closed(): boolean;
  close(): Promise<void>;
}

export function createComparisonQueue<Shape>(options: ShadowOptions<Shape>): ComparisonQueue {
  const { limits, later, turn, now, ownerOf } = options;
  const memory = createByteBudget(limits.memoryBytes);
  const jobs = createJobs<ComparisonVerdict>({ concurrent: limits.concurrent, ms: limits.seconds * 1_000, later });
  const { tell, ...books } = createReporting(options);
  const passed = { aborted: 0, busy: 0, unauthenticated: 0, status: 0 };
  const rest = createPlatformBackoff(options);
  let closed = false;

  const finish = (ticket: QueueEntry, end: ComparisonOutcome): void => {
    ticket.held.release();
    if (!closed) tell(ticket, end);
  };
  const pass = (ticket: QueueEntry, why: keyof typeof passed): void => {
    ticket.held.release();
    passed[why] += 1;
  };
  return {
    open(asked, served, status) {
      // Whoever invents tokens has as many as he likes.
      const owner = status === UNAUTHENTICATED ? STRANGERS : ownerOf(asked);
      if (jobs.hasRoom(owner) && !rest.isActive(owner)) return { asked, served, owner, held: memory.open(owner) };
      passed.busy += 1;
      return undefined;
    },
    discard(ticket, why) {
      if (why === "aborted") pass(ticket, why);
      else finish(ticket, notStarted(why));
    },
    accepts(ticket, status) {
      // Of a 401 of v2's native still has to say whether it is a stranger.
      if (status === UNAUTHENTICATED && ticket.served === "shadow") pass(ticket, "unauthenticated");
      else if (isTrouble(status)) finish(ticket, notStarted(TROUBLE_OF[ticket.served]));
      else if (isContent(status)) return true;
      else pass(ticket, "status");
      return false;
    },
    submit(ticket, compare) {
      // Others were faster. No place is kept while an answer is on its way: whoever is slow would keep it from all others.
      if (!jobs.hasRoom(ticket.owner)) return pass(ticket, "busy");
      const startedAt = now();
      const calls = { v1: 0, v2: 0 };
      jobs.add({
        owner: ticket.owner,
        async run(signal) {
          // The client's answer is on its way in this turn.
          await turn();
          signal.throwIfAborted();
          return compare(
            createAnswerSource({
              ...ticket,
              options,
              signal,
              calls,
              saw: (answer) => rest.observe(ticket.owner, answer),
            }),
            signal,
          );
        },
        done: (outcome) => finish(ticket, { ...outcomeOf(outcome), ms: now() - startedAt, calls: { ...calls } }),
      });
    },
    ...books,
    state: () => ({
      running: jobs.running(),
      waiting: jobs.waiting(),
      heldBytes: memory.inUse(),
      ...books.state(),
      passed: { ...passed },
    }),
    closed: () => closed,
    close() {
      closed = true;
      return jobs.close();
    },
  };
}

const UNAUTHENTICATED = 401;
/** Whose share the requests take that v2 answered with 401, all of them together. */
const STRANGERS = "strangers";

const TROUBLE_OF: Readonly<Record<QueueEntry["served"], ComparisonFailure>> = {
  shadow: "native",
  translate: "platform",
};

/** A success or a refusal with a body of its own. */
function isContent(status: number): boolean {
  return (status >= 200 && status < 300 && status !== 206) || (status >= 400 && status < 600);
}

/** Everything that outlives a comparison. */
function createReporting({
  samples: sampling,
  report,
  wall,
}: Pick<ShadowOptions<never>, "samples" | "report" | "wall">) {
  const tally = createComparisonStatistics();
  const samples = createSamples(sampling);
  return {
    tell({ asked, served }: QueueEntry, end: ComparisonOutcome): void {
      try {
        const comparison = comparisonOf(asked, served, end, wall());
        tally.add(comparison, end.verdict?.noisy);
        samples.add(comparison, asked);
        report(comparison, asked.head);
      } catch {
        // Nothing that goes wrong here may reach what calls: the stream of a client's answer, a timer.
      }
    },
    samples: samples.view,
    bounds: tally.rows,
    state: () => ({ sampleChars: samples.size(), unlisted: tally.unlisted() }),
  };
}

/** How many comparisons run, how long, and what happens to the others? (Design section 7: bounded, never in the way.) */

export interface JobsOptions {
  readonly concurrent: number;
  /** From its start to its end; it waits for its place at most half as long. */
  readonly ms: number;
  later(ms: number, run: () => void): () => void;
}

/** Why a job ended that did not end by itself. */
export type EarlyEnd = "busy" | "timeout" | "closed";

/** One comparison. */
export interface Job<T> {
  /** Whose share of the places it takes. */
  readonly owner: string;
  /** Must settle soon after its signal aborts; nothing waits for it then. */
  run(signal: Signal): Promise<T>;
  /** Called once, whatever happens. */
  done(outcome: { readonly value: T } | { readonly thrown: unknown } | { readonly ended: EarlyEnd }): void;
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

interface JobEntry<T> {
  readonly job: Job<T>;
  readonly owner: string;
  readonly stopper: SignalController;
  callOff: () => void;
}

/**
 * A job that finds no place ends as `busy`, also one that waited too long: what it would compare has become old. Of the
 * places where jobs run, and of those where they wait, one owner takes at most half.
 */
export function createJobs<T>({ concurrent, ms, later }: JobsOptions): Jobs<T> {
  const running = new Set<JobEntry<T>>();
  const waiting = new Set<JobEntry<T>>();
  const unsettled = new Set<Promise<void>>();
  const mostWaiting = concurrent * WAITING_PER_RUNNING;
  let closed = false;

  const mayStart = (owner: string): boolean =>
    !closed && running.size < concurrent && countOf(running, owner) < shareOf(concurrent);
  const mayWait = (owner: string): boolean =>
    !closed && waiting.size < mostWaiting && countOf(waiting, owner) < shareOf(mostWaiting);

  const settle = (entry: JobEntry<T>, outcome: Parameters<Job<T>["done"]>[0]): void => {
    if (!running.delete(entry) && !waiting.delete(entry)) return;
    entry.callOff();
    entry.job.done(outcome);
    const next = [...waiting].find(({ owner }) => mayStart(owner));
    if (next !== undefined) start(next);
  };
  const end = (entry: JobEntry<T>, ended: EarlyEnd): void => {
    entry.stopper.abort(new Error(`the comparison ended: ${ended}`));
    settle(entry, { ended });
  };
  const start = (entry: JobEntry<T>): void => {
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
      const entry: JobEntry<T> = { job, owner, stopper: createSignalController(), callOff: () => {} };
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
function countOf(places: Iterable<{ readonly owner: string }>, owner: string): number {
  let own = 0;
  for (const place of places) if (place.owner === owner) own += 1;
  return own;
}

/** How did one comparison end, and what is told of it? */

/** With a verdict, or with a failure. */
export interface ComparisonOutcome {
  readonly verdict: ComparisonVerdict | undefined;
  readonly failure: ComparisonFailure | undefined;
  readonly ms: number;
  readonly calls: { readonly v1: number; readonly v2: number };
}

/** One that ended before anything was done for it. */
export function notStarted(failure: ComparisonFailure): ComparisonOutcome {
  return { verdict: undefined, failure, ms: 0, calls: { v1: 0, v2: 0 } };
}

/** What a job's end means. */
export function outcomeOf(
  outcome: { readonly value: ComparisonVerdict } | { readonly thrown: unknown } | { readonly ended: EarlyEnd },
): Pick<ComparisonOutcome, "verdict" | "failure"> {
  if ("value" in outcome) return { verdict: outcome.value, failure: undefined };
  if ("ended" in outcome) return { verdict: undefined, failure: outcome.ended };
  return { verdict: undefined, failure: failureIn(outcome.thrown) ?? "internal" };
}

/** `at`: milliseconds since 1970. */
export function comparisonOf(
  asked: ComparisonRequest,
  served: Comparison["served"],
  end: ComparisonOutcome,
  at: number,
): Comparison {
  const { verdict, failure, ms, calls } = end;
  return {
    requestId: asked.requestId,
    at,
    resource: asked.match.resource.name,
    operation: asked.match.operation.name,
    client: asked.client,
    rule: asked.rule,
    ruleId: asked.ruleId,
    served,
    kind: isWrite(asked) ? "write" : "read",
    result: verdict?.result ?? "failed",
    total: verdict?.total ?? 0,
    differences: verdict?.differences ?? [],
    failure,
    controlled: verdict?.controlled ?? false,
    ms,
    calls,
  };
}

/** For how long does comparing leave a platform alone that asked for it? (Design section 7: a shadow never makes it worse.) */

export interface PlatformBackoff {
  /** A call for a comparison was answered; `owner`: whose credential it carried. */
  observe(owner: string, answer: Pick<ApiResponse, "status" | "headers">): void;
  /** True while calls with that credential would only use up what its client needs. */
  isActive(owner: string): boolean;
}

/** Longest rest, milliseconds: whatever is asked for, comparing is to be tried again. */
const MAX_BACKOFF_MS = 60_000;
/** Owners that rest at a time; more are not remembered. */
const MAX_BACKOFF_OWNERS = 1_000;

export function createPlatformBackoff({ wall }: Pick<ShadowOptions<never>, "wall">): PlatformBackoff {
  const until = new Map<string, number>();
  return {
    observe(owner, { status, headers }) {
      if (status !== 429 && status !== 503) return;
      const now = wall();
      const asked = retryAfter(header(headers, "retry-after"), now);
      if (asked === undefined || asked <= 0) return;
      for (const [name, end] of until) if (end <= now) until.delete(name);
      if (until.size < MAX_BACKOFF_OWNERS || until.has(owner)) until.set(owner, now + Math.min(asked, MAX_BACKOFF_MS));
    },
    isActive: (owner) => (until.get(owner) ?? 0) > wall(),
  };
}
