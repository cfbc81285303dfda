/** What is this request, and who serves it, in one sentence? */
import type { Mode } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import type { Recording } from "./record.ts";

export interface Verdict {
  readonly mode: Mode;
  readonly summary: string;
}

/** `refusal`: why carryover itself answers with an error. */
export function summaryOf({ exchange, pass, calls }: Recording, refusal: Problem | undefined): Verdict {
  const { resource, operation } = exchange;
  const what = nameOf(resource, operation);
  if (refusal !== undefined) {
    const known = resource === "unknown" ? "" : `${what}: `;
    return { mode: "refused", summary: `${known}refused by carryover, nothing reaches the platform` };
  }
  switch (pass?.upstream) {
    case "v2":
      return { mode: "pass", summary: "a v2 request: passes through untouched" };
    case "sts":
      return { mode: "pass", summary: "token exchange: passes through unread" };
    case "v1":
      return { mode: "native", summary: `${what}: v2 has no counterpart, native v1 serves it (fallback: native)` };
    default:
      return { mode: "translate", summary: `${what}: translated, ${count(calls.length)} to v2` };
  }
}

function nameOf(resource: string, operation: string): string {
  if (operation === "options") return "OPTIONS of a v1 path";
  return resource === "unknown" ? "no operation of v1 that carryover knows" : `${operation} of ${resource}`;
}

function count(calls: number): string {
  return calls === 1 ? "1 call" : `${calls} calls`;
}
