/** How did one comparison end, and what is told of it? */
import type { Comparison } from "../model/comparison.ts";
import { isWrite } from "./eligible.ts";
import { type Failure, saidFailure } from "./failure.ts";
import type { Ended } from "./jobs.ts";
import type { ShadowAsk } from "./options.ts";
import type { Verdict } from "./verdict.ts";

/** With a verdict, or with a failure. */
export interface Ending {
  readonly verdict: Verdict | undefined;
  readonly failure: Failure | undefined;
  readonly ms: number;
  readonly calls: { readonly v1: number; readonly v2: number };
}

/** One that ended before anything was done for it. */
export function unbegun(failure: Failure): Ending {
  return { verdict: undefined, failure, ms: 0, calls: { v1: 0, v2: 0 } };
}

/** What a job's end means. */
export function endOf(
  outcome: { readonly value: Verdict } | { readonly thrown: unknown } | { readonly ended: Ended },
): Pick<Ending, "verdict" | "failure"> {
  if ("value" in outcome) return { verdict: outcome.value, failure: undefined };
  if ("ended" in outcome) return { verdict: undefined, failure: outcome.ended };
  return { verdict: undefined, failure: saidFailure(outcome.thrown) ?? "internal" };
}

/** `at`: milliseconds since 1970. */
export function comparisonOf(asked: ShadowAsk, served: Comparison["served"], end: Ending, at: number): Comparison {
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
