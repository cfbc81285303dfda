import type { Problem } from "./problem.ts";
import type { Signal } from "./signal.ts";

/**
 * Header fields in the order of the wire, repeats as entries of their own. `name` is in lower case; `spelling` is the name as its sender
 * wrote it, where that differs and the field may pass through.
 */
export type HeaderList = readonly HeaderField[];
export type HeaderField = readonly [name: string, value: string, spelling?: string | undefined];

/** One request with its whole body. */
export interface ApiRequest {
  readonly method: string;
  /** Origin form: path and query, percent-encoded as on the wire, beginning with `/`. */
  readonly target: string;
  readonly headers: HeaderList;
  readonly body?: Uint8Array;
}

/** One response with its whole body (an empty array when it has none). */
export interface ApiResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** The pieces of a long body, produced on demand: a slow reader delays the next one. */
export type BodyStream = AsyncIterable<Uint8Array>;

/**
 * An answer on its way to a client: with its whole body, or with the pieces of a long list. Then its head goes out before
 * the last piece is known, and a rejection of the stream must break the connection: what came must not be taken for whole.
 * Ending the iteration early (`return`) stops what makes the pieces.
 */
export interface ClientResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | BodyStream;
  /** Records of a long list, as far as totals tell before it is read. */
  readonly expected?: number | undefined;
}

/** On whose behalf calls are made. */
export interface Caller {
  /** Whose share of the upstream they take: a keyed digest, never the token; empty for anonymous callers. */
  readonly credential: string;
  /** When the request came, and when its time is over, in milliseconds of the upstream's clock. */
  readonly since: number;
  readonly deadline: number;
  /** The request has made a call before, and should finish. */
  begun(): boolean;
  /** True once the whole response is held elsewhere: a call that waited for memory might wait for this request itself. */
  holdsResponse?(): boolean;
  /** Memory for the responses, from the first call that may have to wait for some. */
  held?: HeldResponses | undefined;
  /** Hears of each call that is over, `ms` after it came; without a response it failed, or the request was given up. */
  ended(request: ApiRequest, response: ApiResponse | undefined, ms: number): void;
}

/** The calls of one request that may wait for memory. */
export interface HeldResponses {
  /** Waits until there is room for the response, as far as its size can be known, and goes on to `next`. */
  call(next: Send, request: ApiRequest, options: SendOptions): Promise<ApiResponse>;
  /** From the next turn of the event loop, the responses so far are not needed any more, or held elsewhere. */
  done(): void;
}

/** What travels beside a request: when to stop, and for whom it is. */
export interface SendOptions {
  /** Aborts when the client has left or the deadline has passed. */
  readonly signal: Signal;
  /** Nobody in particular when absent. */
  readonly caller?: Caller | undefined;
  /** It was refused before, and goes before other pages of its list. */
  readonly again?: boolean;
  /** Asked once the length of a response is known, or while one grows: false gives it up, and the call rejects with `NoRoom`. */
  readonly room?: ((bytes: number) => boolean) | undefined;
}

/** A response has so many bytes, for which there is no room at present: its call may be made again later. */
export class ResponseBufferFull extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super("no room for the response");
    this.name = "NoRoom";
    this.bytes = bytes;
  }
}

/**
 * The one port: one request in, one response out, bodies whole and bounded.
 * Resolves for every HTTP answer, whatever its status. Rejects with a `Problem` when there is no answer,
 * and with the signal's reason when the caller gave up.
 * Does not retry, follow redirects or interpret the answer.
 */
export type Send = (request: ApiRequest, options: SendOptions) => Promise<ApiResponse>;

/** Something that turns one Send into another: retry, budget, faults. */
export type SendLayer = (next: Send) => Send;

/** Wraps `send` in `layers`; the FIRST layer is outermost: a request meets them in the order of the list. */
export function compose(layers: readonly SendLayer[], send: Send): Send {
  return layers.reduceRight((next, layer) => layer(next), send);
}

/** The path of a request target: everything before its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** The first value of header `name` (lower case), or undefined. */
export function header(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers) if (key === name) return value;
  return undefined;
}

/** The only value of header `name` (lower case), or undefined when there is none or more than one. */
export function onlyValue(headers: HeaderList, name: string): string | undefined {
  let only: string | undefined;
  for (const [key, value] of headers) {
    if (key !== name) continue;
    if (only !== undefined) return undefined;
    only = value;
  }
  return only;
}

/** The values of all fields called `name` (lower case), in order. */
export function headerValues(headers: HeaderList, name: string): string[] {
  const values: string[] = [];
  for (const [key, value] of headers) if (key === name) values.push(value);
  return values;
}

/** `headers` without the fields called `names` (lower case); a list of its own, to which more may be added. */
export function withoutHeaders(headers: HeaderList, names: ReadonlySet<string>): HeaderField[] {
  return headers.filter(([name]) => !names.has(name));
}

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
  /** The brownout that refused a request: its rule and window. */
  BROWNOUT: "carryover-brownout",
} as const;

/** The mode of a read that native v1 served after v2 had failed it. */
export const AFTER_V2 = "native; after=v2";

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

/** Headers that let a client change the method on some servers without the proxy noticing. */
export const METHOD_OVERRIDES: readonly string[] = ["x-http-method", "x-http-method-override", "x-method-override"];

/** Before the name of gRPC metadata that travels as a field of HTTP, as grpc-gateway reads and writes it. */
export const METADATA_PREFIX = "grpc-metadata-";

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

/** Headers as Node gives them (name, value, name, value); `spelled`: they may pass through, and keep the spelling of their names. */
export function readHeaders(flat: readonly string[], spelled: boolean): HeaderField[] {
  const list: HeaderField[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const spelling = flat[i] ?? "";
    const name = spelling.toLowerCase();
    const value = flat[i + 1] ?? "";
    list.push(spelled && name !== spelling ? [name, value, spelling] : [name, value]);
  }
  return list;
}

/** `field` with another value. */
export function withValue([name, , spelling]: HeaderField, value: string): HeaderField {
  return spelling === undefined ? [name, value] : [name, value, spelling];
}

/** Headers as Node and undici take them (name, value, name, value), each name as its sender spelled it. */
export function writeHeaders(list: HeaderList): string[] {
  const flat: string[] = [];
  for (const [name, value, spelling] of list) flat.push(spelling ?? name, value);
  return flat;
}

/** A `Retry-After` as milliseconds from `now`; a past date is 0, anything that is neither seconds nor a date undefined. */
export function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Only the form that begins with a day's name: Date.parse would take "-1" and much more for a date.
  const date = /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** One request as it goes on the wire. */
export interface StreamRequest {
  readonly method: string;
  /** Origin form; not parsed, not normalised. */
  readonly target: string;
  /** Nothing that belongs to one connection, no Host. */
  readonly headers: HeaderList;
  readonly body: NodeJS.ReadableStream | undefined;
  /** Whose share of the upstream it takes (a keyed digest), when it came, and when its time is over; nobody's share when absent. */
  readonly from?: { readonly credential: string; readonly since: number; readonly deadline: number } | undefined;
}

/** Who takes the answer: `head` once, then `data`, then `end`; `fail` ends it at any time. */
export interface StreamSink {
  /** `headers` is the sink's own, to change. */
  head(status: number, statusText: string, headers: HeaderField[]): void;
  /** False: no more until `resume` is called. */
  data(chunk: Uint8Array): boolean;
  end(): void;
  fail(problem: Problem): void;
}

/** A call under way. */
export interface StreamCall {
  resume(): void;
  /** Stops the call; nothing more is written to the sink. */
  cancel(): void;
}

/** One request out, its answer into the sink as it comes. Never throws. */
export type StreamSend = (request: StreamRequest, sink: StreamSink) => StreamCall;
