/** What does a request or a response look like between the parts? */

import type { Signal } from "./signal.ts";

/** Header fields in the order of the wire: lower-case names, repeats kept as entries of their own. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

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

/** The pieces of a long body, made while they are asked for: whoever is slow to take one delays the next. */
export type BodyStream = AsyncIterable<Uint8Array>;

/**
 * An answer on its way to a client: with its whole body, or with the pieces of a long list. Then its head goes out before
 * the last piece is known, and a rejection of the stream must break the connection: what came must not be taken for whole.
 * Ending the iteration early (`return`) stops what makes the pieces.
 */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | BodyStream;
}

/** `answer` with its body whole; undefined while its body comes in pieces. */
export function wholeAnswer(answer: Answer): ApiResponse | undefined {
  const { body } = answer;
  return body instanceof Uint8Array ? { ...answer, body } : undefined;
}

/** What travels beside a request: when to stop. */
export interface SendOptions {
  /** Aborts when the client has left or the deadline has passed. */
  readonly signal: Signal;
  /** Asked once the length of a response is known, or while one grows: false gives it up, and the call rejects with `NoRoom`. */
  readonly room?: ((bytes: number) => boolean) | undefined;
}

/** A response has so many bytes, for which there is no room at present: its call may be made again later. */
export class NoRoom extends Error {
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

/** The first value of header `name` (lower case), or undefined. */
export function header(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers) if (key === name) return value;
  return undefined;
}

/** `headers` without the fields called `names` (lower case); a list of its own, to which more may be added. */
export function withoutHeaders(headers: HeaderList, names: ReadonlySet<string>): HeaderList[number][] {
  return headers.filter(([name]) => !names.has(name));
}
