/** Does a call that failed say that its upstream answers nobody? */
import type { Problem } from "../model/problem.ts";
import type { Breaker } from "./breaker.ts";

/** No head came. What came and is no HTTP says nothing either way. */
export function tellFailure(breaker: Breaker, beganAt: number, problem: Problem): void {
  if (problem.reason === "UPSTREAM_UNREACHABLE" || problem.reason === "UPSTREAM_TIMEOUT") breaker.failed(beganAt);
}
