/** Notes on requests, and guards for those that watch them pass. */
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Exchange } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import type { PassThroughObserver } from "../model/request.ts";

/** Tells `callers` how the platform answered the calls of a request so far. What is no resource may be open to anybody. */
export function recordCredential(
  { exchange, credential }: { readonly exchange: Exchange; readonly credential: string },
  callers: CredentialShares,
): void {
  if (exchange.resource === "unknown" || exchange.apiVersion === "sts") return;
  for (const { status } of exchange.calls) callers.answered(credential, status);
}

/** Notes in the exchange that carryover itself answers. */
export function recordProblem(exchange: Exchange, problem: Problem): void {
  exchange.reason = problem.reason;
  exchange.fault = problem.fault;
  exchange.options = problem.options;
  exchange.cause = problem.cause;
}

/** `watch`, called once at the end. An error that it throws ends the watching and nothing else. */
export function guardWatch(watch: PassThroughObserver, failed: (error: unknown) => void): PassThroughObserver {
  let watching = true;
  const tell = (what: () => void): void => {
    if (!watching) return;
    try {
      what();
    } catch (error) {
      watching = false;
      failed(error);
    }
  };
  return {
    sent: (chunk) => tell(() => watch.sent(chunk)),
    head: (status, headers) => tell(() => watch.head(status, headers)),
    data: (chunk) => tell(() => watch.data(chunk)),
    over: (whole) =>
      tell(() => {
        watching = false;
        watch.over(whole);
      }),
  };
}
