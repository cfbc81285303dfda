/** Whose fault is it that a client did not get what it asked for? (The log says so, and rules go back to native by it.) */
import type { Exchange } from "./exchange.ts";
import { type Fault, PROBLEMS } from "./problem.ts";

/** Note of an exchange: v2 refused what only carryover can have said. */
export const OWN_WORDS_REFUSED = "own-words-refused";

const USUAL: ReadonlyMap<string, Fault> = new Map(
  Object.entries(PROBLEMS).map(([reason, { fault }]) => [reason, fault]),
);

/**
 * Undefined when nothing went wrong. An error of carryover's own says it itself. Of what an upstream answered, a 5xx is the
 * platform's fault, and a 4xx the client's, unless v2 refused words that only the translation can have put there.
 */
export function faultOf({ reason, fault, status, notes }: Exchange): Fault | undefined {
  const own = fault ?? usualFault(reason);
  if (own !== undefined) return own;
  if (status === 400 && notes.includes(OWN_WORDS_REFUSED)) return "translation";
  if (status >= 500) return "platform";
  return status >= 400 ? "client" : undefined;
}

/** Whose fault errors of carryover's own with this reason usually are. */
export function usualFault(reason: string | undefined): Fault | undefined {
  return reason === undefined ? undefined : USUAL.get(reason);
}
