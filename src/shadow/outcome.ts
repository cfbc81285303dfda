/** The result of one comparison, or the reason why there is none. */
import {
  type ComparedResponses,
  type ComparisonFailure,
  type ComparisonResult,
  DIFFERENCE_CLASSES,
  type Difference,
} from "../model/comparison.ts";
import type { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { MAX_DIFFERENCES } from "./differences.ts";

/** A comparison with a result. */
export interface ComparisonVerdict extends ComparedResponses {
  /** Native, or carryover, was requested a second time, and what differs between two responses of one side is left out. */
  readonly controlled: boolean;
  /** Whether native differs from itself; undefined when it was not requested twice. */
  readonly noisy: boolean | undefined;
}

/** Runs `steps` to their end, with a turn of the event loop after each. Throws the signal's reason. */
export async function runInSteps<T>(steps: Generator<void, T>, turn: () => Promise<void>, signal: Signal): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turn();
    signal.throwIfAborted();
  }
}

/** `compared` and further differences. */
export function withMore(compared: ComparedResponses, more: readonly Difference[]): ComparedResponses {
  const known = new Set(compared.differences.map(placeOf));
  const fresh = more.filter((difference) => !known.has(placeOf(difference)));
  if (fresh.length === 0) return compared;
  const differences = worstFirst([...compared.differences, ...fresh]).slice(0, MAX_DIFFERENCES);
  return { result: resultOf(differences), total: compared.total + fresh.length, differences };
}

/** `compared` without the differences at `paths`. */
export function withoutPaths(compared: ComparedResponses, paths: ReadonlySet<string>): ComparedResponses {
  const differences = compared.differences.filter(({ path }) => !paths.has(path));
  const gone = compared.differences.length - differences.length;
  if (gone === 0) return compared;
  return { result: resultOf(differences), total: Math.max(differences.length, compared.total - gone), differences };
}

function placeOf({ class: name, path }: Difference): string {
  return `${name} ${path}`;
}

function worstFirst(differences: readonly Difference[]): Difference[] {
  return differences.toSorted((a, b) => DIFFERENCE_CLASSES.indexOf(a.class) - DIFFERENCE_CLASSES.indexOf(b.class));
}

function resultOf(differences: readonly Difference[]): Exclude<ComparisonResult, "failed"> {
  return worstFirst(differences)[0]?.class ?? "equal";
}

/** Ends a comparison without a result. */
export class ComparisonError extends Error {
  readonly failure: ComparisonFailure;
  /** What the translation said in place of a response: `503`, `502 UPSTREAM_INVALID`. Undefined where it is not the cause. */
  readonly translated: string | undefined;

  constructor(failure: ComparisonFailure, translated?: string) {
    super(`nothing to compare: ${failure}`);
    this.name = "ComparisonError";
    this.failure = failure;
    this.translated = translated;
  }
}

/** The cause of a call without a response; undefined for what the translation is responsible for. */
export function failureOfProblem({ reason, fault }: Problem): ComparisonFailure | undefined {
  if (reason === "UPSTREAM_TIMEOUT") return "timeout";
  if (fault === "platform") return "unreachable";
  return fault === "capacity" ? "overloaded" : undefined;
}
