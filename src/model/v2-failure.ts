/** How v2 failed a client, in a way that native v1 might not have. */
import { type Exchange, usualFault } from "./exchange.ts";
import { PROBLEMS } from "./problem.ts";

/** `unavailable`: 5xx, refused and broken connections, an open breaker, what cannot be translated; `limited`: 429. */
export const FAILURE_KINDS = ["unavailable", "timeout", "unauthenticated", "forbidden", "limited"] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

const OF_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, "unauthenticated"],
  [403, "forbidden"],
  [429, "limited"],
  [504, "timeout"],
]);

/** Undefined for a success, and for what native would have refused as well: an error of the client, or a limit of carryover's own. */
export function failureOf(status: number): FailureKind | undefined {
  return OF_STATUS.get(status) ?? (status >= 500 && status !== 501 ? "unavailable" : undefined);
}

type FinishedExchange = Pick<Exchange, "status" | "reason" | "fault" | "rescued">;

/**
 * The failure of a finished translated request. An error of carryover's own says whose fault it is, also when the body of a response
 * broke off. A read that native v1 served instead is a failure of v2 all the same.
 */
export function failureOfExchange({ status, reason, fault, rescued }: FinishedExchange): FailureKind | undefined {
  if (rescued !== undefined) return failureOf(rescued);
  if (reason === undefined) return failureOf(status);
  const origin = fault ?? usualFault(reason);
  if (origin === "capacity" || origin === "client") return undefined;
  return failureOf(
    (PROBLEMS as Readonly<Record<string, { readonly http: number } | undefined>>)[reason]?.http ?? status,
  );
}
