import type { Comparison, ComparisonFailure } from "../model/comparison.ts";
import { type ApiResponse, type ClientResponse, header, retryAfter } from "../model/http.ts";
import type { PassThroughObserver } from "../model/request.ts";
import { createAnswerSource, isTrouble } from "./answers.ts";
import {
  type ByteReservation,
  type CaptureFailure,
  captureResponse,
  createByteBudget,
  createExchangeCapture,
} from "./capture.ts";
import { createJobs } from "./jobs.ts";
import { type ComparisonVerdict, runInSteps } from "./outcome.ts";
import { type ComparisonWork, compareFollowed, compareShadowed } from "./reads.ts";
import { type ComparisonRequest, isComparable, isWrite, type ShadowOptions } from "./request.ts";
import { createSamples } from "./samples.ts";
import { shapeOf } from "./shape.ts";
import { type ComparisonStatisticsRow, createComparisonStatistics } from "./statistics.ts";
import { compareWritten } from "./writes.ts";

export interface Shadow {
  /** For a request that native serves; undefined when it is not compared. */
  watch(asked: ComparisonRequest): PassThroughObserver | undefined;
  /** For a read that was translated: `answer` for the client, equal byte by byte. */
  follow(asked: ComparisonRequest, answer: ClientResponse): ClientResponse;
  state(): ShadowState;
  bounds(): readonly ComparisonStatisticsRow[];
  /** The view `/samples`. */
  samples(query: URLSearchParams): unknown;
  /** Ends all comparisons, and reports nothing more. */
  close(): Promise<void>;
}

export interface ShadowState {
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  readonly sampleChars: number;
  /** Comparisons of clients without a row of their own in `bounds`. */
  readonly unlisted: number;
  /** Sampled requests that are not reported. `busy`: no place, or an upstream that asked for a pause. */
  readonly passed: Readonly<Record<"aborted" | "busy" | "unauthenticated" | "status", number>>;
}

/** A sampled request, and the bytes held for it. It ends as one report, or counted in `ShadowState.passed`. */
interface SampledRequest {
  readonly asked: ComparisonRequest;
  /** Whose share it takes. */
  readonly owner: string;
  readonly held: ByteReservation;
  readonly served: Comparison["served"];
}

/** With a verdict or with a failure. */
interface ComparisonOutcome {
  readonly verdict?: ComparisonVerdict;
  readonly failure?: ComparisonFailure;
  readonly ms: number;
  readonly calls: Comparison["calls"];
}

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
  const statistics = createComparisonStatistics();
  const samples = createSamples(options.samples);
  const passed = { aborted: 0, busy: 0, unauthenticated: 0, status: 0 };
  let closed = false;

  const isSampled = (asked: ComparisonRequest): boolean =>
    !closed && asked.settings.sample > 0 && isComparable(asked) && random() < asked.settings.sample;
  const finish = ({ asked, served, held }: SampledRequest, outcome: ComparisonOutcome): void => {
    held.release();
    if (closed) return;
    try {
      const comparison = comparisonOf(asked, served, outcome, wall());
      statistics.add(comparison, outcome.verdict?.noisy);
      samples.add(comparison, asked);
      report(comparison, asked.head);
    } catch {
      // No error may reach the callers: the stream of a client's response, and timers.
    }
  };
  const fail = (sampled: SampledRequest, failure: ComparisonFailure): void =>
    finish(sampled, { failure, ms: 0, calls: { v1: 0, v2: 0 } });
  const pass = (sampled: SampledRequest, why: keyof typeof passed): void => {
    sampled.held.release();
    passed[why] += 1;
  };
  /** `status`: of the response, where it is known already. */
  const open = (
    asked: ComparisonRequest,
    served: SampledRequest["served"],
    status?: number,
  ): SampledRequest | undefined => {
    const owner = status === UNAUTHENTICATED ? STRANGERS : ownerOf(asked);
    if (jobs.hasRoom(owner) && !backoff.isActive(owner)) return { asked, served, owner, held: memory.open(owner) };
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
  const submit = (sampled: SampledRequest, compare: (work: ComparisonWork) => Promise<ComparisonVerdict>): void => {
    const { asked, owner, held } = sampled;
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
          answers: createAnswerSource({ asked, options, held, signal, calls, observe }),
          shape: shapeOf(asked.match),
          signal,
          random,
          inSteps: (steps) => runInSteps(steps, turn, signal),
        });
      },
      done: (outcome) => {
        const ended = { ms: now() - startedAt, calls: { ...calls } };
        finish(sampled, "value" in outcome ? { verdict: outcome.value, ...ended } : { ...outcome, ...ended });
      },
    });
  };
  return {
    watch(asked) {
      const sampled = isSampled(asked) ? open(asked, "shadow") : undefined;
      if (sampled === undefined) return undefined;
      return createExchangeCapture({
        held: sampled.held,
        answerBytes,
        over(captured) {
          if (typeof captured === "string") drop(sampled, captured);
          else if (accepts(sampled, captured.answer.status)) {
            submit(sampled, (work) =>
              isWrite(asked) ? compareWritten(work, captured) : compareShadowed(work, captured),
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
          held: sampled.held,
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
      sampleChars: samples.size(),
      unlisted: statistics.unlisted(),
      passed: { ...passed },
    }),
    bounds: statistics.rows,
    samples: samples.view,
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
  { verdict, failure, ms, calls }: ComparisonOutcome,
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
