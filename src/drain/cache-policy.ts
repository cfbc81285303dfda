/** Which requests ask for exactly the same list? */
import { type ApiResponse, type ClientResponse, type HeaderList, headerValues, OurHeader } from "../model/http.ts";
import type { RequestHead } from "../model/request.ts";
import { type Credential, keyedDigest } from "../upstream/credentials.ts";

export interface ListKeyOptions {
  /** Of this process only. */
  readonly secret: Uint8Array;
  /** Origin of the upstream that lists come from: fixed configuration. */
  readonly origin: string;
  /** Changes whenever the same v2 answer would be shown differently. */
  readonly ruleVersion: string;
}

/** Of the form of a key: other forms never meet. */
const KEY_VERSION = 1;

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
export function listKeyOf(head: RequestHead, credential: Credential, options: ListKeyOptions): string {
  const mark = head.target.indexOf("?");
  const path = mark < 0 ? head.target : head.target.slice(0, mark);
  const others = head.headers.flatMap(([name, value]) =>
    NEUTRAL.has(name) || PLACED.has(name) ? [] : [[name, value]],
  );
  return JSON.stringify([
    KEY_VERSION,
    credential.digest,
    head.method,
    options.origin,
    path,
    mark < 0 ? [] : sortedQuery(head.target.slice(mark + 1)),
    headerValues(head.headers, "accept"),
    headerValues(head.headers, "accept-language"),
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

/** May an answer be given to others than the one it was made for, and what do they see of it? */

/** An answer that equal requests of the same credential may have. */
export interface SharedResponse {
  readonly answer: ApiResponse;
  /** When its making began, in milliseconds of the monotonic clock: everything in it is younger. */
  readonly began: number;
  /** How long the platform lets it be used from then on, in milliseconds; may be Infinity. */
  readonly freshMs: number;
  /** How old it already was when it came, in seconds. */
  readonly age: number;
}

/** What a list says of itself that is whole and proved (design section 10, `carryover-list`). */
const PROVED = /^witness=(?:cover|count); pages=\d+; records=\d+$/;

/** Fields that tell of one exchange, not of the list: never given to another. */
const OF_ONE_EXCHANGE: ReadonlySet<string> = new Set([
  "age",
  "retry-after",
  "server-timing",
  "traceparent",
  "traceresponse",
  "tracestate",
  "x-correlation-id",
  "x-request-id",
]);
const RATE_LIMIT = /^(?:x-)?ratelimit/;

/**
 * What of `answer` others may have, its making having begun at `began`. Undefined for anything but a whole list, proved by
 * us, that the platform lets be kept: no error, no stream, no cookie, nothing unproved (design: sharing work).
 */
export function sharedResponseOf(answer: ClientResponse, began: number): SharedResponse | undefined {
  const { status, headers, body } = answer;
  if (status !== 200 || !(body instanceof Uint8Array)) return undefined;
  const proofs = headerValues(headers, OurHeader.LIST);
  if (proofs.length !== 1 || !PROVED.test(proofs[0] ?? "")) return undefined;
  if (headers.some(([name]) => name === "set-cookie")) return undefined;
  if (!tokensOf(headers, "vary").every((name) => name !== "*" && isInKey(name))) return undefined;
  const age = headers.some(([name]) => name === "age") ? secondsOf(headerValues(headers, "age")[0], Infinity) : 0;
  const freshSeconds = lifetimeOf(headers) - age;
  // Infinity less Infinity is no number, and not more than 0 either.
  if (!(freshSeconds > 0)) return undefined;
  const kept = headers.filter(([name]) => !OF_ONE_EXCHANGE.has(name) && !RATE_LIMIT.test(name));
  return { answer: { status, headers: kept, body }, began, freshMs: freshSeconds * 1000, age };
}

/** `copy` as an answer at `now`, with how old it is (RFC 9111 section 5.1), in whole seconds. */
export function responseOf({ answer, began, age }: SharedResponse, now: number): ApiResponse {
  const seconds = Math.ceil(age + (now - began) / 1000);
  return { ...answer, headers: [...answer.headers, ["age", String(seconds)]] };
}

/** Seconds for which the platform lets an answer be used without asking again; 0: not at all; Infinity: it does not say. */
function lifetimeOf(headers: HeaderList): number {
  let seconds = expiryOf(headers);
  for (const directive of tokensOf(headers, "cache-control")) {
    const [name = "", value] = directive.split("=", 2);
    if (name === "no-store" || name === "no-cache") return 0;
    if (name === "max-age" || name === "s-maxage") seconds = Math.min(seconds, secondsOf(value, 0));
  }
  return seconds;
}

/** The same by `Expires`: what is no date, or is not told from which date on, has expired (RFC 9111 section 5.3). */
function expiryOf(headers: HeaderList): number {
  const [expires] = headerValues(headers, "expires");
  if (expires === undefined) return Infinity;
  const seconds = (Date.parse(expires) - Date.parse(headerValues(headers, "date")[0] ?? "")) / 1000;
  return Number.isNaN(seconds) ? 0 : seconds;
}

/** `otherwise` for what is no number of seconds: stale is the safe reading (RFC 9111 section 4.2.1). */
function secondsOf(value: string | undefined, otherwise: number): number {
  const digits = /^"?(\d{1,10})"?$/.exec(value ?? "")?.[1];
  return digits === undefined ? otherwise : Number(digits);
}

function tokensOf(headers: HeaderList, name: string): string[] {
  return headerValues(headers, name)
    .flatMap((value) => value.split(","))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== "");
}
