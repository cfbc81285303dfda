/** `onFailure: native`: a read that v2 fails is served by native v1 in the same request. */
import { discard } from "../edge/body-portions.ts";
import type { Timer } from "../model/clock.ts";
import type { ClientResponse } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { RequestContext, ResponsePlan } from "../model/request.ts";
import type { OnFailureSettings } from "../model/rules.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import { failureOf } from "../model/v2-failure.ts";
import type { NativeReads } from "./native-reads.ts";

export interface OnFailureParts {
  readonly reads: Pick<NativeReads, "respond">;
  /** Milliseconds on the clock of the requests' deadlines. */
  readonly now: () => number;
  readonly later: Timer;
}

/**
 * `plan` with at most half of the time that is left for v2, so that native has the other half. Native is asked before the first byte only, and
 * once. The exchange keeps what v2 did. Where native fails too, the client gets v2's failure.
 */
export function withNativeOnFailure(
  plan: ResponsePlan,
  request: RequestContext,
  { statuses }: OnFailureSettings,
  parts: OnFailureParts,
): ResponsePlan {
  const isFailure = (status: number): boolean =>
    failureOf(status) !== undefined && (status >= 500 || statuses.includes(status));
  return {
    ...plan,
    async respond(body, signal) {
      const failure = await attempt(plan, body, signal, request, parts);
      const isOwn = failure instanceof Problem;
      const status = isOwn ? failure.http : failure.status;
      // v2 is not to blame for an invalid request or for carryover's own limits.
      const isForNative = isFailure(status) && !(isOwn && (failure.fault === "client" || failure.fault === "capacity"));
      const native = isForNative ? await askNative(request, signal, parts) : undefined;
      if (native !== undefined) {
        if (!isOwn) discard(failure.body);
        noteFailure(request, failure, status);
        return native;
      }
      if (isOwn) throw failure;
      return failure;
    },
  };
}

/** v2's response, or what it was that came in its place. Rejects with what is no `Problem`. */
async function attempt(
  plan: ResponsePlan,
  body: Uint8Array,
  signal: Signal,
  { deadline, exchange }: RequestContext,
  { now, later }: OnFailureParts,
): Promise<ClientResponse | Problem> {
  signal.throwIfAborted();
  const half = createSignalController();
  const left = () => half.abort(signal.reason);
  signal.addEventListener("abort", left, { once: true });
  exchange.giveUpV2 = () => half.abort(new Problem("UPSTREAM_TIMEOUT", SLOW));
  const cancel = deadline === undefined ? () => {} : later(Math.max(0, (deadline - now()) / 2), exchange.giveUpV2);
  try {
    return await plan.respond(body, half.signal);
  } catch (error) {
    signal.throwIfAborted();
    return Problem.from(error);
  } finally {
    // Half of the time is for the head of the response; its body has all of it.
    exchange.giveUpV2 = undefined;
    cancel();
  }
}

const SLOW = "v2 did not respond in time, and native v1 failed as well";

async function askNative(
  request: RequestContext,
  signal: Signal,
  { reads }: OnFailureParts,
): Promise<ClientResponse | undefined> {
  const { exchange } = request;
  exchange.native = "failed";
  try {
    const response = await reads.respond(request, signal);
    if (failureOf(response.status) === undefined) {
      exchange.native = "served";
      return response;
    }
    discard(response.body);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Problem && error.fault === "capacity") exchange.native = "unknown";
  }
  return undefined;
}

/** What v2 did stays in the record of the request, whatever the client got. */
function noteFailure({ exchange }: RequestContext, failure: ClientResponse | Problem, status: number): void {
  exchange.rescued = status;
  exchange.fault = "platform";
  if (!(failure instanceof Problem)) return;
  exchange.reason = failure.reason;
  exchange.fault = failure.fault;
  exchange.cause = failure.cause;
}
