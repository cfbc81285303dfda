/** Why was there nothing to compare? (Design section 7: a failed comparison counts neither way.) */
import type { Problem } from "../model/problem.ts";

/**
 * `busy` no place in time, `memory` no bytes, `too-large` a longer answer than is compared, `timeout` not ready in time, `native`
 * native's own trouble, `platform` v2's, `unreachable` no answer, `overloaded` carryover's own limits, `unreadable` bytes
 * that cannot be decoded, `not-comparable` only doing it would tell (or it is a record of more members than is compared),
 * `gone` the written record is not there any more, `overtaken` somebody has written it since, `refused` neither version let
 * the caller in, `old-http` the client's HTTP/1.0 alone would keep the translated list from it, `internal` a fault of the comparison, `closed` carryover is stopping.
 *
 * `refused` is what keeps strangers out of the evidence. A gateway refuses what it cannot read before it looks at the token,
 * and so does carryover: anybody can send a thousand such requests, whose answers are equal (or not) whatever the
 * translation of a request that is let in would be. They are counted, and prove nothing.
 */
export type Failure =
  | "busy"
  | "memory"
  | "too-large"
  | "timeout"
  | "native"
  | "platform"
  | "unreachable"
  | "overloaded"
  | "unreadable"
  | "not-comparable"
  | "gone"
  | "overtaken"
  | "refused"
  | "old-http"
  | "internal"
  | "closed";

const FAILURE = Symbol("failure");

/** An error that ends a comparison. */
export function failing(failure: Failure): Error {
  return Object.assign(new Error(`nothing to compare: ${failure}`), { [FAILURE]: failure });
}

/** What `thrown` says when it came from `failing`. */
export function saidFailure(thrown: unknown): Failure | undefined {
  return thrown instanceof Error && FAILURE in thrown ? (thrown[FAILURE] as Failure) : undefined;
}

/** The trouble behind a call that got no answer; undefined for what the translation itself has to answer for. */
export function troubleOf(problem: Problem): Failure | undefined {
  if (problem.reason === "UPSTREAM_TIMEOUT") return "timeout";
  const { fault } = problem;
  if (fault === "platform") return "unreachable";
  return fault === "capacity" ? "overloaded" : undefined;
}
