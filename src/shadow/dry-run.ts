/** How does a write get its answer when nothing may be written? (Design section 7: a write in shadow is not sent twice.) */

import type { ComparisonFailure } from "../model/comparison.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type HeaderList,
  type Send,
  type SendLayer,
  type SendOptions,
  withoutHeaders,
} from "../model/http.ts";
import { isUid } from "../model/uid.ts";
import { comparisonError } from "./outcome.ts";

/** A write that was built and not sent, and what it was answered with. */
export interface InterceptedWrite {
  readonly request: ApiRequest;
  /** What v2 holds where the write would have gone. */
  readonly stored: ApiResponse;
}

export interface DryRunOptions {
  /** v2's spelling of the parent or record in the request's path; empty without one. */
  readonly uidPath: string;
  /** The uid that native gave the record it made; undefined when its answer names none. */
  readonly made: string | undefined;
  /** `refuse`: native did not do it either, so that there is nothing to be read. */
  readonly mode: "answer" | "refuse";
  /** Why an answer is not to be parsed whole; undefined when it may be. */
  bulk(body: Uint8Array): Promise<ComparisonFailure | undefined>;
}

export interface DryRun {
  /** Reads go through to v2; anything else ends here, whatever it is. */
  readonly layer: SendLayer;
  readonly intercepted: readonly InterceptedWrite[];
  /** Why a write could not be answered: it counts whatever the translation made of it. */
  failure(): ComparisonFailure | undefined;
  /** A DELETE was built, and v2 still holds the record. */
  stillThere(): boolean;
  /** v2 has answered something: what it holds may have had a part in the outcome. */
  answered(): boolean;
}

const EMPTY_OBJECT = Buffer.from("{}");
const JSON_TYPE: HeaderList = [["content-type", "application/json"]];

/**
 * Answers a PATCH with what a GET of its path gives now, a POST on a collection with the record of it that native made, a
 * DELETE with `{}`. Where no read gives an answer, or one of more than is parsed, the translation ends, and `failure` says why.
 */
export function createDryRun(input: DryRunOptions): DryRun {
  const caught: InterceptedWrite[] = [];
  const state: { failure: ComparisonFailure | undefined; there: boolean; answered: boolean } = {
    failure: undefined,
    there: false,
    answered: false,
  };
  const give = (failure: ComparisonFailure): never => {
    state.failure ??= failure;
    throw comparisonError(failure);
  };
  const get = async (request: ApiRequest, next: Send, sending: SendOptions): Promise<ApiResponse> => {
    const answer = await next(request, sending);
    state.answered = true;
    const refused = await input.bulk(answer.body);
    return refused === undefined ? answer : give(refused);
  };
  const read = async (target: string, request: ApiRequest, next: Send, sending: SendOptions): Promise<ApiResponse> => {
    const headers = withoutHeaders(request.headers, WRITE_HEADERS);
    const stored = await get({ method: "GET", target, headers }, next, sending);
    caught.push({ request, stored });
    return stored;
  };
  const layer: SendLayer = (next) => async (request, sending) => {
    if (request.method === "GET" || request.method === "HEAD") return get(request, next, sending);
    const target = input.mode === "refuse" ? undefined : readTargetOf(request, input);
    if (target === undefined) return give("not-comparable");
    const held = await read(target, request, next, sending);
    if (request.method === "DELETE" && (held.status === 404 || held.status === 200)) {
      state.there = held.status === 200;
      return { status: 200, headers: JSON_TYPE, body: EMPTY_OBJECT };
    }
    return held.status === 200 ? held : give(failureOf(held.status));
  };
  return {
    layer,
    intercepted: caught,
    failure: () => state.failure,
    stillThere: () => state.there,
    answered: () => state.answered,
  };
}

/** They speak of a body that a read does not have, or of the record before it was written. */
const WRITE_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
]);

/** Where the record is to be read that `request` writes; undefined when no read gives it. */
function readTargetOf({ method, target }: ApiRequest, { uidPath, made }: DryRunOptions): string | undefined {
  const query = target.indexOf("?");
  const path = query < 0 ? target : target.slice(0, query);
  if (method === "PATCH" || method === "DELETE") return path;
  if (method !== "POST" || made === undefined || !isUid(made)) return undefined;
  // `{collection}/{parent}`, or the collection alone. A verb has no such end.
  const parent = uidPath === "" ? "" : `/${uidPath}`;
  if (!path.endsWith(parent)) return undefined;
  const collection = path.slice(0, path.length - parent.length);
  return /^(?:\/[A-Za-z0-9_-]+){3}$/.test(collection) ? `${collection}/${made}` : undefined;
}

/** v2 did not show the record. */
function failureOf(status: number): ComparisonFailure {
  if (status === 404) return "gone";
  return status >= 500 || status === 429 ? "platform" : "not-comparable";
}
