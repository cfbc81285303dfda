/** What does HTTP itself say that more than one part has to know: our own headers, those of a connection, safe methods, Retry-After? */
import type { HeaderList } from "./message.ts";

/** The headers by which carryover tells clients what it did. */
export const OurHeader = {
  /** Who served a v1 request. */
  MODE: "carryover-mode",
  /** What is proved of a list, and of how many pages and records it was made. */
  LIST: "carryover-list",
  /** v1 names of fields that are not as the client asked. */
  MISMATCH: "carryover-mismatch",
  /** What was written before a further write was refused. */
  PARTIAL: "carryover-partial",
} as const;

/** Headers that speak of one connection only (RFC 9110 section 7.6.1, and what old agents send). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that make a request hang on the representation that the client has. */
export const CONDITIONS: readonly string[] = [
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
];

/** Headers by which some servers let a client change the method behind a proxy's back. */
export const METHOD_OVERRIDES: readonly string[] = ["x-http-method", "x-http-method-override", "x-method-override"];

/** A request that changes nothing, by its method (RFC 9110 section 9.2.1). */
export function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** The names that values of `Connection` list, in lower case: these headers belong to the connection as well. */
export function namedByConnection(values: readonly string[]): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const value of values) {
    const lower = value.toLowerCase();
    if (lower === "keep-alive" || lower === "close") continue;
    names ??= new Set();
    for (const name of lower.split(",")) names.add(name.trim());
  }
  return names ?? NONE;
}
const NONE: ReadonlySet<string> = new Set();

/** Headers as the wire has them, flat (name, value, name, value), as pairs with lower-case names. */
export function toHeaderList(flat: readonly string[]): HeaderList {
  const list: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) list.push([(flat[i] ?? "").toLowerCase(), flat[i + 1] ?? ""]);
  return list;
}

/** A `Retry-After` as milliseconds from `now`; a past date is 0, anything that is neither seconds nor a date undefined. */
export function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Only the form that begins with a day's name: Date.parse would take "-1" and much more for a date.
  const date = /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
