/** Admission: decided as soon as the head of a request has come, before anything is made for it. */
import { Problem } from "../model/problem.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import type { ListQueue } from "../upstream/list-queue.ts";
import type { Crowd } from "./crowd.ts";

/** Why a request is turned away, as metrics say it: too many are here, or it would wait too long. */
export type ShedReason = "shed-in-flight" | "shed-wait";

export interface AdmissionOptions {
  readonly crowd: Pick<Crowd, "receivedFrom">;
  /** Requests in the process, those that wait included (`limits.inFlight`): the bound of their memory. */
  readonly inFlight: number;
  /** What a request has in all (`limits.requestSeconds`). */
  readonly requestSeconds: number;
  /** The queues of the upstreams that requests may be for. */
  readonly calls: readonly CallQueue[];
  readonly lists: Pick<ListQueue, "usedBy" | "overloaded">;
  /** Streams of gRPC, which may last, by credential. */
  readonly streamsOf?: ((credential: string) => number) | undefined;
  /** Whether the platform has accepted a credential. */
  readonly accepted: (credential: string) => boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** `here`: requests in the process; `credentialOf` is asked for only where it matters. Undefined: let it in. */
export type Admit = (here: number, credentialOf: () => string) => ShedReason | undefined;

/** Beyond this part of the memory there is more than a crowd. */
const PRESSURE = 0.5;
/** What credentials may use that the platform has not accepted: the rest is left to the others. */
const UNACCEPTED_SHARE = 0.75;
/** One credential may hold so many times what is free (dynamic thresholds, Choudhury and Hahne): alone 8/9 of all. */
const CREDENTIAL_SHARE = 8;
/** Longest wait of new requests under overload (as CoDel's target, RFC 8289). */
const TARGET_MS = 100;
/** Overload ends after this time without a refusal. */
const OVERLOAD_MS = 1_000;

/**
 * A crowd waits: it is refused only what would wait beyond its deadline. When half of the memory is in use, and more comes than is
 * done, that is overload: a credential that holds its share of that half is let in only where it would wait for a moment, so that its
 * client is still there when it is served. All else is refused at once, which costs least of all.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { crowd, inFlight, requestSeconds, calls, lists, streamsOf = () => 0, accepted, now } = options;
  const leftMs = requestSeconds * 1_000;
  let overloadedAt = Number.NEGATIVE_INFINITY;
  const refuse = (why: ShedReason, overloaded: boolean): ShedReason => {
    if (overloaded) {
      overloadedAt = now();
      lists.overloaded();
    }
    for (const queue of calls) queue.turnedAway(overloaded);
    return why;
  };
  return (here, credentialOf) => {
    if (here >= inFlight) return refuse("shed-in-flight", true);
    const isPressed = here >= inFlight * PRESSURE;
    const isLong = calls.some((queue) => queue.isLong());
    if (!isPressed && !isLong) return undefined;
    const credential = credentialOf();
    const others = crowd.receivedFrom(credential) + lists.usedBy(credential) + streamsOf(credential);
    const used = calls.reduce((sum, queue) => sum + queue.usedBy(credential), others);
    if (isPressed) {
      const isKnown = accepted(credential);
      const isFull = here >= inFlight * UNACCEPTED_SHARE && !isKnown;
      if (isFull || used > (inFlight - here) * CREDENTIAL_SHARE) return refuse("shed-in-flight", false);
    }
    // Which upstream it is for is not known yet.
    const waits = calls.map((queue) => queue.predictedMs(credential));
    const isOverload = isPressed || now() - overloadedAt < OVERLOAD_MS;
    const sharers = Math.max(...calls.map((queue) => queue.sharers(credential)));
    const hasItsShare = used + 1 > (inFlight * PRESSURE) / sharers;
    if (isLong && isOverload && hasItsShare && Math.max(...waits) > TARGET_MS) return refuse("shed-wait", true);
    return Math.min(...waits) > leftMs ? refuse("shed-wait", false) : undefined;
  };
}

const PROBLEMS: Readonly<Record<ShedReason, Problem>> = {
  "shed-in-flight": new Problem("OVERLOADED", "too many requests at a time", {
    retryAfter: 1,
    options: ["limits.inFlight"],
  }),
  "shed-wait": new Problem("OVERLOADED", "more requests are waiting than can be served in time", {
    retryAfter: 1,
    options: ["upstream.*.connections"],
  }),
};

/** What is said to a request that is turned away for `why`. */
export function shedProblem(why: ShedReason): Problem {
  return PROBLEMS[why];
}
