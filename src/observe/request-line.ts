/** Which facts of a request belong into its log line? (Never a token, a page token or a value of a query.) */
import type { Exchange, UpstreamCall } from "../model/exchange.ts";
import { distinctFields, shownName } from "./field-names.ts";
import { causeText, scrub, scrubPath, stackText } from "./scrub.ts";

const MAX_NAMES = 20;
const MAX_KINDS = 12;

/** The line's members; what a request has nothing of is left out. `durationMs` is milliseconds. */
export function requestLine(exchange: Exchange, durationMs: number): Readonly<Record<string, unknown>> {
  const line: Record<string, unknown> = {
    msg: "request",
    requestId: scrub(exchange.requestId),
    method: exchange.method.slice(0, 20),
    path: scrubPath(exchange.path),
    apiVersion: exchange.apiVersion,
    resource: exchange.resource,
    operation: exchange.operation,
    mode: exchange.mode,
    status: exchange.status,
    durationMs: round(durationMs),
    upstreamMs: round(exchange.upstreamMs),
    requestBytes: exchange.requestBytes,
    responseBytes: exchange.responseBytes,
  };
  if (exchange.reason !== undefined) line["reason"] = exchange.reason;
  if (exchange.aborted) line["aborted"] = true;
  if (exchange.calls.length > 0) line["calls"] = callsOf(exchange.calls);
  if (exchange.list !== undefined) line["list"] = exchange.list;
  if (exchange.unknownFields.length > 0) {
    line["unknownFields"] = names(distinctFields(exchange).map(({ direction, name }) => `${direction} ${name}`));
  }
  if (exchange.defaultedFields.length > 0) line["defaultedFields"] = names(exchange.defaultedFields);
  if (exchange.mismatches.length > 0) line["mismatches"] = names(exchange.mismatches);
  if (exchange.notes.length > 0) line["notes"] = names(exchange.notes);
  if (exchange.cause !== undefined) {
    line["cause"] = causeText(exchange.cause);
    const stack = exchange.reason === "INTERNAL" ? stackText(exchange.cause) : undefined;
    if (stack !== undefined) line["stack"] = stack;
  }
  return line;
}

/** How many calls of each kind: `{"v2 GET 200": 51, "v2 GET 503": 1}`. */
function callsOf(calls: readonly UpstreamCall[]): Readonly<Record<string, number>> {
  const [first] = calls;
  if (first !== undefined && calls.length === 1) return { [kindOf(first)]: 1 };
  const kinds = new Map<string, number>();
  for (const call of calls) {
    const kind = kindOf(call);
    const key = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : "other";
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
  }
  return Object.fromEntries(kinds);
}

function kindOf({ upstream, method, status }: UpstreamCall): string {
  return `${upstream} ${method} ${status === 0 ? "no answer" : status}`;
}

/** Each name once, short, printable and scrubbed; how many were left out is said at the end. */
function names(all: readonly string[]): readonly string[] {
  const distinct = [...new Set(all)];
  const shown = distinct.slice(0, MAX_NAMES).map(shownName);
  return distinct.length > MAX_NAMES ? [...shown, `and ${distinct.length - MAX_NAMES} more`] : shown;
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
