/** Whose credential came with a request, so that a caller under many names is still one? (Design section 7: step back.) */
import { readClaims } from "../ledger/claims.ts";
import { credentialFields } from "../ledger/means.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderList, header } from "../model/message.ts";
import type { Decide } from "../model/plan.ts";
import { credentialOf, keyedDigest } from "../share/credential.ts";

/** What stands for whoever sent `headers`: a keyed digest, to be counted and never to be shown. */
export type CallerOf = (headers: HeaderList) => string;

/** All who send no credential are one caller. */
export const NO_CREDENTIAL = "";

/**
 * Goes by the subject of a token that names one, so that a fresh token is no further caller; by any other Authorization as
 * it is; without one by the first field of `identify` (`clients.identify`) that carries a credential. Claims are not verified
 * here: what is counted was let in by the platform, and whoever writes a token of his own is not.
 */
export function createCallerOf(identify: readonly string[], secret: Uint8Array): CallerOf {
  const fields = credentialFields(identify);
  const digest = (...parts: readonly string[]): string => keyedDigest(JSON.stringify(parts), secret);
  return (headers) => {
    const claims = readClaims(headers);
    const [issuer = "", subject = ""] = [claims?.("iss"), claims?.("sub")];
    if (issuer !== "" && subject !== "") return digest("subject", issuer, subject);
    const bearer = credentialOf(headers, secret);
    if (bearer !== undefined) return bearer.digest;
    for (const name of ["authorization", ...fields]) {
      const value = header(headers, name) ?? "";
      if (value !== "") return digest(name, value);
    }
    return NO_CREDENTIAL;
  };
}

/** Who sent which request that a rule had translated. */
export interface Callers {
  /** Outermost of all. */
  decide(next: Decide): Decide;
  /** Worked out when it is asked for; undefined for any other request. */
  of(exchange: Exchange): string | undefined;
}

/** Remembers a request only as long as somebody else does. */
export function createCallers(callerOf: CallerOf): Callers {
  const heads = new WeakMap<Exchange, HeaderList>();
  return {
    decide: (next) => (head, exchange) => {
      try {
        return next(head, exchange);
      } finally {
        if (exchange.rule !== undefined && exchange.mode === "translate") heads.set(exchange, head.headers);
      }
    },
    of: (exchange) => {
      const headers = heads.get(exchange);
      return headers && callerOf(headers);
    },
  };
}

/** Who sent what is being compared: comparisons know requests by their ids. */
export interface ComparedCallers {
  /** A comparison of the request with these headers is under way. */
  note(headers: HeaderList): void;
  /** Of the comparison of that request, once; undefined when nobody knows. */
  take(requestId: string): string | undefined;
}

/** Far more than there are comparisons under way; those that end without a report leave theirs. */
const MOST = 1_000;

export function createComparedCallers(callerOf: CallerOf): ComparedCallers {
  const callers = new Map<string, string | undefined>();
  return {
    note(headers) {
      const id = header(headers, "x-request-id") ?? "";
      const caller = callerOf(headers);
      // Clients choose their ids. Two callers under one at a time: nobody knows which of them it is.
      const isShared = callers.has(id) && callers.get(id) !== caller;
      callers.delete(id);
      callers.set(id, isShared ? undefined : caller);
      const [oldest] = callers.keys();
      if (callers.size > MOST && oldest !== undefined) callers.delete(oldest);
    },
    take(requestId) {
      const caller = callers.get(requestId);
      callers.delete(requestId);
      return caller;
    },
  };
}
