/** Does a request enter the ledger? (Design section 8: only of callers whom the platform let in.) */
import { type Exchange, wasLetIn } from "../model/exchange.ts";

/** `known`: it counts for a client that has a place, and makes no entry by itself. */
export type Entrance = "yes" | "known" | "no";

/**
 * Names come from the request, so whoever has no credential must not fill the ledger. Only a v1 or v2 request that shows its
 * caller to have been let in makes an entry; what platforms also answer to strangers (400, 404, …) counts for clients that are
 * known. Nothing enters that carryover refused itself before the platform saw it, that was answered with 401 or not at all,
 * or that needs no credential (OPTIONS). An answer without any call (a shared list) was made for the same credential a moment
 * ago.
 */
export function entranceOf(exchange: Exchange): Entrance {
  const { apiVersion, mode, method, status, calls, reason, aborted } = exchange;
  if (apiVersion !== "v1" && apiVersion !== "v2") return "no";
  if (mode === "refused" || method === "OPTIONS" || status === UNAUTHENTICATED) return "no";
  if (calls.length === 0) return reason === undefined && !aborted && status !== 0 ? "yes" : "no";
  if (wasLetIn(exchange)) return "yes";
  return calls.some((call) => call.status !== 0 && call.status !== UNAUTHENTICATED) ? "known" : "no";
}

const UNAUTHENTICATED = 401;
