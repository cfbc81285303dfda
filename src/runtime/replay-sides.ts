/** Native v1 and the translation, as a replay asks them: with the code of `serve`, in the replay's own process. */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { later } from "../model/clock.ts";
import type { ApiResponse, HeaderList, Send } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { OperationMatch } from "../model/request.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import type { ReplayedRequest, ReplayKind, ReplaySides } from "../replay/sides.ts";
import { isV1 } from "../router/router.ts";
import { createAnswerSource, isTrouble } from "../shadow/answers.ts";
import { createByteBudget } from "../shadow/capture.ts";
import { addDifference, comparisonOfDifferences, newFoundDifferences } from "../shadow/differences.ts";
import { ComparisonError, failureOfProblem, runInSteps } from "../shadow/outcome.ts";
import { comparePaired, type PairedComparison, pairedReads } from "../shadow/paired.ts";
import { isComparable } from "../shadow/request.ts";
import { shapeOf } from "../shadow/shape.ts";
import type { Translate } from "../translate/translations.ts";
import { createPageTurns } from "../upstream/list-queue.ts";
import { VERSION } from "../version.ts";
import { createBackgroundTranslation } from "./background-shadow.ts";
import { createToolbox } from "./calls.ts";
import { createDecisions } from "./proxy.ts";
import { createBackgroundUpstreams } from "./upstreams.ts";

export interface ReplaySidesOptions {
  /** Hears of each response of the platform. */
  readonly observe: (response: ApiResponse) => void;
  /** Comparisons at a time. */
  readonly concurrency: number;
  readonly translate?: Translate;
  /** Base URL of a platform that takes the writes, of both versions. Without it none is made. */
  readonly writesTo?: string | undefined;
}

/** A response is compared up to this part of `limits.memoryBytes`, as in shadow. */
const LONGEST_COMPARED = 8;
/** Longest time of three responses, each of which may take `limits.requestSeconds`. */
const RESPONSES = 3;

/** `config` must have a native v1. */
export function createReplaySides(
  config: Config,
  catalogue: Catalogue,
  { observe, concurrency, translate, writesTo }: ReplaySidesOptions,
): ReplaySides {
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) throw new Error("a replay needs native v1");
  const answerBytes = config.limits.memoryBytes / LONGEST_COMPARED;
  const limits = { concurrent: concurrency, answerBytes, memoryBytes: 0, seconds: 0 };
  const decisions = createDecisions(config, catalogue, translate);
  const now = () => performance.now();
  const platformAt = (urls: { readonly v1: string; readonly v2: string }) => {
    const upstreams = createBackgroundUpstreams(
      { v1: { ...v1, url: urls.v1 }, v2: { ...v2, url: urls.v2 } },
      concurrency * config.lists.readers,
      answerBytes,
      {
        renewal: { attach: () => {} },
        queues: new Map(),
        headerBytes: config.limits.responseHeaderBytes,
        now,
        random: Math.random,
      },
    );
    const toolbox = createToolbox(config, upstreams.v2);
    const parts = { limits, native: upstreams.v1, translate: createBackgroundTranslation(decisions, toolbox) };
    return { ...parts, close: upstreams.close };
  };
  const platform = platformAt({ v1: v1.url, v2: v2.url });
  const written = writesTo === undefined ? undefined : platformAt({ v1: writesTo, v2: writesTo });
  // Each comparison is an owner of its own, and may hold two responses of either side.
  const memory = createByteBudget(answerBytes * LONGEST_COMPARED * concurrency);
  const turn = createPageTurns(now);
  let comparisons = 0;

  const kindOf = (method: string, target: string): ReplayKind => {
    if (!isV1(target)) return { kind: "skip", why: "not a v1 path" };
    let route: ReturnType<typeof decisions.route>;
    try {
      route = decisions.route(method, target);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return method === "GET" ? { kind: "refused", problem: error } : { kind: "skip", why: NOT_A_READ };
    }
    if (method !== "GET" && written === undefined) return { kind: "skip", why: NOT_A_READ };
    if (route.kind !== "match") return { kind: "skip", why: "only native v1 has this operation" };
    const { match } = route;
    return isComparable({ match, head: { method, target, headers: [] } })
      ? { kind: method === "GET" ? "read" : "write", match }
      : { kind: "skip", why: notComparable(match) };
  };

  const compareMatch = (match: OperationMatch, request: ReplayedRequest, signal: Signal): Promise<PairedComparison> => {
    const { method, target, token, body: text } = request;
    const write = request.kind.kind === "write";
    const { native, ...options } = (write ? written : undefined) ?? platform;
    const body = new TextEncoder().encode(text ?? "");
    const typed = body.length === 0 ? [] : [["content-type", "application/json"] as const];
    const head = { method, target, headers: [...headersOf(token), ...typed] };
    const reservation = memory.open(String(comparisons++));
    const settings = { sample: 1, control: 1 };
    const asked = { match, head, client: "", rule: undefined, settings, requestId: "", write };
    const calls = { v1: 0, v2: 0 };
    const answers = createAnswerSource({
      asked,
      options: { ...options, native },
      reservation,
      signal,
      calls,
      observe,
    });
    const work = {
      asked,
      answers,
      shape: shapeOf(match, config.shadow.ignore, config.shadow.matchers),
      signal,
      random: Math.random,
      inSteps: <T>(steps: Generator<void, T>) => runInSteps(steps, turn, signal),
    };
    const writes = {
      native: async () => {
        const response = await nativeResponse(native, { ...head, body }, signal);
        observe(response);
        return response;
      },
      translated: () => answers.translated(body, (next) => next),
      write,
    };
    return comparePaired(work, write ? writes : pairedReads(work)).finally(reservation.release);
  };

  const askNative = async (target: string, token: string | undefined, signal: Signal): Promise<number> => {
    const response = await nativeResponse(
      platform.native,
      { method: "GET", target, headers: headersOf(token) },
      signal,
    );
    observe(response);
    return response.status;
  };

  return {
    kindOf,
    compare: (request, signal) =>
      withinTime(RESPONSES * config.limits.requestSeconds * 1000, signal, async (own) => {
        const { kind, target, token } = request;
        if (kind.kind === "refused") return compareRefusal(kind.problem, await askNative(target, token, own));
        return compareMatch(kind.match, request, own);
      }),
    native: askNative,
    close: async () => {
      await Promise.all([platform.close(), written?.close()]);
    },
  };
}

const NOT_A_READ = "not a read (--writes-to)";

function notComparable({ operation }: OperationMatch): string {
  if (operation.kind === "native") return "only native v1 has this operation";
  if (operation.kind === "get" && operation.extension) return "native v1 does not have this operation";
  return "a page token, or a name that native v1 does not have";
}

/** The same credential goes to both versions, as a client's does. */
function headersOf(token: string | undefined): HeaderList {
  return [
    ["accept", "application/json"],
    ["user-agent", `carryover-replay/${VERSION}`],
    ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
  ];
}

async function nativeResponse(send: Send, request: Parameters<Send>[0], signal: Signal): Promise<ApiResponse> {
  const response = await send(request, { signal }).catch((thrown: unknown) => {
    signal.throwIfAborted();
    throw new ComparisonError((thrown instanceof Problem ? failureOfProblem(thrown) : undefined) ?? "native");
  });
  if (isTrouble(response.status)) throw new ComparisonError("native");
  return response;
}

/** carryover refuses the request before it knows the operation. A refusal by native, too, does not count as a difference. */
function compareRefusal(problem: Problem, status: number): PairedComparison {
  const found = newFoundDifferences();
  if (status < 400) {
    const translated = `${problem.http} ${problem.reason}`;
    addDifference(found, { class: "status", path: "status", id: undefined }, String(status), translated);
  }
  return { status, differences: comparisonOfDifferences(found).detail.groups, unstable: [], noise: [] };
}

/** Ends `work` after `ms`, as a comparison that took too long. */
async function withinTime<T>(ms: number, signal: Signal, work: (signal: Signal) => Promise<T>): Promise<T> {
  const own = createSignalController();
  const stop = (): void => own.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", stop, { once: true });
  const cancel = later(ms, () => own.abort(new ComparisonError("timeout")));
  try {
    return await work(own.signal);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}
