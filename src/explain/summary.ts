/** What is this request, and who serves it, in one sentence? */
import type { Mode } from "../model/exchange.ts";
import { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import type { Router } from "../route/router.ts";
import type { ExplainedCutover } from "./explanation.ts";
import type { Recording } from "./record.ts";
import { reasonOf } from "./rule.ts";

export interface Verdict {
  readonly mode: Mode;
  readonly summary: string;
}

/** What else is known when it is summed up. */
export interface Circumstances {
  /** Why carryover itself answers with an error. */
  readonly refusal: Problem | undefined;
  /** v1 never had such an operation. */
  readonly foreign: boolean;
  /** What the rules say of it. */
  readonly cutover: ExplainedCutover | undefined;
}

export function summaryOf({ exchange, pass, calls }: Recording, { refusal, foreign, cutover }: Circumstances): Verdict {
  const { resource, operation } = exchange;
  const what = nameOf(resource, operation);
  const because = cutover === undefined ? "" : ` (${cutover.mode}: ${reasonOf(cutover)})`;
  if (cutover !== undefined && cutover.mode !== "translate") {
    return { mode: cutover.mode, summary: `${what}: native v1 serves it${because}` };
  }
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
      return { mode: "native", summary: `${what}: ${nativeReason(foreign)} (fallback: native)` };
    default:
      return { mode: "translate", summary: `${what}: translated, ${count(calls.length)} to v2${because}` };
  }
}

function nativeReason(foreign: boolean): string {
  return foreign ? "no operation of v1, handed to native v1 all the same" : "not translated, native v1 serves it";
}

/** Whether the operation is one that is known, and that v1 never had. */
export function isForeign({ exchange }: Recording, resources: readonly Resource[]): boolean {
  const resource = resources.find(({ name }) => name === exchange.resource);
  const operation = resource?.operations.find(({ name }) => name === exchange.operation);
  return operation?.kind === "native" && operation.extension === true;
}

/** What a refused request lacks to be served by native v1. `native`: whether its address is configured. */
export function nativeHints(
  { exchange }: Recording,
  refusal: Problem | undefined,
  foreign: boolean,
  native: boolean,
): readonly string[] {
  if (foreign) return [`${exchange.operation} is no operation of v1: only v2 has this path`];
  if (refusal?.reason !== "NOT_TRANSLATABLE" && refusal?.reason !== "NOT_FOUND") return [];
  return [
    native
      ? "with --fallback native it would go to native v1 as it is"
      : "with --upstream-v1-url (the address of native v1) it would go there as it is",
  ];
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Which methods there are on a path that was asked with another one: who updates a record of v1 looks for PATCH, and it is PUT. */
export function methodHints(refusal: Problem | undefined, target: string, route: Router): readonly string[] {
  if (refusal?.reason !== "METHOD_NOT_ALLOWED") return [];
  const there = METHODS.flatMap((method) => {
    const operation = operationOf(method, target, route);
    return operation === undefined ? [] : [`${method} (${operation})`];
  });
  return there.length === 0 ? [] : [`methods of this path: ${there.join(", ")}`];
}

function operationOf(method: string, target: string, route: Router): string | undefined {
  try {
    const routed = route(method, target);
    if (routed.kind === "match") return routed.match.operation.name;
    return routed.kind === "native" ? routed.operation : undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return undefined;
    throw thrown;
  }
}

function nameOf(resource: string, operation: string): string {
  if (operation === "options") return "OPTIONS of a v1 path";
  return resource === "unknown" ? "no operation of v1 that carryover knows" : `${operation} of ${resource}`;
}

function count(calls: number): string {
  return calls === 1 ? "1 call" : `${calls} calls`;
}
