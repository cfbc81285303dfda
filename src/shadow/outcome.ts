/** What came out of one comparison, and how is it put together? */
import {
  type ComparedResponses,
  type ComparisonFailure,
  type ComparisonResult,
  DIFFERENCE_CLASSES,
  type Difference,
} from "../model/comparison.ts";
import type { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";

/** A comparison that came to its end. */
export interface ComparisonVerdict extends ComparedResponses {
  /** Native, or carryover, was asked a second time, and what differs between two answers of one side is left out. */
  readonly controlled: boolean;
  /** Whether native differs from itself; undefined when it was not asked twice. */
  readonly noisy: boolean | undefined;
}

/** No place differs. */
export const EQUAL: ComparedResponses = { result: "equal", total: 0, differences: [] };

/** As many as `Compared` holds. */
const MAX_DIFFERENCES = 20;

/** Runs `steps` to their end, with a turn for everybody else after each. Throws the signal's reason. */
export async function runInSteps<T>(steps: Generator<void, T>, turn: () => Promise<void>, signal: Signal): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turn();
    signal.throwIfAborted();
  }
}

/** `compared` and further places where the two differ. */
export function withMore(compared: ComparedResponses, more: readonly Difference[]): ComparedResponses {
  const known = new Set(compared.differences.map(placeOf));
  const fresh = more.filter((difference) => !known.has(placeOf(difference)));
  if (fresh.length === 0) return compared;
  const differences = worstFirst([...compared.differences, ...fresh]).slice(0, MAX_DIFFERENCES);
  return { result: resultOf(differences), total: compared.total + fresh.length, differences };
}

/** `compared` without the places that nothing could have shown right. */
export function withoutPlaces(compared: ComparedResponses, paths: ReadonlySet<string>): ComparedResponses {
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

/** The class of the worst. */
function resultOf(differences: readonly Difference[]): Exclude<ComparisonResult, "failed"> {
  return worstFirst(differences)[0]?.class ?? "equal";
}

const FAILURE = Symbol("failure");

/** An error that ends a comparison. */
export function comparisonError(failure: ComparisonFailure): Error {
  return Object.assign(new Error(`nothing to compare: ${failure}`), { [FAILURE]: failure });
}

/** What `thrown` says when it came from `failing`. */
export function failureIn(thrown: unknown): ComparisonFailure | undefined {
  return thrown instanceof Error && FAILURE in thrown ? (thrown[FAILURE] as ComparisonFailure) : undefined;
}

/** The trouble behind a call that got no answer; undefined for what the translation itself has to answer for. */
export function troubleOf(problem: Problem): ComparisonFailure | undefined {
  if (problem.reason === "UPSTREAM_TIMEOUT") return "timeout";
  const { fault } = problem;
  if (fault === "platform") return "unreachable";
  return fault === "capacity" ? "overloaded" : undefined;
}
