/** Compares the responses of both versions in the background, within its own limits. */
import type { Comparison, ComparisonFailure, SKIP_REASONS } from "../model/comparison.ts";
import { type ApiResponse, type ClientResponse, header, retryAfter } from "../model/http.ts";
import type { PassThroughObserver } from "../model/request.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import { createAnswerSource, isTrouble } from "./answers.ts";
import {
  type ByteReservation,
  type CaptureFailure,
  captureResponse,
  createByteBudget,
  createExchangeCapture,
} from "./capture.ts";
import { ComparisonError, type ComparisonVerdict, runInSteps } from "./outcome.ts";
import { type ComparisonWork, compareFollowed, compareShadowed } from "./reads.ts";
import { type ComparisonRequest, isComparable, isWrite, requestDigest, type ShadowOptions } from "./request.ts";
import { createSamples, type SampleStore } from "./results.ts";
import { shapeOf } from "./shape.ts";
import { type ComparisonTally, createComparisonTally } from "./tally.ts";
import { compareWritten } from "./writes.ts";

export interface Shadow {
  /** For a request that native serves; undefined when it is not compared. */
  watch(asked: ComparisonRequest): PassThroughObserver | undefined;
  /** For a read that was translated: `answer` for the client, equal byte by byte. */
  follow(asked: ComparisonRequest, answer: ClientResponse): ClientResponse;
  state(): ShadowState;
  readonly tally: Omit<ComparisonTally, "add">;
  /** Where the latest comparisons of a rule differ. */
  readonly causes: SampleStore["causes"];
  /** The view `/samples`. */
  samples: SampleStore["view"];
  /** Drops the samples of a client, and what was counted for it alone; returns how many of each. */
  forget(client: string): { readonly comparisons: number; readonly samples: number };
  /** Ends all comparisons, and reports nothing more. */
  close(): Promise<void>;
}

interface ShadowState {
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  /** Sampled requests that are not reported. `busy`: no place, or an upstream that asked for a pause. */
  readonly passed: Readonly<Record<(typeof SKIP_REASONS)[number], number>>;
}

/** A sampled request, and the bytes held for it. It ends as one report, or counted in `ShadowState.passed`. */
interface SampledRequest {
  readonly asked: ComparisonRequest;
  /** Whose share it takes. */
  readonly owner: string;
  readonly reservation: ByteReservation;
  readonly served: Comparison["served"];
}

/** With a verdict or with a failure. */
interface ComparisonOutcome {
  readonly verdict?: ComparisonVerdict;
  readonly failure?: ComparisonFailure;
  /** The request's digest, where there is a verdict. */
  readonly request?: string;
  readonly ms: number;
  readonly calls: Comparison["calls"];
}

const NO_BODY = new Uint8Array(0);
const UNAUTHENTICATED = 401;
/** The owner of all requests that v2 answered with 401: anybody can invent tokens. */
const STRANGERS = "strangers";

/**
 * Compares native and translated responses in the background. Nothing is compared before the client has its whole response,
 * and no error reaches the client. Where there is no place when a request begins, nothing of it is copied.
 */
export function createShadow(options: ShadowOptions): Shadow {
  const { limits, later, turn, now, wall, random, ownerOf, report } = options;
  const { answerBytes } = limits;
  const memory = createByteBudget(limits.memoryBytes);
  const jobs = createJobs<ComparisonVerdict>({ concurrent: limits.concurrent, ms: limits.seconds * 1_000, later });
  const backoff = createPlatformBackoff(wall);
  const tally = createComparisonTally();
  const samples = createSamples(options.samples);
  const passed = { aborted: 0, busy: 0, unauthenticated: 0, status: 0 };
  let closed = false;

  const isSampled = (asked: ComparisonRequest): boolean =>
    !closed && asked.settings.sample > 0 && isComparable(asked) && random() < asked.settings.sample;
  const finish = ({ asked, served, reservation }: SampledRequest, outcome: ComparisonOutcome): void => {
    reservation.release();
    if (closed) return;
    try {
      const comparison = comparisonOf(asked, served, outcome, wall());
      tally.add(comparison, outcome.verdict?.noisy);
      samples.add(comparison, asked);
      report(comparison, asked.head);
    } catch {
      // No error may reach the callers: the stream of a client's response, and timers.
    }
  };
  const fail = (sampled: SampledRequest, failure: ComparisonFailure): void =>
    finish(sampled, { failure, ms: 0, calls: { v1: 0, v2: 0 } });
  const pass = (sampled: SampledRequest, why: keyof typeof passed): void => {
    sampled.reservation.release();
    passed[why] += 1;
  };
  /** `status`: of the response, where it is known already. */
  const open = (
    asked: ComparisonRequest,
    served: SampledRequest["served"],
    status?: number,
  ): SampledRequest | undefined => {
    const owner = status === UNAUTHENTICATED ? STRANGERS : ownerOf(asked);
    if (jobs.hasRoom(owner) && !backoff.isActive(owner))
      return { asked, served, owner, reservation: memory.open(owner) };
    passed.busy += 1;
    return undefined;
  };
  /** Whether a response of `status` is compared. */
  const accepts = (sampled: SampledRequest, status: number): boolean => {
    // When v2 says 401, native still has to say whether the caller is a stranger.
    if (status === UNAUTHENTICATED && sampled.served === "shadow") pass(sampled, "unauthenticated");
    else if (isTrouble(status)) fail(sampled, sampled.served === "shadow" ? "native" : "platform");
    else if (isContent(status)) return true;
    else pass(sampled, "status");
    return false;
  };
  const drop = (sampled: SampledRequest, why: CaptureFailure): void => {
    if (why === "aborted") pass(sampled, why);
    else fail(sampled, why);
  };
  const submit = (
    sampled: SampledRequest,
    compare: (work: ComparisonWork) => Promise<ComparisonVerdict>,
    body: Uint8Array = NO_BODY,
  ): void => {
    const { asked, owner, reservation } = sampled;
    // No place was reserved while the response was on its way: a slow client would keep it from all others.
    if (!jobs.hasRoom(owner)) {
      pass(sampled, "busy");
      return;
    }
    const startedAt = now();
    const calls = { v1: 0, v2: 0 };
    jobs.add({
      owner,
      async run(signal) {
        // The client's response goes out in this turn.
        await turn();
        signal.throwIfAborted();
        const observe = (answer: ApiResponse): void => backoff.observe(owner, answer);
        return compare({
          asked,
          answers: createAnswerSource({ asked, options, reservation, signal, calls, observe }),
          shape: shapeOf(asked.match, options.ignore, options.matchers),
          signal,
          random,
          inSteps: (steps) => runInSteps(steps, turn, signal),
        });
      },
      done: (outcome) => {
        const ended = { ms: now() - startedAt, calls: { ...calls } };
        if (!("value" in outcome)) return finish(sampled, { ...outcome, ...ended });
        return finish(sampled, { verdict: outcome.value, request: requestDigest(asked.head, body), ...ended });
      },
    });
  };
  return {
    watch(asked) {
      const sampled = isSampled(asked) ? open(asked, "shadow") : undefined;
      if (sampled === undefined) return undefined;
      return createExchangeCapture({
        reservation: sampled.reservation,
        answerBytes,
        over(captured) {
          if (typeof captured === "string") drop(sampled, captured);
          else if (accepts(sampled, captured.answer.status)) {
            submit(
              sampled,
              (work) => (isWrite(asked) ? compareWritten(work, captured) : compareShadowed(work, captured)),
              captured.request,
            );
          }
        },
      });
    },
    follow(asked, answer) {
      if (isWrite(asked) || !isSampled(asked)) return answer;
      return captureResponse(answer, answerBytes, () => {
        const sampled = open(asked, "translate", answer.status);
        if (sampled === undefined || !accepts(sampled, answer.status)) return undefined;
        return {
          reservation: sampled.reservation,
          over(captured) {
            if (typeof captured === "string") drop(sampled, captured);
            else submit(sampled, (work) => compareFollowed(work, captured));
          },
        };
      });
    },
    state: () => ({
      running: jobs.running(),
      waiting: jobs.waiting(),
      heldBytes: memory.inUse(),
      passed: { ...passed },
    }),
    tally,
    samples: samples.view,
    causes: samples.causes,
    forget: (client) => ({ comparisons: tally.forget(client), samples: samples.forget(client) }),
    close() {
      closed = true;
      return jobs.close();
    },
  };
}

/** A success or an error with a body of its own. */
function isContent(status: number): boolean {
  return (status >= 200 && status < 300 && status !== 206) || (status >= 400 && status < 600);
}

function comparisonOf(
  asked: ComparisonRequest,
  served: Comparison["served"],
  { verdict, failure, request, ms, calls }: ComparisonOutcome,
  at: number,
): Comparison {
  return {
    requestId: asked.requestId,
    at,
    resource: asked.match.resource.name,
    operation: asked.match.operation.name,
    client: asked.client,
    rule: asked.rule,
    ruleId: asked.ruleId,
    request,
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

/** A longer pause is cut short: comparing has to be tried again at some time. */
const MAX_BACKOFF_MS = 60_000;
/** Owners with a pause at a time; more are not remembered. */
const MAX_BACKOFF_OWNERS = 1_000;

/** Keeps comparisons from using up a client's quota, where an upstream's Retry-After asks that client to wait. */
function createPlatformBackoff(wall: () => number) {
  const until = new Map<string, number>();
  return {
    observe(owner: string, { status, headers }: ApiResponse): void {
      if (status !== 429 && status !== 503) return;
      const at = wall();
      const pause = retryAfter(header(headers, "retry-after"), at);
      if (pause === undefined || pause <= 0) return;
      for (const [name, end] of until) if (end <= at) until.delete(name);
      if (until.size < MAX_BACKOFF_OWNERS || until.has(owner)) until.set(owner, at + Math.min(pause, MAX_BACKOFF_MS));
    },
    isActive: (owner: string): boolean => (until.get(owner) ?? 0) > wall(),
  };
}

interface JobsOptions {
  readonly concurrent: number;
  /** Longest time of a job. It waits for its place at most half as long. */
  readonly ms: number;
  later(ms: number, run: () => void): () => void;
}

type JobOutcome<T> = { readonly value: T } | { readonly failure: ComparisonFailure };

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
