/** Does a request enter the ledger? (Design section 8: only of callers whom the platform let in.) */
import type { Exchange, UpstreamCall } from "../model/exchange.ts";

/**
 * True for v1 and v2 requests that the platform answered, and not with 401. Names come from the request, so whoever has no
 * credential must not fill the ledger: nothing enters that carryover refused itself before the platform saw it, that
 * nobody answered, or that needs no credential (OPTIONS). An answer without any call (a shared list) was made for the same
 * credential a moment ago.
 */
export function isEntered(exchange: Exchange): boolean {
  const { apiVersion, mode, method, status, calls, reason, aborted } = exchange;
  if (apiVersion !== "v1" && apiVersion !== "v2") return false;
  if (mode === "refused" || method === "OPTIONS" || status === UNAUTHENTICATED) return false;
  return calls.length > 0 ? calls.some(letIn) : reason === undefined && !aborted && status !== 0;
}

const UNAUTHENTICATED = 401;

function letIn({ status }: UpstreamCall): boolean {
  return status !== 0 && status !== UNAUTHENTICATED;
}
