/** Which facts of a request belong into its log line? (Never a token, a page token or a value of a query.) */
import type { Exchange, UpstreamCall } from "../model/exchange.ts";
import { faultOf } from "../model/fault.ts";
import { distinctFields, shownName } from "./field-names.ts";
import { causeText, scrub, scrubPath, stackText } from "./scrub.ts";

const MAX_NAMES = 20;
const MAX_KINDS = 12;

/** The reason, in the log only, of an error that is the platform's own. */
const UPSTREAM_ERROR = "UPSTREAM_ERROR";

/** Texts that JSON writes as they are. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * The line's members as JSON text, without braces; what a request has nothing of is left out. `durationMs` is milliseconds.
 * Spelled out, at a third of the price of an object that is made to be written: every request pays for this.
 */
export function requestMembers(exchange: Exchange, durationMs: number): string {
  const { requestId, method, path, apiVersion, resource, operation, mode, status, upstreamMs } = exchange;
  const always =
    `"msg":"request","requestId":${text(scrub(requestId))},"method":${text(method.slice(0, 20))},` +
    `"path":${text(scrubPath(path))},"apiVersion":"${apiVersion}","resource":${text(resource)},` +
    `"operation":${text(operation)},"mode":"${mode}","status":${status},"durationMs":${round(durationMs)},` +
    `"upstreamMs":${round(upstreamMs)},"requestBytes":${exchange.requestBytes},"responseBytes":${exchange.responseBytes}`;
  const calls = exchange.calls.length > 0 ? `,"calls":${callsText(exchange.calls)}` : "";
  return always + calls + rareMembers(exchange);
}

function text(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** What most requests have nothing of. */
function rareMembers(exchange: Exchange): string {
  const { reason, client, rule, list, unknownFields, cause } = exchange;
  let members = "";
  const add = (name: string, value: unknown): void => {
    members += `,"${name}":${JSON.stringify(value)}`;
  };
  if (client !== "unknown") add("client", shownName(client));
  if (rule !== undefined) add("rule", rule);
  const fault = faultOf(exchange);
  if (reason !== undefined) add("reason", reason);
  else if (fault === "platform") add("reason", UPSTREAM_ERROR);
  if (fault !== undefined) add("fault", fault);
  if (exchange.times !== undefined) add("times", exchange.times);
  if (exchange.aborted) add("aborted", true);
  if (list !== undefined) add("list", list);
  if (unknownFields.length > 0) {
    add("unknownFields", names(distinctFields(exchange).map(({ direction, name }) => `${direction} ${name}`)));
  }
  if (exchange.defaultedFields.length > 0) add("defaultedFields", names(exchange.defaultedFields));
  if (exchange.mismatches.length > 0) add("mismatches", names(exchange.mismatches));
  if (exchange.notes.length > 0) add("notes", names(exchange.notes));
  if (cause !== undefined) {
    add("cause", causeText(cause));
    const stack = reason === "INTERNAL" ? stackText(cause) : undefined;
    if (stack !== undefined) add("stack", stack);
  }
  return members;
}

/** How many calls of each kind: `{"v2 GET 200":51,"v2 GET 503":1}`. */
function callsText(calls: readonly UpstreamCall[]): string {
  const [first] = calls;
  if (first !== undefined && calls.length === 1) return `{${text(kindOf(first))}:1}`;
  const kinds = new Map<string, number>();
  for (const call of calls) {
    const kind = kindOf(call);
    const key = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : "other";
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
  }
  return JSON.stringify(Object.fromEntries(kinds));
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
