/** Which requests ask for exactly the same list? */
import type { HeaderList } from "../model/message.ts";
import type { RequestHead } from "../model/plan.ts";
import { type Credential, keyedDigest } from "./credential.ts";

export interface KeyOptions {
  /** Of this process only. */
  readonly secret: Uint8Array;
  /** Origin of the upstream that lists come from: fixed configuration. */
  readonly origin: string;
  /** Changes whenever the same v2 answer would be shown differently. */
  readonly ruleVersion: string;
}

/** Of the form of a key: other forms never meet. */
const FORM = 1;

/** Fields that say how a request came here, not what it asks: they differ between requests for the same list. */
const NEUTRAL: ReadonlySet<string> = new Set([
  "accept-encoding",
  "baggage",
  "traceparent",
  "tracestate",
  "user-agent",
  "via",
  "x-forwarded-for",
  "x-request-id",
]);

/** Fields that have a place of their own in the key. */
const PLACED: ReadonlySet<string> = new Set(["accept", "accept-language", "authorization"]);

/**
 * The key of a GET by `credential`: structured, never joined, so that no value can reach into its neighbour's place. Any
 * further field may be one that the platform looks at (a cookie is even a credential), so all of them take part, digested.
 */
export function keyOf(head: RequestHead, credential: Credential, options: KeyOptions): string {
  const mark = head.target.indexOf("?");
  const path = mark < 0 ? head.target : head.target.slice(0, mark);
  const others = head.headers.filter(([name]) => !NEUTRAL.has(name) && !PLACED.has(name));
  return JSON.stringify([
    FORM,
    credential.digest,
    head.method,
    options.origin,
    path,
    mark < 0 ? [] : sortedQuery(head.target.slice(mark + 1)),
    valuesOf(head.headers, "accept"),
    valuesOf(head.headers, "accept-language"),
    others.length === 0 ? "" : keyedDigest(JSON.stringify(others), options.secret),
    options.ruleVersion,
  ]);
}

/**
 * True when the value of field `name` (lower case) is the same in all requests with one key. `accept-encoding` is: whatever
 * the client says, upstreams are asked for identity.
 */
export function isInKey(name: string): boolean {
  return name === "accept-encoding" || !NEUTRAL.has(name);
}

/**
 * True when the client wants an answer of its own (RFC 9111 section 5.2.1): whatever it says of caching, none is shared.
 */
export function wantsOwn(headers: HeaderList): boolean {
  return headers.some(([name]) => name === "cache-control" || name === "pragma");
}

/** Parameters by name; those of one name stay in their order, which may mean something. Nothing is decoded. */
function sortedQuery(query: string): string[] {
  const named = query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => [pair.split("=", 1)[0] ?? "", pair] as const);
  return named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, pair]) => pair);
}

/** The values of all fields called `name` (lower case), in order. */
export function valuesOf(headers: HeaderList, name: string): string[] {
  return headers.filter(([key]) => key === name).map(([, value]) => value);
}
