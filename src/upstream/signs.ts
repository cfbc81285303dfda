/** What does the outcome of one call say about whether its upstream answers at all? */
import type { Problem } from "../model/problem.ts";
import type { Breaker } from "./breaker.ts";
import { neverLeft } from "./failure.ts";
import { flatHeader } from "./headers.ts";

/** One call that was let out. */
export interface Begun {
  readonly target: string;
  /** As `Breaker.begin` said. */
  readonly beganAt: number;
}

/** What gateways say in the place of what stands behind them. */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * The head of an answer. An error in JSON was written by the platform, which is there, whatever one of its services lacks
 * for this caller; a gateway's own comes as a page or as plain text.
 */
export function tellAnswer(breaker: Breaker, call: Begun, status: number, headers: readonly string[]): void {
  if (GATEWAY.has(status) && !isJson(flatHeader(headers, "content-type"))) {
    breaker.failed(call.beganAt, placeOf(call.target));
  } else breaker.answered();
}

/** No head came. What is no HTTP says nothing either way. */
export function tellFailure(breaker: Breaker, call: Begun, problem: Problem): void {
  if (problem.reason !== "UPSTREAM_UNREACHABLE" && problem.reason !== "UPSTREAM_TIMEOUT") return;
  breaker.failed(call.beganAt, neverLeft(problem) ? undefined : placeOf(call.target));
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/(?:json|[\w.-]+\+json)\b/i.test(type);
}

/** As far as the name of a resource: `/iam/v2beta1/groups`. One of them may hang while all others answer. */
function placeOf(target: string): string {
  return target.split("?", 1)[0]?.split("/", 4).join("/") ?? "";
}
